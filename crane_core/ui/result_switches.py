"""The one switch of the results: how runs become a prediction, what a diagnosis is worth, which experiment."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd
import streamlit as st

from crane_core.domain import DetectorKind
from crane_core.pipeline.judging.judged import annotators_of
from crane_core.pipeline.results.beside import SHIPPED, beside, with_shipped
from crane_core.pipeline.results.comparisons import (
    comparison_from,
    comparison_text,
    comparisons,
)
from crane_core.pipeline.results.measures import (
    WITH_STATE,
    Credit,
    Inputs,
    VoteRule,
)
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import data, keys, url_state
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.words import KIND_WORDS, experiment_words, inputs_short

STUDY = "crane-llm-2025-10"
KIND_HELP = """Which detectors to compare. p-values are adjusted over the detectors shown. A rehearsal predicts nothing:
the target cell was executed in a copy of the kernel."""
RULE_HELP = """How the runs of one instance become one prediction.
- **majority**: crash if more than half of the answered runs say so (the paper's rule)
- **mean of runs**: each run counts its share
- **all runs**: crash only if every answered run says so"""
CREDIT_HELP = """What a detected crash is worth.
- **correct diagnosis**: the diagnosis was judged correct (the paper's end-to-end measure)
- **half credit for partial**: a partially correct diagnosis counts half
- **detection only**: predicting the crash is enough

An experiment without labelled diagnoses shows detection only. Labels are of the majority verdict; one counts
for every run that predicted the crash."""


JUDGE_HELP = """Whose labels say whether a diagnosis is correct: people of an imported study, a pass of its LLM judge,
or the final outcomes of a campaign that is locked."""


BESIDE_HELP = """Our rules' answers, and your own runs of any kind of detector and input, in the same charts
and tables. Their diagnoses have no labels, so only detection is compared."""
COMPARE_HELP = """Which two inputs of a detector the charts compare, over the instances that it answered with both.
It offers the inputs that a detector shown here was asked with.
- **−RT**: code only
- **+RT**: with runtime state
- **+RT−S, +RT−R, +RT−V**: without structure, representation or values
- **+RT+D**: with API documentation
- **+RT+**: with more facts than the published extractor records"""


class ResultChoice(NamedTuple):
    """What the switches say: which rows are meant, by all but rule, credit and inputs, and how they count."""

    benchmark: str
    experiment: str
    kind: DetectorKind
    rule: VoteRule
    credit: Credit
    annotator: str = PUBLISHED_HUMAN
    beside: tuple[str, ...] = ()
    inputs: Inputs = WITH_STATE

    def rows(self) -> pd.DataFrame:
        """The rows of the verdict frame that these switches are about, judged by their annotator."""
        return _rows(
            # Rule, credit and inputs change no row: with the defaults in their place, one cached frame serves
            # all of them.
            self._replace(
                rule=VoteRule.MAJORITY, credit=Credit.STRICT, inputs=WITH_STATE
            ),
        )

    def rows_judged_by(self, annotator: str) -> pd.DataFrame:
        """Those with the compared inputs, as another annotator judged them."""
        return _shown(self._replace(annotator=annotator), self.inputs)

    def conditions(self) -> pd.DataFrame:
        """The conditions of these rows, for `pipeline.results.case_measures.compared_by_case`."""
        known = data.conditions()
        known = known.assign(
            asked=known["detector"],
            is_beside=known["experiment"].isin(self.beside),
        )
        shown = beside(
            known[known["benchmark"] == self.benchmark],
            self.experiment,
            self.beside,
        )
        return shown[(shown["detector_kind"] == self.kind) | shown["is_beside"]]


@data.kept(data.answers, 16)
def _rows(chosen: ResultChoice) -> pd.DataFrame:
    return _shown(chosen)


def _shown(chosen: ResultChoice, inputs: Inputs | None = None) -> pd.DataFrame:
    """The rows with these inputs, judged by the annotator before detectors beside the study get other names."""
    verdicts = data.verdicts()
    is_beside = verdicts["experiment"].isin(chosen.beside)
    is_meant = (verdicts["detector_kind"] == chosen.kind) & verdicts[
        "experiment"
    ].isin(with_shipped(chosen.experiment))
    is_meant = (is_meant | is_beside) & (
        verdicts["benchmark"] == chosen.benchmark
    )
    rows = verdicts[
        is_meant
        if inputs is None
        else is_meant & verdicts["setting"].isin(inputs)
    ]
    return beside(
        data.judged(rows, chosen.annotator), chosen.experiment, chosen.beside
    )


@data.kept(data.answers, 16, copied=True)
def _compared(chosen: ResultChoice) -> list[str]:
    """The comparisons that these switches leave, as the address says them."""
    return [comparison_text(inputs) for inputs in comparisons(chosen.rows())]


@data.kept(data.revision, 16, copied=True)
def _judges(benchmark: str, experiment: str, kind: str) -> list[str]:
    """Whose labels can judge the experiment's detectors of this kind."""
    verdicts = data.verdicts()
    shown = verdicts[
        (verdicts["benchmark"] == benchmark)
        & verdicts["experiment"].isin(with_shipped(experiment))
    ]
    return annotators_of(
        data.who_labelled(),
        shown[shown["detector_kind"] == kind],
        data.judging_campaigns(),
    )


def draw_switches() -> ResultChoice | None:
    """The switches in one row; None, after saying what to do, when nothing has been measured."""
    measured = data.measured()
    if measured.empty:
        st.info(
            "There are no answers of detectors yet. Import results on the Data page."
        )
        return None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        titles = data.benchmark_titles()
        benchmark = pick(
            "Benchmark", _by_size(measured), keys.BENCHMARK, titles.__getitem__
        )
        measured = measured[measured["benchmark"] == benchmark]
        experiment = pick(
            "Experiment",
            _experiments(measured),
            keys.EXPERIMENT,
            experiment_words,
        )
        added = _beside(measured, experiment)
        measured = measured[
            measured["experiment"].isin(with_shipped(experiment))
        ]
        kinds = [
            str(kind)
            for kind in KIND_WORDS
            if kind in set(measured["detector_kind"])
        ]
        kind = _switch(
            "Detectors",
            kinds,
            keys.KIND,
            KIND_HELP,
            lambda name: KIND_WORDS[DetectorKind(name)],
        )
        if kind == DetectorKind.REHEARSAL:
            return _executed(benchmark, experiment)
        rule = _switch(
            "Runs", [str(rule) for rule in VoteRule], keys.VOTE, RULE_HELP, str
        )
        annotators = _annotators(
            measured[measured["detector_kind"] == kind],
            benchmark,
            experiment,
            kind,
        )
        # Runs that are added may lack labelled diagnoses, and a chart must not mix two measures.
        credits = (
            [str(credit) for credit in Credit]
            if annotators and not added
            else [str(Credit.DETECTION)]
        )
        credit = _switch(
            "Count a crash as detected if",
            credits,
            keys.CREDIT,
            CREDIT_HELP,
            str,
        )
        annotator = pick(
            "Diagnoses judged by",
            annotators or [PUBLISHED_HUMAN],
            keys.JUDGED_BY,
            str,
            JUDGE_HELP,
        )
        chosen = ResultChoice(
            benchmark,
            experiment,
            DetectorKind(kind),
            VoteRule(rule),
            Credit(credit),
            annotator,
            tuple(added),
        )
        return chosen._replace(inputs=_inputs(chosen))


def _executed(benchmark: str, experiment: str) -> ResultChoice:
    """A rehearsal has one run, one input and no diagnosis: nothing else is drawn to choose from."""
    # The address should say nothing that has no effect.
    for key in (keys.VOTE, keys.CREDIT, keys.JUDGED_BY, keys.COMPARE):
        url_state.drop(key)
    return ResultChoice(
        benchmark,
        experiment,
        DetectorKind.REHEARSAL,
        VoteRule.MAJORITY,
        Credit.DETECTION,
    )


def _inputs(chosen: ResultChoice) -> Inputs:
    """The two inputs to compare; not drawn without a choice. The study's if there are none."""
    options = _compared(
        chosen._replace(rule=VoteRule.MAJORITY, credit=Credit.STRICT)
    )
    if not options:
        url_state.drop(keys.COMPARE)
        return WITH_STATE
    words = {text: inputs_short(comparison_from(text)) for text in options}
    return comparison_from(
        pick(
            "Inputs compared",
            options,
            keys.COMPARE,
            words.__getitem__,
            COMPARE_HELP,
        )
    )


def _beside(measured: pd.DataFrame, experiment: str) -> list[str]:
    """Runs to show with the experiment, shipped or own; nothing is drawn if there are none.

    A rehearsal is separate: what was executed is never shown as one of the predictions.
    """
    ran = data.run_list()
    executed = measured["detector_kind"] == DetectorKind.REHEARSAL
    if executed[measured["experiment"] == experiment].all():
        url_state.drop(keys.BESIDE)
        return []
    measured = measured[~executed]
    is_ours = ran["is_job"] | ran["experiment"].isin(
        SHIPPED.get(experiment, ())
    )
    own = set(ran.loc[is_ours, "experiment"]) & set(measured["experiment"]) - {
        experiment
    }
    if not own:
        url_state.drop(keys.BESIDE)
        return []
    return url_state.many_of(
        "Beside it",
        sorted(own),
        key=keys.BESIDE,
        placeholder="our rules, own runs",
        format_func=experiment_words,
        width=320,
        help=BESIDE_HELP,
    )


def _annotators(measured: pd.DataFrame, *experiment: str) -> list[str]:
    """Whose labels can be used here; only the study's, with a warning, if the campaigns cannot be read."""
    names = [PUBLISHED_HUMAN] if measured["is_judged"].any() else []
    with refusals_shown():
        names[:] = _judges(*experiment)
    return names


def pick(
    label: str,
    options: list[str],
    key: str,
    words: Callable[[str], str],
    help_text: str | None = None,
) -> str:
    """A selectbox whose default is the first option; not drawn without a choice."""
    if len(options) == 1:
        # A link may name a value that is not there any more, also where nothing is drawn to choose from.
        url_state.note_unknown(key, label, options)
        url_state.drop(key)
        return options[0]
    looks = {"format_func": words, "width": 320, "help": help_text}
    return str(
        url_state.one_of(
            st.selectbox, label, options, key=key, default=options[0], **looks
        )
    )


def _switch(
    label: str,
    options: list[str],
    key: str,
    help_text: str,
    words: Callable[[str], str],
) -> str:
    return url_state.switch(
        label, options, key=key, help=help_text, format_func=words
    )


def _by_size(measured: pd.DataFrame) -> list[str]:
    sizes = (
        measured.groupby("benchmark", sort=False)["n"]
        .sum()
        .sort_values(ascending=False, kind="stable")
    )
    return [str(name) for name in sizes.index]


def _experiments(measured: pd.DataFrame) -> list[str]:
    names = measured["experiment"].unique().tolist()
    return sorted(names, key=lambda name: (name != STUDY, name))
