"""Ablations: which category of runtime state matters, does API documentation help, and what does it cost?"""

import streamlit as st

from crane_core.ui.ablation_switches import draw_ablation_switches
from crane_core.ui.ablation_view import draw_ablation, draw_token_cost
from crane_core.ui.drops_view import draw_drops, draw_drops_by
from crane_core.ui.frame import page
from crane_core.ui.pareto_view import draw_pareto
from crane_core.ui.study_view import draw_table, tables

with page():
    st.title("Ablations")
    known = tables()
    chosen = draw_ablation_switches()
    st.subheader("What does each part of the input add?", anchor="drops")
    st.markdown("S is structure (shapes, sizes, counts), R representation and types, V values and object state.")
    draw_drops(chosen, [known["4a"], known["4b"]])
    if chosen.source:
        st.subheader("Where does it matter?", anchor="groups")
        draw_drops_by(chosen)
    st.subheader("What does it cost?", anchor="cost")
    draw_pareto(chosen)

    st.subheader("One category of runtime state left out, as the paper has it", anchor="categories")
    draw_ablation(known["4a"], name="ablation_categories", rate=chosen.rate)
    draw_table(known["4a"])
    st.subheader("API documentation added", anchor="documentation")
    draw_ablation(known["4b"], name="ablation_documentation", rate=chosen.rate)
    draw_table(known["4b"])
    st.subheader("What the documentation costs in tokens", anchor="tokens")
    draw_token_cost(known["5"])
    draw_table(known["5"])
