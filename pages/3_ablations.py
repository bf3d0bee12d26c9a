"""Ablations: which category of runtime state matters, and does API documentation help?"""

import streamlit as st

from crane_core.ui.ablation_view import draw_ablation, draw_token_cost
from crane_core.ui.frame import page
from crane_core.ui.study_view import draw_table, tables

with page():
    st.title("Ablations")
    known = tables()
    st.subheader("One category of runtime state left out", anchor="categories")
    draw_ablation(known["4a"], name="ablation_categories")
    draw_table(known["4a"])
    st.subheader("API documentation added", anchor="documentation")
    draw_ablation(known["4b"], name="ablation_documentation")
    draw_table(known["4b"])
    st.subheader("What the documentation costs in tokens", anchor="tokens")
    draw_token_cost(known["5"])
    draw_table(known["5"])
