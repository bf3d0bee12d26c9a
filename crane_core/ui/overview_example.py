"""One case on the start page: the target cell, what a detector said from the code alone, and with runtime state."""

from __future__ import annotations

from html import escape

import streamlit as st

from crane_core.domain import DetectorKind
from crane_core.pipeline.cases.turned_right import Diagnosis, Example, turned_right
from crane_core.storage.store import Store
from crane_core.ui import data, keys
from crane_core.ui.code_html import line_html
from crane_core.ui.glossary import explained
from crane_core.ui.navigation import link
from crane_core.ui.result_switches import STUDY
from crane_core.ui.words import literal

MAX_TEXT = 600


@st.cache_resource(max_entries=2, show_spinner=False)
def _example(_store: Store, loaded: str) -> Example | None:
    """Of the study where its texts are loaded, else of the notebooks that ship."""
    verdicts = data.verdicts()
    others = (DetectorKind.ANALYZER, DetectorKind.REHEARSAL)
    verdicts = verdicts[~verdicts["detector_kind"].isin(others)]
    of_study = verdicts["experiment"] == STUDY
    return turned_right(_store, verdicts[of_study]) or turned_right(_store, verdicts[~of_study])


def prepare_example() -> None:
    """Find the case before a visitor asks for it."""
    _example(data.store(), data.answers())


def draw_example() -> None:
    """The three cards with the link to the pair; one sentence where no text of any case is loaded."""
    st.subheader("One case: wrong from the code, right with runtime state", anchor="example")
    example = _example(data.store(), data.answers())
    if example is None:
        st.caption("No case with the texts of its answers is loaded. The Data page fetches the published ones.")
        return
    st.html(example_html(example))
    words = f"Open {example.case_id} of {data.benchmark_titles().get(example.benchmark, example.benchmark)}"
    link("cases", literal(words), **{keys.CASE: example.case_id, keys.BENCHMARK: example.benchmark})


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


def _card(detector: str, sign: str, words: str, said: Diagnosis, *, is_right: bool) -> str:
    prediction = "Crash predicted" if said.crashes else "No crash predicted"
    css, mark = ("cw-right", "✓ right") if is_right else ("cw-wrong", "✗ wrong")
    text = said.text if len(said.text) <= MAX_TEXT else f"{said.text[:MAX_TEXT]}…"
    body = f"<blockquote>{escape(text)}</blockquote>" if text else '<p class="cw-dim">No finding, so no text.</p>'
    return (
        f'<div class="cw-verdict {"cw-good" if is_right else "cw-bad"}"><div class="cw-dim">{detector}, {words} '
        f'({explained(sign)})</div><h4>{prediction} <span class="{css}">{mark}</span></h4>{body}</div>'
    )
