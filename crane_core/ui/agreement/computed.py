"""Which verdicts and whose labels are compared, kept in the URL, and what the page shows of them.

Each result is computed once per choice and kept until something is loaded or labelled.
"""

from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet, means_the_study
from crane_core.pipeline.agreement import agreement
from crane_core.pipeline.agreement.agreement import (
    MIN_COMMON_WHEN_BLIND,
    ComparedVerdicts,
    Items,
    usual_pair,
)
from crane_core.pipeline.agreement.judges_beside import (
    judge_differs,
    judge_powered,
)
from crane_core.pipeline.agreement.labelled import (
    LabelledVerdicts,
    labelled_verdicts,
)
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.label_frame import LabellerKind, repeat_frame
from crane_core.pipeline.judging.judges import judge_passes, pooled_judges
from crane_core.pipeline.rows import as_rows
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import data, keys, url_state
from crane_core.ui.access import is_leading
from crane_core.ui.caption import source_words
from crane_core.ui.navigation import link
from crane_core.ui.visit import visitor
from crane_core.ui.words import literal

SCOPE_HELP = """- **diagnoses of detected crashes**: most answers of an LLM predict the crash, and it happens. Labels:
  correct, partial, wrong, from best to worst, or those of the annotators' campaign
- **all verdicts**: every verdict of every detector. Labels: the five outcomes of detection and diagnosis, which have
  no order, so coefficients that need one have no value"""
ORDER = (
    LabellerKind.ANNOTATOR,
    LabellerKind.FINAL,
    LabellerKind.HUMAN,
    LabellerKind.JUDGE,
)
"""Order of the annotators in the list: people who label here come first."""


WAYS = (
    (
        "data",
        "Import the published archive",
        "**The study's labels.** The published archive brings those of its LLM judge and an earlier pass of its "
        "people: agreement is shown at once.",
    ),
    (
        "campaigns",
        "Create a campaign",
        "**Your own labels.** Two people label the same diagnoses in a campaign, blind to each other; totals appear "
        f"from {MIN_COMMON_WHEN_BLIND} common labels on.",
    ),
)
"""What brings a second annotator: the page, its link, and why."""


class AgreementChoice(NamedTuple):
    """What is compared: annotators with their kinds and campaigns; of those, `blind_campaigns` are not locked."""

    scope: ComparedVerdicts
    annotators: tuple[str, ...]
    kinds: tuple[str, ...]
    campaigns: tuple[str, ...] = ()
    blind_campaigns: tuple[str, ...] = ()

    @property
    def noun(self) -> str:
        """What is compared, in a word for sentences."""
        return (
            "diagnoses"
            if self.scope is ComparedVerdicts.DIAGNOSES
            else "verdicts"
        )


def draw_choice() -> AgreementChoice | None:
    """Both switches; None, after saying what to do, where there are not two annotators to compare."""
    who, usual = _visible()
    if len(who) < 2:
        _draw_nobody(list(who.index))
        return None
    with st.container(horizontal=True):
        with st.container(width=360):
            scope = url_state.switch(
                "Compare",
                [str(scope) for scope in ComparedVerdicts],
                key=keys.SCOPE,
                default=str(ComparedVerdicts.DIAGNOSES),
                help=SCOPE_HELP,
            )
        with st.container(width=640):
            names = url_state.many_of(
                "Annotators",
                list(who.index),
                key=keys.ANNOTATORS,
                default=usual,
                placeholder="two or more",
            )
    if len(names) < 2:
        st.info("Choose two or more annotators: people, models, or both.")
        return None
    campaigns = set(who.loc[names, "campaign"].dropna())
    return AgreementChoice(
        ComparedVerdicts(scope),
        tuple(names),
        tuple(who.loc[names, "kind"]),
        campaigns=tuple(sorted(campaigns)),
        blind_campaigns=tuple(sorted(campaigns & data.blind_campaigns())),
    )


class Known(NamedTuple):
    """Kind and campaign of every annotator, by name, and those compared at first."""

    who: pd.DataFrame
    usual: list[str]


def _visible() -> Known:
    """Without blind campaigns that are open, for a visitor who does not lead; where people log in, without open ones.

    Totals that an annotator reads after each label reveal what others said.
    """
    if is_leading():
        return _known()
    if visitor().is_known:
        return _known(only=tuple(sorted(data.locked_campaigns())))
    return _known(without=tuple(sorted(data.blind_campaigns())))


@data.kept(data.revision, 8)
def _known(
    *, only: tuple[str, ...] | None = None, without: tuple[str, ...] = ()
) -> Known:
    """Of labels that belong to no campaign, to one of `only` where it is given, or to one that is not in `without`."""
    labels = data.labels()
    campaign = labels["campaign"]
    is_shown = ~campaign.isin(without)
    if only is not None:
        is_shown &= campaign.isna() | campaign.isin(only)
    labels = labels[is_shown]
    return Known(
        _annotators(labels), usual_pair(labels, data.blind_campaigns())
    )


def _annotators(labels: pd.DataFrame) -> pd.DataFrame:
    """Kind and campaign of every annotator, by name."""
    who = labels[["annotator", "kind", "campaign"]].drop_duplicates("annotator")
    place = {kind: number for number, kind in enumerate(ORDER)}
    # Stable, so that annotators of one kind keep the order of the label frame.
    return who.sort_values(
        "kind", key=lambda kinds: kinds.map(place), kind="stable"
    ).set_index("annotator")


def _draw_nobody(names: list[str]) -> None:
    only = (
        f"Only {literal(names[0])} has labels here"
        if names
        else "There are no labels yet"
    )
    st.markdown(f"{only}. Two ways to more:")
    with st.container(horizontal=True, gap="medium"):
        for page, words, about in WAYS:
            with st.container(border=True, width=420):
                st.markdown(about)
                link(page, words)


@data.kept(data.revision, 1)
def labelled() -> LabelledVerdicts:
    """Every verdict with all of its labels."""
    return labelled_verdicts(data.labels(), data.verdicts())


@data.kept(data.revision, 1)
def passes() -> pd.DataFrame:
    """Every pass of every judge; see `pipeline.judging.judges.judge_passes`."""
    return judge_passes(data.store())


@data.kept(data.revision, 8)
def items(chosen: AgreementChoice) -> Items:
    """What the chosen annotators have in common."""
    return agreement.common_items(
        labelled(),
        chosen.annotators,
        chosen.scope,
        label_set(chosen),
    )


def label_set(chosen: AgreementChoice) -> LabelSet:
    """What the chosen annotators chose from."""
    return data.label_set_of(chosen.annotators)


def gives_labels_away(chosen: AgreementChoice) -> bool:
    """Whether even totals would reveal single labels of a campaign that is not locked."""
    return (
        bool(chosen.blind_campaigns)
        and len(items(chosen).facts) < MIN_COMMON_WHEN_BLIND
    )


@data.kept(data.revision, 8)
def judge_gate(campaigns: tuple[str, ...]) -> float:
    """The highest gate that the plans of these campaigns name for judges; 0 without one."""
    plans = [kept_campaign(data.folder(), name).plan for name in campaigns]
    return max((plan.design.judge_gate for plan in plans), default=0.0)


@data.kept(data.revision, 16, copied=True)
def table(chosen: AgreementChoice, names: tuple[str, ...]) -> pd.DataFrame:
    """Coefficients of these names; see `pipeline.agreement.agreement.agreement_table`."""
    return agreement.agreement_table(items(chosen), names)


def main_names(chosen: AgreementChoice) -> tuple[str, ...]:
    """The three coefficients that the page shows at once, the headline's first."""
    return agreement.main_coefficients(items(chosen))


def main_rows(chosen: AgreementChoice) -> dict[str, dict[str, Any]]:
    """The rows of those and of percent agreement, by the coefficient's name."""
    names = (*main_names(chosen), agreement.PERCENT)
    return {row["coefficient"]: row for row in as_rows(table(chosen, names))}


def source_of(facts: pd.DataFrame) -> str:
    """Where labelled verdicts come from, for a caption; facts: with the columns of KEY."""
    benchmarks = map(data.benchmark_title, facts["benchmark"].unique())
    return source_words(
        ", ".join(benchmarks), *map(str, facts["experiment"].unique())
    )


@data.kept(data.revision, 8, copied=True)
def pairwise(chosen: AgreementChoice) -> pd.DataFrame:
    """Kappa of each two; of a campaign that is not locked only pairs whose totals reveal no single label."""
    found = agreement.pairwise(items(chosen))
    # All together may have enough items in common where two of them do not.
    return (
        found[found["n"] >= MIN_COMMON_WHEN_BLIND]
        if chosen.blind_campaigns
        else found
    )


@data.kept(data.revision, 32, copied=True)
def groups(chosen: AgreementChoice, coefficient: str, by: str) -> pd.DataFrame:
    """One coefficient by group; see `pipeline.agreement.agreement.agreement_by`."""
    return agreement.agreement_by(items(chosen), coefficient, by)


class WithJudges(NamedTuple):
    """A person and passes of judges: `agreement.agreement_with_judges`, and where their labels come from."""

    person: str
    table: pd.DataFrame
    source: str


@data.kept(data.revision, 16, copied=True)
def _with_judges(
    scope: ComparedVerdicts, person: str, judges: tuple[str, ...]
) -> WithJudges:
    found = agreement.common_items(
        labelled(),
        [*judges, person],
        scope,
    )
    return WithJudges(
        person,
        agreement.agreement_with_judges(found, person, judges),
        source_of(found.facts),
    )


def with_judges(
    chosen: AgreementChoice, *, single: bool = False
) -> WithJudges | None:
    """The person beside every judge in either order of texts, or beside its single repetitions.

    None if no person or no judge has labels.
    """
    person, judges = _person(chosen), _judges(single=single)
    if person is None or not judges:
        return None
    return _with_judges(chosen.scope, person, judges)


def _judges(*, single: bool) -> tuple[str, ...]:
    known = passes()
    pooled = pooled_judges(known)
    if not single:
        return tuple(pooled)
    return tuple(
        name for name in known["annotator"].tolist() if name not in pooled
    )


@data.kept(data.revision, 8, copied=True)
def _powered(person: str) -> pd.DataFrame:
    return judge_powered(
        labelled(),
        person,
        pooled_judges(passes()),
    )


def powered(chosen: AgreementChoice) -> tuple[str | None, pd.DataFrame]:
    """The person, and the share of correct diagnoses by each judge's labels; see `pipeline.agreement.judge_powered`."""
    person = _person(chosen)
    return person, _powered(person) if person else pd.DataFrame()


@data.kept(data.revision, 8, copied=True)
def _differs(person: str) -> pd.DataFrame:
    return judge_differs(
        labelled(),
        person,
        pooled_judges(passes()),
    )


def differs(chosen: AgreementChoice) -> tuple[str | None, pd.DataFrame]:
    """The person, and how often each judge labels differently; see `pipeline.agreement.judge_differs`."""
    person = _person(chosen)
    return person, _differs(person) if person else pd.DataFrame()


def _person(chosen: AgreementChoice) -> str | None:
    """The first person chosen whose labels are the study's, as those of judges are, else the study's own."""
    people = [
        name
        for name, kind in zip(chosen.annotators, chosen.kinds, strict=True)
        if kind != LabellerKind.JUDGE
    ]
    if PUBLISHED_HUMAN in labelled().annotators:
        people.append(PUBLISHED_HUMAN)
    # Labels of another set cannot be compared with those of judges, who choose from the study's.
    people = [
        name for name in people if means_the_study(data.label_set_of([name]))
    ]
    return people[0] if people else None


@data.kept(data.answers, 4, copied=True)
def consistency(scope: ComparedVerdicts, *, single: bool) -> pd.DataFrame:
    """Consistency of judges over all repetitions, or of single ones; see `pipeline.agreement.agreement`."""
    known = passes()
    found = agreement.common_items(
        labelled(),
        known["annotator"].tolist(),
        scope,
    )
    return agreement.judge_consistency(found, known, single=single)


@data.kept(data.revision, copied=True)
def repeats() -> pd.DataFrame:
    """Consistency of annotators; see `pipeline.agreement.agreement.self_agreement`."""
    return agreement.self_agreement(
        repeat_frame(data.folder()), data.campaign_labels()
    )


def usual_choice() -> AgreementChoice | None:
    """What the page shows before a choice, without campaigns that are not locked; None without two annotators."""
    who, usual = _known(only=tuple(sorted(data.locked_campaigns())))
    if len(usual) != 2:
        return None
    return AgreementChoice(
        ComparedVerdicts.DIAGNOSES, tuple(usual), tuple(who.loc[usual, "kind"])
    )


def prepare_usual() -> None:
    """Compute what the page shows before a choice."""
    if chosen := usual_choice():
        for compute in (main_rows, with_judges, differs, powered):
            compute(chosen)
        consistency(chosen.scope, single=False)
        groups(chosen, agreement.KAPPA, "detector_title")
        repeats()
