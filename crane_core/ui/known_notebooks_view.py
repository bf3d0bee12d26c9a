"""Does it know the notebooks? The tab of Results on benchmarks that have copies with other names, or are copies."""

import streamlit as st

from crane_core.pipeline.results.known_notebooks import (
    CopiedBenchmark,
    KnownNotebooks,
    copied_benchmarks,
    known_notebooks,
)
from crane_core.pipeline.results.measures import Credit
from crane_core.ui import data, known_notebooks_words
from crane_core.ui.outcome_words import smaller_sentence
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.words import bullets, literal


def has_copies(chosen: ResultChoice) -> bool:
    """Whether the benchmark has copies or is one, without which there is nothing to compare."""
    return bool(_pairs(chosen))


def _pairs(chosen: ResultChoice) -> list[CopiedBenchmark]:
    found = copied_benchmarks(data.varied_benchmarks())
    return [of for of in found if chosen.benchmark in of]


@data.kept(data.answers, 16, copied=True)
def _known(
    of: CopiedBenchmark, credit: Credit, annotator: str, bound: float
) -> KnownNotebooks:
    verdicts = data.verdicts()
    rows = verdicts[verdicts["benchmark"].isin(of)]
    if credit is not Credit.DETECTION:
        rows = data.judged(rows, annotator)
    return known_notebooks(rows, data.run_list(), of, credit, bound)


def draw_known_notebooks(chosen: ResultChoice) -> None:
    """The section: of each pair of benchmarks by detection, and by diagnosis where both have labels."""
    st.header(known_notebooks_words.TITLE, anchor="copies")
    for of in _pairs(chosen):
        for credit in (Credit.DETECTION, Credit.STRICT):
            found = _known(of, credit, chosen.annotator, chosen.bound)
            if credit is Credit.DETECTION or len(found.table):
                _draw(found)
    st.caption(known_notebooks_words.ABOUT)


def _draw(found: KnownNotebooks) -> None:
    st.subheader(
        literal(
            known_notebooks_words.heading_of(found, data.benchmark_titles())
        )
    )
    if found.table.empty:
        st.info(
            " ".join(
                filter(
                    None,
                    [
                        known_notebooks_words.NONE,
                        known_notebooks_words.unlike(found),
                    ],
                )
            )
        )
        return
    st.markdown(known_notebooks_words.lead(found))
    st.markdown(bullets(map(literal, known_notebooks_words.findings(found))))
    st.html(rows_html(known_notebooks_words.readable_known(found)))
    for sentence in (
        known_notebooks_words.unlike(found),
        smaller_sentence(found.table),
    ):
        if sentence:
            st.caption(sentence)
