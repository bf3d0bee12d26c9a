"""The bar as a Streamlit component: search, copy, glossary, help, who is logged in.

Knows where a search leads. Refuses to know what it finds: the Cases page does. The browser sends the words of a search
and does everything else itself, without a run of the page.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from crane_core.identity.visitor import Visitor
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys
from crane_core.ui.documentation import help_address
from crane_core.ui.glossary import OF_INPUTS, TERMS
from crane_core.ui.navigation import go, page_files, show_here

MOST_CASES = 400
"""Cases that the field offers during typing; a search finds the others too."""
CASES = "cases"
BLIND = ("annotate", "campaigns")
"""Pages on which nothing may reveal what the model of an item was shown."""
_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "crane_bar",
    html=(_HERE / "bar.html").read_text("utf-8"),
    js=(_HERE / "bar.js").read_text("utf-8"),
    isolate_styles=False,
)


@data.kept(data.answers)
def _offered() -> dict[str, tuple[str, str, str]]:
    """What can be typed to open a case: benchmark, case and a word on it. The largest benchmark needs no name."""
    found: dict[str, tuple[str, str, str]] = {}
    for place, benchmark in enumerate(data.benchmarks()["benchmark"].tolist()):
        for row in as_rows(data.case_list(benchmark)):
            typed = (
                row["case_id"]
                if place == 0
                else f"{row['case_id']} ({benchmark})"
            )
            about = " · ".join(
                str(row[name]) for name in ("exception", "library") if row[name]
            )
            found[typed] = benchmark, row["case_id"], about
    return found


def draw_bar(visitor: Visitor) -> None:
    """Draw it, with who is logged in, and leave for what was searched for."""
    offered = _offered()
    # The names of cases and inputs must not lead an annotator to what the detectors answered.
    is_blind = st.session_state[keys.PAGE] in BLIND or bool(
        data.blinding(visitor)
    )
    cases = (
        []
        if is_blind
        else [
            [typed, about]
            for typed, (_, _, about) in list(offered.items())[:MOST_CASES]
        ]
    )
    terms = [
        [term, meaning]
        for term, meaning in TERMS.items()
        if not is_blind or term not in OF_INPUTS
    ]
    who = (
        [visitor.name, visitor.email, str(visitor.role)]
        if visitor.is_known
        else None
    )
    told = {
        "cases": cases,
        "terms": terms,
        "who": who,
        "help": help_address(_page()),
    }
    sent = _component(data=told, key=keys.BAR, on_search_change=lambda: None)
    if asked := str(sent.search or "").strip():
        _open(asked, offered)


def _page() -> str:
    return st.session_state[keys.PAGE] or next(iter(page_files()))


def _open(asked: str, offered: dict[str, tuple[str, str, str]]) -> None:
    """The pair that is named, else the cases in which the words are found."""
    if asked in offered:
        benchmark, case_id, _ = offered[asked]
        query = {keys.BENCHMARK: benchmark, keys.CASE: case_id}
    else:
        query = {keys.SEARCH: asked}
    if st.session_state[keys.PAGE] == CASES:
        show_here(**query)
        st.rerun()
    go(CASES, **query)
