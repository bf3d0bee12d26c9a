"""Runs: what ran, with which prompt and model, what did it take, and what came back?"""

import os

import streamlit as st

from crane_core.domain import Listed
from crane_core.pipeline.own_notebooks.check import execution_allowed
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys
from crane_core.ui.frame import page
from crane_core.ui.headline import draw_headline
from crane_core.ui.inventory_view import draw_removed
from crane_core.ui.runs.address import ADDRESS, asked_find, key_of
from crane_core.ui.runs.compared import (
    compared_runs,
    draw_compared,
    draw_compared_instance,
    read_old_comparison,
)
from crane_core.ui.runs.compared import draw_list as draw_compared_list
from crane_core.ui.runs.listed import draw_judges, draw_list
from crane_core.ui.runs.names import condition_words
from crane_core.ui.runs.one_instance import (
    ShownRun,
    draw_instance,
    list_of_run,
)
from crane_core.ui.runs.one_run import draw_run
from crane_core.ui.runs.starting import draw_start_button, draw_starting
from crane_core.ui.runs.votes import runs_sentence
from crane_core.ui.words import literal

with page():
    table = data.run_list()
    read_old_comparison(table)
    asked = {
        name: st.query_params.get(query) for name, query in ADDRESS.items()
    }
    chosen = as_rows(
        table[(table[list(asked)] == list(asked.values())).all(axis=1)]
    )
    instance = st.query_params.get(keys.INSTANCE)
    compared = compared_runs(table)
    has_list = keys.RUN_OTHER in st.query_params
    if compared and len(compared.ids) > 1 and instance:
        draw_compared_instance(compared, instance)
    elif compared and len(compared.ids) > 1 and has_list:
        draw_compared_list(compared)
    elif compared:
        draw_compared(table, compared)
    elif chosen and instance:
        run = ShownRun(key_of(chosen[0]), condition_words(chosen[0]))
        within = list_of_run(run.key, instance)
        draw_instance([run], instance, within, find=asked_find())
    elif chosen:
        draw_run(chosen[0])
    else:
        with st.container(
            horizontal=True, vertical_alignment="center", key="titled_runs"
        ):
            draw_headline(runs_sentence(table), tab="Runs")
            draw_start_button()
        named = [*asked.values(), st.query_params.get(keys.RUN_BASELINE)]
        if named := [value[:80] for value in named if value]:
            st.warning(
                literal(
                    f"No run matches {', '.join(named)}. These runs are loaded."
                )
            )
        draw_starting(may_run=execution_allowed(os.environ))
        draw_list(table)
        draw_judges(data.judge_jobs())
        draw_removed(Listed.RUN)
