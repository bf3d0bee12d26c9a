"""Runs: what ran, with which prompt and model, what did it take, and what came back?"""

import os

import streamlit as st

from crane_core.pipeline.check import execution_allowed
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data
from crane_core.ui.frame import page
from crane_core.ui.runs.listed import ADDRESS, draw_list
from crane_core.ui.runs.one_run import draw_run
from crane_core.ui.runs.starting import draw_starting

with page():
    table = data.run_list()
    asked = {name: st.query_params.get(query) for name, query in ADDRESS.items()}
    chosen = table[(table[list(asked)] == list(asked.values())).all(axis=1)]
    if not chosen.empty:
        draw_run(data.store(), as_rows(chosen)[0])
    else:
        st.title("Runs")
        draw_starting(may_run=execution_allowed(os.environ))
        draw_list(table)
