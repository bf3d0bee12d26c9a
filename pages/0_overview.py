"""Overview: what is here, what is the answer of the study, and where to go next?"""

import streamlit as st

from crane_core.ui.frame import page
from crane_core.ui.overview_view import draw_answer, draw_loaded, draw_ways

with page():
    st.title("Will the next cell crash?")
    st.markdown(
        "Before a notebook cell runs, a detector reads the cells that ran, the cell that is next, and what the live "
        "kernel holds: structure (S), representation (R) and values (V). Crane Workbench holds such predictions for "
        "notebooks that crash and for their fixed versions, and measures them."
    )
    draw_answer()
    draw_loaded()
    draw_ways()
