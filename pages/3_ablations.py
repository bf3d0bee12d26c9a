"""Ablations: which category of runtime state matters, does API documentation help, and what does it cost?"""

import streamlit as st

from crane_core.ui import keys
from crane_core.ui.ablation_switches import draw_ablation_switches
from crane_core.ui.ablation_view import draw_paper
from crane_core.ui.drops_view import (
    ablation_title,
    draw_basis,
    draw_drops,
    draw_drops_by,
)
from crane_core.ui.frame import page
from crane_core.ui.headline import draw_headline, name_part
from crane_core.ui.pareto_view import cost_title, draw_pareto
from crane_core.ui.url_state import one_tab

SECTIONS = {
    "Parts of the input": draw_drops,
    "Kinds of crash": draw_drops_by,
    "Cost": draw_pareto,
    "Paper's tables": draw_paper,
}

with page():
    head = st.container(key=keys.HEAD)  # its height stands, see style.css
    chosen = draw_ablation_switches()
    shown = [
        one for one in SECTIONS if chosen.source or one != "Kinds of crash"
    ]
    name, tab = one_tab(shown, key=keys.PART)
    with head:
        # The title of what it costs is another answer than that of the other parts.
        said = cost_title(chosen) if name == "Cost" else None
        draw_headline(said or ablation_title(chosen), tab="Ablations")
        draw_basis(chosen)
    name_part(name, shown, "Ablations")
    with tab:
        SECTIONS[name](chosen)
