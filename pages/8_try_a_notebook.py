"""Try a notebook: will its next cell crash, and why?"""

import os

import streamlit as st

from crane_core.pipeline.check import ALLOWED, execution_allowed
from crane_core.ui.frame import page, told
from crane_core.ui.trial.asking_view import draw_asking
from crane_core.ui.trial.choice import draw_choice
from crane_core.ui.trial.desk import draw_desk

with page():
    st.title("Try a notebook")
    may_run = execution_allowed(os.environ)
    if not may_run:
        st.caption(
            f"This server reads notebooks and does not run them; whoever starts it allows that with `{ALLOWED}=1`. "
            "What the kernel holds can be told all the same: upload the state that `python -m crane_core capture` "
            "wrote with the notebook, or ask `python -m crane_core check` where the notebook is."
        )
    with told():
        chosen = draw_choice(may_run=may_run)
        if chosen is None:
            st.caption("The rules read it at once. Nothing is run, and nothing leaves this server, until you say so.")
        else:
            checked = draw_desk(chosen, may_run=may_run)
            draw_asking(checked)
