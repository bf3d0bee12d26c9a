"""The labels behind a result: one line with their number, their origin, and what they represent."""

import streamlit as st

from crane_core.annotation.outcome import Provenance
from crane_core.pipeline.campaigns.label_sets import standing_words
from crane_core.pipeline.judging.judged import Coverage, coverage
from crane_core.pipeline.results.measures import Credit
from crane_core.ui import data
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.words import count, literal


@data.kept(data.answers, 32, copied=True)
def _coverage(chosen: ResultChoice) -> Coverage:
    return coverage(chosen.rows(), chosen.rule)


def draw_coverage(chosen: ResultChoice) -> None:
    """The line; nothing if no diagnosis counts."""
    if chosen.credit is not Credit.DETECTION:
        st.caption(_line(chosen.annotator, _coverage(chosen)))
        if told := standing_words(data.label_set_of([chosen.annotator])):
            st.caption(literal(told))


def _line(annotator: str, found: Coverage) -> str:
    n_labelled, n_detected = count(found.n_labelled), count(found.n_detected)
    by = f"Diagnoses judged by {literal(annotator)}"
    if not found.provenance:
        left_out = "; the others are excluded" if found.is_sample else ""
        return f"{by}: {n_labelled} of {n_detected} detected crashes have an imported label{left_out}."
    told = ", ".join(
        f"{count(found.provenance[name])} {name}"
        for name in Provenance
        if name in found.provenance
    )
    if not found.is_sample:
        return f"{by}: all {n_detected} detected crashes have a final label ({told})."
    said = (
        f"{by}, estimated from {n_labelled} labelled of {n_detected} detected crashes ({told}): each label stands for "
        "the unlabelled verdicts of its stratum. The winner of each instance is unknown, so gained, lost and p are "
        "dashes."
    )
    return (
        said
        + (_open(found.n_open) if found.n_open else "")
        + (_uncovered(found.n_uncovered) if found.n_uncovered else "")
    )


def _open(n: int) -> str:
    return f" {count(n)} sampled verdicts have no final label; if these are the hard ones, the rates are biased."


def _uncovered(n: int) -> str:
    return (
        f" {count(n)} of them are outside the population or in a stratum without labels: rates that need them "
        "are dashes too."
    )
