"""What Results is about, in one line: benchmark, experiment, and a button that says how the answers are read.

The button opens the other switches: which detectors and inputs, how answers become a prediction, what a diagnosis is
worth and who judged it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import NamedTuple

import pandas as pd
import streamlit as st

from crane_core.domain import EXECUTED_KINDS, DetectorKind
from crane_core.pipeline.judging.judged import annotators_of
from crane_core.pipeline.results import comparisons, measures
from crane_core.pipeline.results.beside import SHIPPED, beside, with_shipped
from crane_core.stats.equivalence import SMALLEST_EFFECT
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import caption, data, keys, url_state
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.words import (
    KIND_WORDS,
    experiment_words,
    inputs_short,
    literal,
    sentence_case,
)

STUDY = "crane-llm-2025-10"
KIND_HELP = """Which detectors to compare. p-values are adjusted over the detectors shown. Rehearsal and repair predict
nothing: the target cell was executed in a copy of the kernel."""
RULE_HELP = """How the answers to one instance become one prediction.
- **majority**: crash if more than half of the answers say so (the paper's rule)
- **mean of answers**: each answer counts its share
- **all answers**: crash only if every answer says so"""
_OLD_RULES = {
    "mean of runs": str(measures.VoteRule.MEAN),
    "all runs": str(measures.VoteRule.ALL),
}
"""Vote rules as addresses of before name them."""
CREDIT_HELP = """What a detected crash is worth.
- **correct diagnosis**: the diagnosis was judged correct (the paper's end-to-end measure)
- **half credit for partial**: a partially correct diagnosis counts half
- **detection only**: predicting the crash is enough

An experiment without labelled diagnoses shows detection only. Labels are of the majority verdict; one counts
for every answer that predicts the crash."""


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

BOUNDS = ("5", "1", "2", "3", "10")
"""Smallest effects of interest in points, the usual one first."""
BOUND_HELP = """The smallest effect of interest. Where no test finds a gain or a loss, two one-sided tests ask whether
the difference is smaller than this; only then the outcome says so, else it is "no evidence"."""


class ResultChoice(NamedTuple):
    """What the switches say: which rows are meant, by all but rule, credit and inputs, and how they count."""

    benchmark: str
    experiment: str
    kind: DetectorKind
    rule: measures.VoteRule
    credit: measures.Credit
    annotator: str = PUBLISHED_HUMAN
    beside: tuple[str, ...] = ()
    inputs: measures.Inputs = measures.WITH_STATE
    bound: float = SMALLEST_EFFECT

    def rows(self) -> pd.DataFrame:
        """The rows of the verdict frame that these switches are about, judged by their annotator."""
        return _rows(
            # Rule, credit, inputs and bound change no row: with the defaults in their place, one cached frame
            # serves all of them.
            self._replace(
                rule=measures.VoteRule.MAJORITY,
                credit=measures.Credit.STRICT,
                inputs=measures.WITH_STATE,
                bound=SMALLEST_EFFECT,
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

    def captioned(
        self, title: str, *sentences: str, table: str = ""
    ) -> caption.Caption:
        """The caption of a chart of what these switches say: how it counts, and where its data come from."""
        how = caption.counted(self.rule, self.credit, self.annotator)
        said = [*sentences, how]
        return caption.captioned(title, said, source=self.source, table=table)

    @property
    def source(self) -> str:
        """Where the data of these switches come from, for a caption."""
        return caption.source_words(
            data.benchmark_title(self.benchmark), self.experiment, *self.beside
        )


@data.kept(data.answers, 16)
def _rows(chosen: ResultChoice) -> pd.DataFrame:
    return _shown(chosen)


def _shown(
    chosen: ResultChoice, inputs: measures.Inputs | None = None
) -> pd.DataFrame:
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
    return [
        comparisons.comparison_text(inputs)
        for inputs in comparisons.comparisons(chosen.rows())
    ]


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
    """Benchmark, experiment and the button of the reading; None, after saying what to do, without answers."""
    measured = data.measured()
    if measured.empty:
        st.info(
            "There are no answers of detectors yet. Import results on the Data page."
        )
        return None
    with st.container(
        horizontal=True, vertical_alignment="bottom", key=keys.SWITCHES
    ):
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
        url_state.read_old(keys.VOTE, _OLD_RULES)
        # The button says what is chosen behind it, so the answers are needed before the questions are drawn.
        known = _reading(measured, benchmark, experiment, HELD)
        part = "".join(url_state.asked(keys.PART)[:1])
        draw_fold(titles[benchmark], experiment_words(experiment))
        with (
            st.container(key=keys.READING, width="content"),
            st.popover(
                literal(reading_words(known, part)),
                key=keys.READING_BUTTON,
                width="content",
                wrap=True,
            ),
        ):
            if part in READING_OF:
                st.caption(
                    f"{part}: {READING_OF[part]}. Credit and labels below are for other parts."
                )
            return _reading(measured, benchmark, experiment, DRAWN)


def draw_fold(*held: str) -> None:
    """What switches hold in one line, which a phone has in their place until it is ticked; see style.css."""
    named = escape(" · ".join(held))
    st.html(f'<label class="cw-all"><input type="checkbox"> {named}</label>')


def usual_choices() -> Iterator[ResultChoice]:
    """What the switches say before anybody moves them, for every benchmark, experiment and kind of detector."""
    measured = data.measured()
    for benchmark in _by_size(measured) if len(measured) else ():
        of = measured[measured["benchmark"] == benchmark]
        for experiment in _experiments(of):
            mine = of[of["experiment"].isin(with_shipped(experiment))]
            for kind in KIND_WORDS:
                if kind in set(mine["detector_kind"].unique()):
                    yield _reading(of, benchmark, experiment, _usual(kind))


def _usual(kind: str) -> Ask:
    """Answers with the kind, and with the first of what else there is to choose from."""

    def one(_: str, options: list[str], key: str, *_looks: object) -> str:
        return kind if key == keys.KIND else options[0]

    return Ask(one, one, lambda *_, **_looks: [], lambda _: None)


class Ask(NamedTuple):
    """How a switch is answered: one value of several, one of some or none at all, and many."""

    one: Callable[..., str]
    picked: Callable[..., str]
    many: Callable[..., list[str]]
    drop: Callable[[str], None]


def _reading(
    measured: pd.DataFrame, benchmark: str, experiment: str, ask: Ask
) -> ResultChoice:
    """Everything behind the button; `ask` draws the switches, or says what they will hold."""
    added_of = _own_runs(measured, experiment)
    measured = measured[measured["experiment"].isin(with_shipped(experiment))]
    present = set(measured["detector_kind"].unique())
    kind = ask.one(
        "Detectors",
        [str(kind) for kind in KIND_WORDS if kind in present],
        keys.KIND,
        KIND_HELP,
        lambda name: KIND_WORDS[DetectorKind(name)],
    )
    if kind in EXECUTED_KINDS:
        return _executed(benchmark, experiment, DetectorKind(kind), ask)
    added = _beside(added_of, ask)
    chosen = ResultChoice(
        benchmark,
        experiment,
        DetectorKind(kind),
        measures.VoteRule.MAJORITY,
        measures.Credit.STRICT,
        beside=tuple(added),
    )
    inputs = _inputs(chosen, ask)
    rule = ask.one(
        "Vote rule",
        [str(rule) for rule in measures.VoteRule],
        keys.VOTE,
        RULE_HELP,
        str,
    )
    annotators = _annotators(
        measured[measured["detector_kind"] == kind], benchmark, experiment, kind
    )
    # Runs that are added may lack labelled diagnoses, and a chart must not mix two measures.
    credits = (
        [str(credit) for credit in measures.Credit]
        if annotators and not added
        else [str(measures.Credit.DETECTION)]
    )
    credit = ask.one(
        "Count a crash as detected if", credits, keys.CREDIT, CREDIT_HELP, str
    )
    annotator = ask.picked(
        "Diagnoses judged by",
        annotators or [PUBLISHED_HUMAN],
        keys.JUDGED_BY,
        str,
        JUDGE_HELP,
    )
    points = ask.picked(
        "Smallest effect of interest",
        list(BOUNDS),
        keys.SMALLEST,
        points_words,
        BOUND_HELP,
    )
    return chosen._replace(
        rule=measures.VoteRule(rule),
        credit=measures.Credit(credit),
        annotator=annotator,
        inputs=inputs,
        bound=float(points) / 100,
    )


def points_words(points: str) -> str:
    """A bound as its switch shows it: "5 points"."""
    return "1 point" if points == "1" else f"{points} points"


READING_OF = {
    "Combinations": "detection only",
    "Stability": "detection only",
    "Paper's tables": "as in the paper",
    "Paper's claims": "as in the paper",
}
"""Parts that read the answers in their own way, whatever vote rule, credit and labels the switches say."""


def reading_words(chosen: ResultChoice, part: str = "") -> str:
    """How these switches read the answers in a part: "Majority, correct diagnosis, published human"."""
    if chosen.kind in EXECUTED_KINDS:
        return sentence_case(KIND_WORDS[chosen.kind])
    said = [READING_OF.get(part) or f"{chosen.rule}, {chosen.credit}"]
    if chosen.kind is not DetectorKind.LLM:
        said.insert(0, KIND_WORDS[chosen.kind])
    if (
        chosen.credit is not measures.Credit.DETECTION
        and part not in READING_OF
    ):
        said.append(chosen.annotator)
    if chosen.inputs != measures.WITH_STATE:
        said.append(inputs_short(chosen.inputs))
    if chosen.bound != SMALLEST_EFFECT:
        said.append(f"from {points_words(f'{100 * chosen.bound:.4g}')} on")
    if chosen.beside:
        said.append(f"{len(chosen.beside)} beside")
    return sentence_case(", ".join(said))


def _executed(
    benchmark: str, experiment: str, kind: DetectorKind, ask: Ask
) -> ResultChoice:
    """A rehearsal or repair has one run, one input and no diagnosis: nothing else is drawn to choose from."""
    # The address should say nothing that has no effect.
    for key in (
        keys.BESIDE,
        keys.VOTE,
        keys.CREDIT,
        keys.JUDGED_BY,
        keys.COMPARE,
        keys.SMALLEST,
    ):
        ask.drop(key)
    return ResultChoice(
        benchmark,
        experiment,
        kind,
        measures.VoteRule.MAJORITY,
        measures.Credit.DETECTION,
    )


def _inputs(chosen: ResultChoice, ask: Ask) -> measures.Inputs:
    """The two inputs to compare; not drawn without a choice. The study's if there are none."""
    options = _compared(chosen)
    if not options:
        ask.drop(keys.COMPARE)
        return measures.WITH_STATE
    words = {
        text: inputs_short(comparisons.comparison_from(text))
        for text in options
    }
    return comparisons.comparison_from(
        ask.picked(
            "Inputs compared",
            options,
            keys.COMPARE,
            words.__getitem__,
            COMPARE_HELP,
        )
    )


def _own_runs(measured: pd.DataFrame, experiment: str) -> list[str]:
    """Runs that may be shown with the experiment, shipped or own.

    Rehearsals and repairs are separate: what was executed is never shown as one of the predictions.
    """
    ran = data.run_list()
    executed = measured["detector_kind"].isin(EXECUTED_KINDS)
    if executed[measured["experiment"] == experiment].all():
        return []
    is_ours = ran["is_job"] | ran["experiment"].isin(
        SHIPPED.get(experiment, ())
    )
    own = set(ran.loc[is_ours, "experiment"])
    return sorted(
        own & set(measured.loc[~executed, "experiment"]) - {experiment}
    )


def _beside(own: list[str], ask: Ask) -> list[str]:
    """Those to show; nothing is drawn if there are none."""
    if not own:
        ask.drop(keys.BESIDE)
        return []
    return ask.many(
        "Beside it",
        own,
        key=keys.BESIDE,
        placeholder="our rules, own runs",
        format_func=experiment_words,
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


DRAWN = Ask(_switch, pick, url_state.many_of, url_state.drop)
HELD = Ask(
    lambda _, options, key, *_looks: url_state.held(key, options),
    lambda _, options, key, *_looks: url_state.held(key, options),
    lambda _, options, *, key, **_looks: url_state.all_held(key, options),
    lambda _: None,
)
"""Draws nothing and leaves the address as it is."""


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
