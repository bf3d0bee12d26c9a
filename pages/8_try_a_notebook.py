"""Try a notebook: will its next cell crash, and why?"""

import os

import streamlit as st

from crane_core.identity.visitor import Role
from crane_core.pipeline.own_notebooks.check import ALLOWED, execution_allowed
from crane_core.ui import keys
from crane_core.ui.frame import page
from crane_core.ui.headline import name_tab
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.trial.asking import draw_asking
from crane_core.ui.trial.choice import UPLOAD, draw_choice
from crane_core.ui.trial.desk import draw_desk
from crane_core.ui.trial.verdict_view import answer
from crane_core.ui.visit import may

NOTHING_YET = "Try a notebook"

with page():
    heading = st.empty()
    # The last answer until there is a new one: without it everything below would jump.
    heading.title(st.session_state.get(keys.TRY_ANSWER, NOTHING_YET))
    told = NOTHING_YET
    is_admin = may(Role.ADMIN)
    may_run = is_admin and execution_allowed(os.environ)
    with refusals_shown():
        chosen = draw_choice(may_upload=is_admin, may_run=may_run)
        if (
            is_admin
            and not may_run
            and st.query_params.get(keys.TRY_WAY) == UPLOAD
        ):
            st.caption(
                f"This server reads notebooks and does not run them; its operator can allow it with `{ALLOWED}=1`. To "
                "add kernel state, upload the file that `python -m crane_core capture` wrote with the notebook, or "
                "run `python -m crane_core check` on the machine of the notebook."
            )
        if chosen is None:
            st.caption(
                "The rules check it immediately. Nothing is run, and nothing leaves this server, without your click."
            )
        else:
            checked, said = draw_desk(chosen, may_run=may_run)
            told = answer(checked, said)
            if is_admin:
                draw_asking(checked)
    if not is_admin:
        st.caption(
            "Your own notebooks, running them, and asking a model need the role admin."
        )
    heading.title(told)
    if pair := st.query_params.get(keys.TRY_SHIPPED):
        name_tab(f"{pair[:60]} · {NOTHING_YET}")
    st.session_state[keys.TRY_ANSWER] = told
