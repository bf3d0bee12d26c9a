"""Runs: what ran, with which prompt and model, what did it take, and what came back?"""

import os

import streamlit as st

from crane_core.domain import Listed
from crane_core.pipeline.own_notebooks.check import execution_allowed
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys
from crane_core.ui.frame import page
from crane_core.ui.inventory_view import draw_removed
from crane_core.ui.runs.address import ADDRESS, key_of
from crane_core.ui.runs.listed import draw_judges, draw_list
from crane_core.ui.runs.one_instance import draw_instance
from crane_core.ui.runs.one_run import draw_run
from crane_core.ui.runs.starting import draw_starting
from crane_core.ui.words import literal

with page():
    table = data.run_list()
    asked = {
        name: st.query_params.get(query) for name, query in ADDRESS.items()
    }
    chosen = as_rows(
        table[(table[list(asked)] == list(asked.values())).all(axis=1)]
    )
    instance = st.query_params.get(keys.INSTANCE)
    if chosen and instance:
        draw_instance(
            str(chosen[0]["detector_title"]), key_of(chosen[0]), instance
        )
    elif chosen:
        draw_run(chosen[0])
    else:
        st.title("Runs")
        if named := [value[:80] for value in asked.values() if value]:
            st.warning(
                literal(
                    f"No run matches {', '.join(named)}. These runs are loaded."
                )
            )
        draw_starting(may_run=execution_allowed(os.environ))
        draw_list(table)
        draw_judges(data.judge_jobs())
        draw_removed(Listed.RUN)
