"""One case on the start page: the target cell, what a detector said from the code alone, and with runtime state."""

from collections.abc import Sequence
from html import escape

import pandas as pd
import streamlit as st

from crane_core.domain import EXECUTED_KINDS, DetectorKind
from crane_core.pipeline.cases.turned_right import (
    Diagnosis,
    Example,
    VotedExample,
    turned_right,
    turned_right_by_votes,
)
from crane_core.ui import data, keys
from crane_core.ui.code_html import line_html
from crane_core.ui.deciding_fact import deciding_fact
from crane_core.ui.glossary import explained
from crane_core.ui.navigation import link
from crane_core.ui.result_switches import STUDY
from crane_core.ui.words import count, exception_name, is_imported, literal

MAX_TEXT = 600


NOT_LOADED = "Its code and the texts of the answers are not loaded. The Data page fetches them."
SHIPPED = (
    "From the notebooks that ship with the app, not from the published study."
)


@data.kept(data.answers)
def example_with_texts() -> Example | None:
    """Of the study if its texts are loaded, else of the notebooks that ship."""
    published, others = _parts()
    return turned_right(data.store(), published) or turned_right(
        data.store(), others
    )


@data.kept(data.answers)
def _example() -> Example | VotedExample | None:
    """Of the study with its texts, else by its votes; of the notebooks that ship where the study is not loaded."""
    found = example_with_texts()
    if found is not None and found.experiment == STUDY:
        return found
    return turned_right_by_votes(_parts()[0]) or found


def _parts() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdicts of models and rules that can be shown: of the study, and all others."""
    verdicts = data.verdicts()
    untold = (DetectorKind.ANALYZER, *EXECUTED_KINDS)
    verdicts = verdicts[~verdicts["detector_kind"].isin(untold)]
    is_of_study = verdicts["experiment"] == STUDY
    return verdicts[is_of_study], verdicts[~is_of_study]


def prepare_example() -> None:
    """Find the case before a visitor asks for it."""
    _example()


def draw_example() -> None:
    """The three cards with the link to the pair; one sentence where no such case is loaded."""
    st.header(
        "One case: wrong from the code, right with runtime state",
        anchor="example",
    )
    example = _example()
    if example is None:
        st.caption(
            "No such case is loaded. The Data page fetches the published ones."
        )
        return
    if isinstance(example, VotedExample):
        st.html(votes_html(example))
        st.caption(NOT_LOADED)
    else:
        st.html(example_html(example))
        if not is_imported(example.experiment):
            st.caption(SHIPPED)
    words = (
        f"Open {example.case_id} of {data.benchmark_title(example.benchmark)}"
    )
    link(
        "cases",
        literal(words),
        **{keys.CASE: example.case_id, keys.BENCHMARK: example.benchmark},
    )


def example_html(example: Example) -> str:
    """The cards side by side; all text of notebooks and models escaped."""
    numbered = _without_ends(example.code.splitlines())
    lines = "".join(
        f"<li{' class=cw-crash' if number == example.crash_line else ''}><code>{line_html(line)}</code></li>"
        for number, line in numbered
    )
    head = f"Target cell of {escape(example.case_id)}"
    first = numbered[0][0] - 1 if numbered else 0
    # The style counts lines; the first shown one need not be the cell's first.
    listed = (
        f'<ol class="cw-code" style="counter-reset:line {first}">{lines}</ol>'
    )
    fact = deciding_fact(example.code, example.crash_line, example.state)
    told = f'<p class="cw-fact"><span class="cw-dim">In the kernel, given with {explained("+RT")}:</span> {fact}</p>'
    code = (
        f'<div class="cw-verdict"><div class="cw-dim">{head}</div>{listed}'
        f"{told if fact else ''}</div>"
    )
    return (
        f'<div class="cw-example">{code}{"".join(two_answers(example))}</div>'
    )


def _without_ends(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The lines with their numbers, without the blank ones before the first and after the last that says something."""
    places = [place for place, line in enumerate(lines) if line.strip()] or [0]
    return [
        (place + 1, lines[place])
        for place in range(places[0], places[-1] + 1)
        if place < len(lines)
    ]


def two_answers(example: Example, level: str = "h3") -> tuple[str, str]:
    """The cards of the answers alone: from the code, and with runtime state; level: of their headings on the page."""
    who = f"{escape(example.detector_title)}, "
    return _cards(who, _said(example.without), _said(example.with_), level)


def labels_html(detector_title: str, label: str | None) -> str:
    """Whether people found the diagnosis right that was given with runtime state; else that there is no label."""
    who = f"The diagnosis of {escape(detector_title)} with runtime state"
    said = (
        f"{who} is labelled <b>{escape(label)}</b> by the published human label."
        if label
        else f"{who} has no human label."
    )
    return f'<div class="cw-why"><p>{said}</p></div>'


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
    case = (
        f'<div class="cw-verdict"><div class="cw-dim">{head}</div>{facts}</div>'
    )
    without = "".join(
        f"<li>{_vote(one.detector_title, one.n_without, one.of_without)}</li>"
        for one in example.votes
    )
    with_ = "".join(
        f"<li>{_vote(one.detector_title, one.n_with, one.of_with)}{_diagnosis(one.label)}</li>"
        for one in example.votes
    )
    cards = _cards("", f"<ul>{without}</ul>", f"<ul>{with_}</ul>")
    return f'<div class="cw-example">{case}{"".join(cards)}</div>'


def _vote(title: str, n: int, of: int) -> str:
    return (
        f"{escape(title)}: {count(n)} of {count(of)} answers predict the crash"
    )


def _diagnosis(label: str | None) -> str:
    return f"; diagnosis {escape(label)}" if label else ""


def _said(said: Diagnosis) -> str:
    if not said.text:
        return '<p class="cw-dim">No finding, so no text.</p>'
    text = (
        said.text if len(said.text) <= MAX_TEXT else f"{said.text[:MAX_TEXT]}…"
    )
    return f"<blockquote>{escape(text)}</blockquote>"


def _cards(
    who: str, without: str, with_: str, level: str = "h3"
) -> tuple[str, str]:
    """What was said from the code alone, which is wrong, and what was said with runtime state, which is right."""
    of_code = _card(
        f"{who}code only ({explained('−RT')})",
        'No crash predicted <span class="cw-wrong">✗ wrong</span>',
        without,
        css="cw-bad",
        level=level,
    )
    of_state = _card(
        f"{who}with runtime state ({explained('+RT')})",
        'Crash predicted <span class="cw-right">✓ right</span>',
        with_,
        css="cw-good",
        level=level,
    )
    return of_code, of_state


def _card(
    head: str, prediction: str, body: str, *, css: str, level: str
) -> str:
    said = f"<{level}>{prediction}</{level}>{body}"
    return f'<div class="cw-verdict {css}"><div class="cw-dim">{head}</div>{said}</div>'
