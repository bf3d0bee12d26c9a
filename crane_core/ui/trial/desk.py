"""One notebook on the desk: running it up to the target, its cells beside its state, what the rules say."""

from __future__ import annotations

import json

import streamlit as st

from crane_core.errors import CraneError
from crane_core.pipeline.check import Checked, verdict
from crane_core.ui import keys
from crane_core.ui.state_facts import Numbers
from crane_core.ui.state_tree import state_html
from crane_core.ui.trial.cells_html import cells_html
from crane_core.ui.trial.running import Running, start
from crane_core.ui.trial.verdict_view import cost_words, crash_line, draw_rules
from crane_core.ui.words import literal

POLL_S = 0.5


def draw_desk(chosen: Checked, *, may_run: bool) -> Checked:
    """Everything about a notebook but the model; the notebook with its state, where there is one now."""
    checked = chosen if chosen.state is not None else _with_run(chosen, may_run=may_run)
    said = verdict(checked)
    draw_rules(checked, said)
    st.caption(cost_words(checked))
    _draw_code_and_state(checked, crash_line(said))
    return checked


def _with_run(chosen: Checked, *, may_run: bool) -> Checked:
    """What an earlier run of this very target gave; else the way to start one."""
    running = st.session_state.get(keys.TRY_RUN)
    if isinstance(running, Running) and _is_of(running, chosen):
        if running.outcome is None:
            _watch(running)
            st.stop()
        if isinstance(running.outcome, Checked):
            return running.outcome
        _tell(running.outcome)
    if may_run and st.button(_run_words(chosen), type="primary", key=keys.TRY_START):
        st.session_state[keys.TRY_RUN] = start(chosen)
        st.rerun()
    return chosen


def _is_of(running: Running, chosen: Checked) -> bool:
    return (running.checked.path, running.checked.cells) == (chosen.path, chosen.cells)


def _run_words(chosen: Checked) -> str:
    n = len(chosen.plan.executed)
    return f"Run the {n} cells before it" if n != 1 else "Run the cell before it"


@st.fragment(run_every=POLL_S)
def _watch(running: Running) -> None:
    if running.outcome is not None:
        st.rerun()
    n = len(running.checked.plan.executed)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Running {n} cells in a fresh kernel, {running.seconds:.0f} s so far")
        if st.button("Stop", key=keys.TRY_STOP):
            running.stop.set()


def _tell(error: CraneError) -> None:
    st.error(f"{literal(error.args[0])}\n\n**What to do:** {literal(error.remedy)}")


def _draw_code_and_state(checked: Checked, line: int | None) -> None:
    state = ""
    if checked.state is not None:
        indices = [cell.notebook_index for cell in checked.cells]
        numbers: Numbers = {index: str(number) for number, index in enumerate(indices, start=1) if index is not None}
        text = json.dumps(checked.state.to_json())
        head = '<b>Runtime state</b> <span class="cw-dim">before the target cell</span>'
        tree = state_html(text, text, (numbers, numbers))
        state = f'<div class="cw-state-column"><div class="cw-state-head">{head}</div>{tree}</div>'
    css = "cw-bench cw-with-state" if state else "cw-bench"
    st.html(f'<div class="{css}"><div>{cells_html(checked.cells, line)}</div>{state}</div>')
