"""A pair's first screen as finished HTML: verdicts over code, beside them one panel of answers, state and traceback.

The script beside this file switches the panel and marks what an answer names in the code, without a request to the
server.
"""

from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from crane_core.crash_place import traceback_text
from crane_core.ui import keys
from crane_core.ui.glossary import with_terms
from crane_core.ui.pair_answers import answers_html
from crane_core.ui.pair_code import (
    code_column_html,
    kernel_fact_html,
    state_column_html,
)
from crane_core.ui.pair_facts import MatrixRows, facts_html, why_html
from crane_core.ui.verdict_matrix import LEGEND, finding, matrix_html

FEW_RUNS = 4
"""Up to this number, local runs are expanded."""
MAX_TRACEBACK = 20_000
"""Characters of a traceback that are shown."""
GUTTER = "A dotted line between line numbers: empty lines there are not shown."
ASIDE = "Words with a dotted line stand in the code: point at one to see where."

_component = st.components.v2.component(
    "crane_pair",
    html='<div class="cw-pair-page"></div>',
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    isolate_styles=False,
)


class PairMaterial(NamedTuple):
    """A case as storage has it. remarks: version to the authors' remark; origin: where the code comes from."""

    case: dict[str, Any]
    remarks: dict[str, str]
    cells: pd.DataFrame
    states: pd.DataFrame
    origin: str


class _Tab(NamedTuple):
    key: str
    title: str
    html: str


def draw_panel(pair: PairMaterial, asked: MatrixRows) -> None:
    """The first screen; it is exchanged as a whole when the case changes."""
    _component(data={"html": pair_page_html(pair, asked)}, key=keys.PAIR)


def pair_page_html(pair: PairMaterial, asked: MatrixRows) -> str:
    """Left what was predicted over the code, right the panel; parts that are unknown are left out."""
    case = pair.case
    about = facts_html(case) + why_html(case, pair.remarks)
    about += kernel_fact_html(
        pair.cells, pair.states, case["traceback"], case["diagnosis"]
    )
    verdicts = (
        f'<section class="cw-pair-verdicts">{verdicts_html(asked)}</section>'
    )
    left = f'<section class="cw-pair-about">{about}</section>{verdicts}{_code(pair)}'
    tabs = _tabs(pair, asked)
    css = "cw-cockpit cw-with-panel" if tabs else "cw-cockpit"
    return f'<div class="{css}"><div class="cw-pair-left">{left}</div>{_panel(tabs)}</div>'


def verdicts_html(asked: MatrixRows) -> str:
    """What runtime state changed, as the heading of the matrix; local runs below it."""
    if not asked.imported and not asked.local:
        return '<p class="cw-dim">No detector has been asked about this case yet.</p>'
    heading = f"<h2>{with_terms(finding([*asked.imported, *asked.local]))}</h2>"
    imported = matrix_html(asked.imported) if asked.imported else ""
    return f"{heading}{imported}{_local_html(asked)}{LEGEND}"


def _local_html(asked: MatrixRows) -> str:
    if not asked.local:
        return ""
    is_open = " open" if len(asked.local) <= FEW_RUNS else ""
    summary = f"<summary>Local runs: {len(asked.local)}</summary>"
    table = matrix_html(asked.local, len(asked.imported))
    return f'<details class="cw-options"{is_open}>{summary}{table}</details>'


def _code(pair: PairMaterial) -> str:
    if pair.cells.empty:
        return ""
    head = '<h2>Crashing → fixed <span class="cw-dim">Unchanged cells are collapsed.</span></h2>'
    case = pair.case
    diff = code_column_html(pair.cells, case["traceback"], case["diagnosis"])
    note = (
        f'<p class="cw-dim cw-small">Code {escape(pair.origin)}. {GUTTER}</p>'
    )
    return f'<section class="cw-pair-code">{head}{diff}{note}</section>'


def _tabs(pair: PairMaterial, asked: MatrixRows) -> list[_Tab]:
    """What there is to read beside the code, in the order of reading."""
    answers = answers_html([*asked.imported, *asked.local])
    if answers and not pair.cells.empty:
        answers += f'<p class="cw-dim cw-small">{ASIDE}</p>'
    case = pair.case
    state = (
        ""
        if pair.cells.empty
        else state_column_html(
            pair.cells, pair.states, case["traceback"], case["diagnosis"]
        )
    )
    tabs = [
        _Tab("answers", "Answers", answers),
        _Tab("state", "State", state),
        _Tab("traceback", "Traceback", _traceback(pair.case)),
    ]
    return [tab for tab in tabs if tab.html]


def _panel(tabs: list[_Tab]) -> str:
    if not tabs:
        return ""
    first = tabs[0].key
    buttons = "".join(_button(tab, is_chosen=tab.key == first) for tab in tabs)
    bodies = "".join(
        f'<div role="tabpanel" id="cw-body-{tab.key}" aria-labelledby="cw-tab-{tab.key}" tabindex="0"'
        f"{'' if tab.key == first else ' hidden'}>{tab.html}</div>"
        for tab in tabs
    )
    switch = f'<div class="cw-tabs" role="tablist" aria-label="Beside the code">{buttons}</div>'
    return f'<div class="cw-panel">{switch}{bodies}</div>'


def _button(tab: _Tab, *, is_chosen: bool) -> str:
    # The arrow keys move between the tabs, so only one of them is a stop of the Tab key.
    chosen, stop = ("true", 0) if is_chosen else ("false", -1)
    return (
        f'<button type="button" role="tab" id="cw-tab-{tab.key}" aria-controls="cw-body-{tab.key}"'
        f' aria-selected="{chosen}" tabindex="{stop}" data-tab="{tab.key}">{tab.title}</button>'
    )


def _traceback(case: dict[str, Any]) -> str:
    text = case["traceback"] or case["message"]
    if not text:
        return ""
    shown = escape(traceback_text(str(text))[:MAX_TRACEBACK])
    return f'<pre class="cw-trace">{shown}</pre>'
