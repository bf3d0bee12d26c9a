"""One case on the start page: the target cell, what a detector said from the code alone, and with runtime state."""

from __future__ import annotations

from html import escape

import streamlit as st

from crane_core.domain import DetectorKind
from crane_core.pipeline.cases.turned_right import (
    Diagnosis,
    Example,
    VotedExample,
    turned_right,
    turned_right_by_votes,
)
from crane_core.storage.store import Store
from crane_core.ui import data, keys
from crane_core.ui.code_html import line_html
from crane_core.ui.glossary import explained
from crane_core.ui.navigation import link
from crane_core.ui.result_switches import STUDY
from crane_core.ui.words import count, exception_name, is_imported, literal

MAX_TEXT = 600


NOT_LOADED = (
    "Its code and the texts of the answers are not loaded. The Data page fetches them."
)
SHIPPED = "From the notebooks that ship with the app, not from the published study."


@st.cache_resource(max_entries=2, show_spinner=False)
def _example(_store: Store, loaded: str) -> Example | VotedExample | None:
    """Of the study with its texts, else by its votes; of the notebooks that ship where the study is not loaded."""
    verdicts = data.verdicts()
    others = (DetectorKind.ANALYZER, DetectorKind.REHEARSAL)
    verdicts = verdicts[~verdicts["detector_kind"].isin(others)]
    of_study = verdicts["experiment"] == STUDY
    published, others_of = verdicts[of_study], verdicts[~of_study]
    return (
        turned_right(_store, published)
        or turned_right_by_votes(published)
        or turned_right(_store, others_of)
    )


def prepare_example() -> None:
    """Find the case before a visitor asks for it."""
    _example(data.store(), data.answers())


def draw_example() -> None:
    """The three cards with the link to the pair; one sentence where no such case is loaded."""
    st.subheader(
        "One case: wrong from the code, right with runtime state", anchor="example"
    )
    example = _example(data.store(), data.answers())
    if example is None:
        st.caption("No such case is loaded. The Data page fetches the published ones.")
        return
    if isinstance(example, VotedExample):
        st.html(votes_html(example))
        st.caption(NOT_LOADED)
    else:
        st.html(example_html(example))
        if not is_imported(example.experiment):
            st.caption(SHIPPED)
    words = f"Open {example.case_id} of {data.benchmark_titles().get(example.benchmark, example.benchmark)}"
    link(
        "cases",
        literal(words),
        **{keys.CASE: example.case_id, keys.BENCHMARK: example.benchmark},
    )


def example_html(example: Example) -> str:
    """The cards side by side; all text of notebooks and models escaped."""
    lines = "".join(
        f"<li{' class=cw-crash' if number == example.crash_line else ''}><code>{line_html(line)}</code></li>"
        for number, line in enumerate(example.code.splitlines(), start=1)
    )
    head = f"Target cell of {escape(example.case_id)}"
    code = f'<div class="cw-verdict"><div class="cw-dim">{head}</div><ol class="cw-code">{lines}</ol></div>'
    title = escape(example.detector_title)
    return (
        f'<div class="cw-example">{code}{_card(title, "−RT", "code only", example.without, is_right=False)}'
        f"{_card(title, '+RT', 'with runtime state', example.with_, is_right=True)}</div>"
    )


def votes_html(example: VotedExample) -> str:
    """The same cards by facts alone: the labels of the case, and how many answers predict the crash."""
    shown = {
        "Exception": exception_name(example.exception),
        "Root cause": example.root_cause,
    }
    facts = "".join(
        f"<p>{escape(name)}: {escape(str(value))}</p>"
        for name, value in shown.items()
        if value
    )
    head = f"{escape(example.case_id)}, as labelled by its authors"
    case = f'<div class="cw-verdict"><div class="cw-dim">{head}</div>{facts}</div>'
    without = "".join(
        f"<li>{_vote(one.detector_title, one.n_without, one.of_without)}</li>"
        for one in example.votes
    )
    with_ = "".join(
        f"<li>{_vote(one.detector_title, one.n_with, one.of_with)}{_diagnosis(one.label)}</li>"
        for one in example.votes
    )
    return (
        f'<div class="cw-example">{case}{_voted("−RT", "code only", without, is_right=False)}'
        f"{_voted('+RT', 'with runtime state', with_, is_right=True)}</div>"
    )


def _vote(title: str, n: int, of: int) -> str:
    return f"{escape(title)}: {count(n)} of {count(of)} answers predict the crash"


def _diagnosis(label: str | None) -> str:
    return f"; diagnosis {escape(label)}" if label else ""


def _voted(sign: str, words: str, votes: str, *, is_right: bool) -> str:
    prediction = "Crash predicted" if is_right else "No crash predicted"
    css, mark = ("cw-right", "✓ right") if is_right else ("cw-wrong", "✗ wrong")
    return (
        f'<div class="cw-verdict {"cw-good" if is_right else "cw-bad"}"><div class="cw-dim">{words} '
        f'({explained(sign)})</div><h4>{prediction} <span class="{css}">{mark}</span></h4><ul>{votes}</ul></div>'
    )


def _card(
    detector: str, sign: str, words: str, said: Diagnosis, *, is_right: bool
) -> str:
    prediction = "Crash predicted" if said.crashes else "No crash predicted"
    css, mark = ("cw-right", "✓ right") if is_right else ("cw-wrong", "✗ wrong")
    text = said.text if len(said.text) <= MAX_TEXT else f"{said.text[:MAX_TEXT]}…"
    body = (
        f"<blockquote>{escape(text)}</blockquote>"
        if text
        else '<p class="cw-dim">No finding, so no text.</p>'
    )
    return (
        f'<div class="cw-verdict {"cw-good" if is_right else "cw-bad"}"><div class="cw-dim">{detector}, {words} '
        f'({explained(sign)})</div><h4>{prediction} <span class="{css}">{mark}</span></h4>{body}</div>'
    )
