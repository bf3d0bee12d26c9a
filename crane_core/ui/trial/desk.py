"""One notebook on the desk: what the rules say, running it up to the target, its cells beside its state."""

import json
import re

import streamlit as st

from crane_core.detectors.registry import Prediction
from crane_core.pipeline.own_notebooks import check
from crane_core.ui.state_facts import Numbers
from crane_core.ui.state_tree import state_html
from crane_core.ui.trial import verdict_view
from crane_core.ui.trial.cells_html import cells_html
from crane_core.ui.trial.fix_view import draw_fixes
from crane_core.ui.trial.running import draw_bar, run_of

_NAME = re.compile(r"[^\W\d]\w*")


def draw_desk(
    chosen: check.CheckedNotebook, *, may_run: bool
) -> tuple[check.CheckedNotebook, Prediction]:
    """Everything about a notebook but the model; the notebook with its state if there is one now, and the verdict."""
    running = run_of(chosen)
    checked = (
        running.outcome
        if running is not None
        and isinstance(running.outcome, check.CheckedNotebook)
        else chosen
    )
    said = check.verdict(checked)
    # What was predicted stands beside what happened.
    with st.container(key="pair_of_verdicts"):
        verdict_view.draw_rules(checked, said)
        if checked.rehearsal is not None:
            st.html(verdict_view.rehearsal_html(checked.rehearsal))
    draw_fixes(checked)
    draw_bar(chosen, running, may_run=may_run and not chosen.is_attached)
    st.html(bench_html(checked, said))
    return checked, said


def bench_html(checked: check.CheckedNotebook, said: Prediction) -> str:
    """The cells with the crash line marked, the state beside them; names that the evidence mentions are open."""
    state = _state_html(checked, said)
    css = "cw-bench cw-one cw-with-state" if state else "cw-bench"
    return f'<div class="{css}"><div>{cells_html(checked.cells, verdict_view.crash_line(said))}</div>{state}</div>'


def _state_html(checked: check.CheckedNotebook, said: Prediction) -> str:
    if checked.state is None:
        return ""
    indices = [
        cell.notebook_index
        for cell in checked.cells
        if cell.notebook_index is not None
    ]
    numbers: Numbers = {index: str(index) for index in indices}
    text = json.dumps(checked.state.to_json())
    found = check.findings(said)
    told = [
        str(finding[name])
        for finding in found
        for name in ("expression", "fact", "message")
    ]
    tree = state_html(
        text,
        text,
        (numbers, numbers),
        opened=frozenset(_NAME.findall(" ".join(told))),
        crash_line=str(found[0]["code_line"]) if found else "",
    )
    head = '<b>Runtime state</b> <span class="cw-dim">before the target cell</span>'
    return f'<div class="cw-state-column"><div class="cw-state-head">{head}</div>{tree}</div>'
