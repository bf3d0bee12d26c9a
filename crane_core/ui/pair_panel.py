"""A pair's first screen as finished HTML: verdicts over code, beside them one panel of answers, state and traceback.

The script beside this file switches the panel and marks what an answer names in the code, without a request to the
server.

What the detectors wrote is folded by agreement, per version and input, and escaped.
"""

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from crane_core.crash_place import traceback_text
from crane_core.domain import Version
from crane_core.ui import keys, pair_code, verdict_matrix, words
from crane_core.ui.code_html import prose_html
from crane_core.ui.glossary import with_terms
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
_SAID = {
    True: ("says", "say", "crash"),
    False: ("says", "say", "no crash"),
    None: ("gives", "give", "no prediction"),
}
"""Whether an answer predicts a crash: the verb for one and for several, and what is said."""


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
    about += pair_code.kernel_fact_html(
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
    diff = pair_code.code_column_html(
        pair.cells, case["traceback"], case["diagnosis"]
    )
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
        else pair_code.state_column_html(
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


def answers_html(rows: Sequence[verdict_matrix.MatrixRow]) -> str:
    """A line per detector that opens to its texts; open is the first that runtime state changed.

    A line below names those without texts; where none has any, there is nothing to read.
    """
    told = [
        row
        for row in rows
        if any(map(verdict_matrix.has_texts, verdict_matrix.all_answers(row)))
    ]
    changed = [
        row
        for row in told
        if any(
            verdict_matrix.change_by_state(row, version) is not None
            for version in Version
        )
    ]
    # One is open, so that a reader sees what opens; the one that changed is the most telling.
    opened = (changed or told)[:1]
    lines = "".join(
        _detector(row, number, is_open=row in opened)
        for number, row in enumerate(rows)
        if row in told
    )
    silent = [
        f"{row.detector} ({row.note})" if row.note else row.detector
        for row in rows
        if row not in told
    ]
    if not told or not silent:
        return lines
    names = escape(words.listed(silent))
    return f'{lines}<p class="cw-dim cw-small">Verdicts only, without texts: {names}.</p>'


def _detector(
    row: verdict_matrix.MatrixRow, number: int, *, is_open: bool
) -> str:
    settings = verdict_matrix.settings_of([row])
    votes = " ".join(
        f'<span><span class="cw-dim">{words.VERSION_WORDS[version]}:</span> {_votes(row, version, settings)}</span>'
        for version in Version
    )
    note = (
        f' <span class="cw-dim">{escape(row.note)}</span>' if row.note else ""
    )
    summary = f"<summary><b>{escape(row.detector)}</b>{note} {votes}</summary>"
    body = "".join(
        _texts(row, number, version, setting)
        for version in Version
        for setting in settings
    )
    return f'<details class="cw-reasons"{" open" if is_open else ""}>{summary}{body}</details>'


def _votes(
    row: verdict_matrix.MatrixRow, version: Version, settings: list[str]
) -> str:
    pairs = ((setting, row.answers(setting, version)) for setting in settings)
    return " ".join(
        f"{escape(words.setting_short(s))} {verdict_matrix.vote_html(found, version)}"
        for s, found in pairs
        if found
    )


def _texts(
    row: verdict_matrix.MatrixRow, number: int, version: Version, setting: str
) -> str:
    """One input's answers about one version; nothing where none says why."""
    answers = row.answers(setting, version)
    if answers is None or not verdict_matrix.has_texts(answers):
        return ""
    place = escape(verdict_matrix.place_of(number, version, setting))
    strip = verdict_matrix.strip_html(answers, version)
    head = f"<h3>{words.notebook_words(version)}, {escape(words.setting_words(setting))} {strip}</h3>"
    groups = [
        (said, [run for run in answers.runs if _predicts(run) is said])
        for said in (True, False, None)
    ]
    # The majority's words come first.
    groups.sort(key=lambda group: -len(group[1]))
    told = "".join(
        _group(runs, answers, said=said) for said, runs in groups if runs
    )
    return f'<section id="{place}" class="cw-texts">{head}{told}</section>'


def _predicts(run: dict[str, Any]) -> bool | None:
    """Whether the answer predicts a crash; None of one that could not be read."""
    return None if run["unanswered"] else bool(run["crashes"])


def _group(
    runs: list[dict[str, Any]],
    answers: verdict_matrix.Answers,
    *,
    said: bool | None,
) -> str:
    """Answers of one prediction: the most frequent text, other wordings folded."""
    one, several, what = _SAID[said]
    n, n_all = len(runs), len(answers.runs)
    verb = one if n == 1 else several
    head = f"{n} of {n_all} {verb} {what}" if n_all > 1 else ""
    told = f'<span class="cw-agreed">{head}</span> ' if head else ""
    texts = Counter(
        text for run in runs if (text := verdict_matrix.reason(run))
    )
    if not texts:
        return f'<p class="cw-answer">{told}<span class="cw-dim">without a reason</span></p>'
    # One wording needs no count: the head has it.
    is_counted = len(texts) > 1
    items = [
        f"<p class='cw-answer'>{told if place == 0 else ''}{_times(times) if is_counted else ''}"
        f"{prose_html(words.shortened(text, verdict_matrix.MAX_REASON))}</p>"
        for place, (text, times) in enumerate(texts.most_common())
    ]
    if len(items) == 1:
        return items[0]
    others = words.quantity(len(items) - 1, "other wording")
    return f"{items[0]}<details class='cw-wordings'><summary>{others}</summary>{''.join(items[1:])}</details>"


def _times(n: int) -> str:
    return f'<span class="cw-dim">{n}×</span> '
