"""One notebook on the desk: what the rules say, fixes that ran through, running it, its cells beside its state.

Text of notebooks is escaped. Knows no rule, and changes no file of the visitor.
"""

import json
import re
from html import escape

import streamlit as st

from crane_core.detectors.registry import Prediction
from crane_core.given_path import read_given
from crane_core.pipeline.own_notebooks import check
from crane_core.pipeline.own_notebooks.check import CheckedNotebook
from crane_core.pipeline.own_notebooks.fix_words import NO_FIX, diff_of
from crane_core.pipeline.own_notebooks.notebook_edit import with_source
from crane_core.repair.search import RepairOutcome, TriedFix
from crane_core.runtime.plan import MOST_BYTES
from crane_core.ui import keys
from crane_core.ui.code_html import blanks_html, line_html
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.state_facts import Numbers
from crane_core.ui.state_tree import state_html
from crane_core.ui.trial import verdict_view
from crane_core.ui.trial.cells_html import cells_html
from crane_core.ui.trial.running import cells_before, draw_bar, run_of
from crane_core.ui.words import sentence_case, shortened

_NAME = re.compile(r"[^\W\d]\w*")
MOST_LINES = 200
_TAGS = {"+": "ins", "-": "del"}
"""Of lines that only one of the two cells has."""


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
    cells = cells_html(checked.cells, verdict_view.crash_line(said))
    ran = f'<span class="cw-dim">{cells_before(checked)} ran</span>'
    head = f'<div class="cw-state-head"><b>Code</b> {ran}</div>' * bool(state)
    return f'<div class="{css}"><div>{head}{cells}</div>{state}</div>'


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


def draw_fixes(checked: CheckedNotebook) -> None:
    """Nothing where no fix was looked for, or the target did not crash in its copy."""
    found = checked.repair
    if found is None or found.why_none:
        return
    st.html(
        "".join(fix_html(checked, tried) for tried in found.shown)
        + _rest_html(found)
    )
    source = checked.plan.target.source
    edits = [tried.fix for tried in found.shown if tried.fix.source != source]
    if edits:
        with refusals_shown():
            st.download_button(
                "Download the notebook with the fix",
                fixed_notebook(checked, edits[0].source),
                f"{checked.name}-fixed.ipynb",
                mime="application/x-ipynb+json",
                on_click="ignore",
                key=keys.TRY_FIXED,
            )


def fixed_notebook(checked: CheckedNotebook, source: str) -> bytes:
    """The notebook's file with this source of the target, every other byte as it was. Raises NotebookError."""
    target = checked.plan.target
    data = read_given(checked.path, MOST_BYTES)
    return with_source(data, target.index, target.source, source)


def fix_html(checked: CheckedNotebook, tried: TriedFix) -> str:
    """The card of one fix."""
    # The first lines name the file, which the page does, and where the first stretch begins.
    lines = diff_of(checked, tried).splitlines()[3:]
    left_out = len(lines) - MOST_LINES
    shown = "".join(map(_line_html, lines[:MOST_LINES]))
    more = f"<span>… {left_out:,} more lines</span>" if left_out > 0 else ""
    diff = f'<div class="cw-fix">{shown}{more}</div>' if lines else ""
    return (
        '<div class="cw-verdict cw-good"><div class="cw-dim">'
        f"Fix, tried {escape(tried.rehearsal.where)}</div>"
        f"<h2>{blanks_html(shortened(tried.fix.sentence, 500))}</h2>"
        f"<dl><dt></dt><dd>{escape(_sentence(tried.outcome))}</dd></dl>{diff}</div>"
    )


def _line_html(line: str) -> str:
    # "@@ -1,3 +1,3 @@" begins a stretch: which lines it has is seen.
    if line.startswith("@@"):
        return '<span class="cw-dim">…</span>'
    tag = _TAGS.get(line[:1], "span")
    sign = escape(line[:1])
    return f"<{tag}>{sign} {line_html(line[1:])}</{tag}>"


def _sentence(text: str) -> str:
    return f"{sentence_case(text)}."


def _rest_html(found: RepairOutcome) -> str:
    """How many fixes are not shown, and why."""
    parts = [] if found.shown else [_sentence(NO_FIX)]
    if found.not_shown:
        parts.append(f"Not shown: {found.not_shown}.")
    text = escape(" ".join(parts))
    return f'<p class="cw-dim">{text}</p>' if parts else ""
