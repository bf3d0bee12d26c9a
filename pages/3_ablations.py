"""Ablations: which category of runtime state matters, and does API documentation help?"""

import streamlit as st

from crane_core.ui import keys
from crane_core.ui.ablation_view import RATES, draw_ablation, draw_token_cost
from crane_core.ui.frame import page
from crane_core.ui.study_view import draw_table, tables
from crane_core.ui.url_state import one_of

with page():
    st.title("Ablations")
    known = tables()
    rate = str(one_of(st.segmented_control, "Rate", RATES, key=keys.RATE, default=RATES[0], required=True))
    st.subheader("One category of runtime state left out", anchor="categories")
    st.markdown("S is structure (shapes, sizes, counts), R representation and types, V values and object state.")
    draw_ablation(known["4a"], name="ablation_categories", rate=rate)
    draw_table(known["4a"])
    st.subheader("API documentation added", anchor="documentation")
    draw_ablation(known["4b"], name="ablation_documentation", rate=rate)
    draw_table(known["4b"])
    st.subheader("What the documentation costs in tokens", anchor="tokens")
    draw_token_cost(known["5"])
    draw_table(known["5"])
