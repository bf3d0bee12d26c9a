"""The one switch of the results: how runs become a prediction, what a diagnosis is worth, which experiment."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import streamlit as st

from crane_core.domain import DetectorKind
from crane_core.pipeline.measures import Credit, VoteRule
from crane_core.ui import data, keys, url_state
from crane_core.ui.words import experiment_words

STUDY = "crane-llm-2025-10"
RULE_HELP = """How the runs of one instance become one prediction.
- **majority**: crash if more than half of the answered runs say so (the paper's rule)
- **mean of runs**: each run counts its share
- **all five**: crash only if every answered run says so"""
CREDIT_HELP = """What a detected crash is worth.
- **correct diagnosis**: people judged the diagnosis correct (the paper's end-to-end measure)
- **half credit for partial**: a partially correct diagnosis counts half
- **detection only**: foretelling the crash is enough

An experiment whose diagnoses nobody has judged shows detection only. People labelled the majority verdict; its
label counts for every run that foretold the crash."""


class Chosen(NamedTuple):
    """What the switches say, and the rows of the verdict frame it is about."""

    benchmark: str
    experiment: str
    rule: VoteRule
    credit: Credit
    rows: pd.DataFrame


def draw_switches(*, kind: DetectorKind | None = None) -> Chosen | None:
    """The switches in one row; None, after saying what to do, when nothing has been measured."""
    verdicts = data.verdicts()
    if kind is not None:
        verdicts = verdicts[verdicts["detector_kind"] == kind]
    if verdicts.empty:
        st.info("There are no answers of detectors yet. Import results on the Data page, then come back.")
        return None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        experiments = _experiments(verdicts)
        experiment = url_state.one_of(
            st.selectbox,
            "Experiment",
            experiments,
            key=keys.EXPERIMENT,
            default=experiments[0],
            format_func=experiment_words,
            width=330,
        )
        rule = _switch("Runs", [str(r) for r in VoteRule], keys.VOTE, str(VoteRule.MAJORITY), RULE_HELP)
        credits = [str(c) for c in Credit]
        judged = verdicts[verdicts["experiment"] == experiment]["human"].notna().any()
        credit = _switch(
            "A crash counts as found with",
            credits if judged else credits[-1:],
            keys.CREDIT,
            credits[0] if judged else credits[-1],
            CREDIT_HELP,
        )
    rows = verdicts[verdicts["experiment"] == experiment]
    benchmark = str(rows["benchmark"].iloc[0])
    rows = rows[rows["benchmark"] == benchmark]
    return Chosen(benchmark, str(experiment), VoteRule(str(rule)), Credit(str(credit)), rows)


def _switch(label: str, options: list[str], key: str, default: str, help_text: str) -> str | None:
    return url_state.one_of(
        st.segmented_control, label, options, key=key, default=default, required=True, help=help_text
    )


def _experiments(verdicts: pd.DataFrame) -> list[str]:
    names = verdicts["experiment"].unique().tolist()
    return sorted(names, key=lambda name: (name != STUDY, name))
