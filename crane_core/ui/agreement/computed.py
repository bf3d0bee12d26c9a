"""Which verdicts and whose labels are compared, kept in the URL, and what the page shows of them.

Each result is computed once per choice and kept until something is loaded or labelled.
"""

from __future__ import annotations

from typing import NamedTuple

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
from crane_core.pipeline.agreement.judge_differs import judge_differs
from crane_core.pipeline.agreement.judge_powered import judge_powered
from crane_core.pipeline.campaigns.label_frame import LabellerKind, repeat_frame
from crane_core.pipeline.judging.judges import judge_passes, pooled_judges
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import data, keys, url_state
from crane_core.ui.access import is_leading
from crane_core.ui.navigation import link
from crane_core.ui.visit import visitor
from crane_core.ui.words import literal

SCOPE_HELP = """- **diagnoses of detected crashes**: most runs of an LLM predicted the crash, and it happens. Labels:
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


class AgreementChoice(NamedTuple):
    """What is compared. `blind_campaigns` are those of the chosen annotators' campaigns that are not locked."""

    scope: ComparedVerdicts
    annotators: tuple[str, ...]
    blind_campaigns: tuple[str, ...]

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
    labels = visible_labels()
    who = _annotators(labels)
    if len(who) < 2:
        _draw_nobody(list(who.index))
        return None
    scope = url_state.switch(
        "Compare",
        [str(scope) for scope in ComparedVerdicts],
        key=keys.SCOPE,
        default=str(ComparedVerdicts.DIAGNOSES),
        help=SCOPE_HELP,
    )
    names = url_state.many_of(
        "Annotators",
        list(who.index),
        key=keys.ANNOTATORS,
        default=usual_pair(labels),
        placeholder="two or more",
    )
    if len(names) < 2:
        st.info("Choose two or more annotators: people, models, or both.")
        return None
    campaigns = set(who.loc[names, "campaign"].dropna())
    return AgreementChoice(
        ComparedVerdicts(scope),
        tuple(names),
        tuple(sorted(campaigns & data.blind_campaigns())),
    )


def visible_labels() -> pd.DataFrame:
    """The label frame; a visitor who does not lead gets it without blind campaigns that are open.

    Where people log in, without any open campaign.

    Totals that an annotator reads after each label reveal what others said.
    """
    labels = data.labels()
    if is_leading():
        return labels
    if visitor().is_known:
        return labels[
            labels["campaign"].isna()
            | labels["campaign"].isin(data.locked_campaigns())
        ]
    return labels[~labels["campaign"].isin(data.blind_campaigns())]


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
        f"only {literal(names[0])} has labels here"
        if names
        else "there are no labels yet"
    )
    st.info(
        f"Agreement needs two annotators, and {only}. Import the published archive, which brings the study's LLM judge "
        "and an earlier pass of its annotators, or let two people label a campaign."
    )
    link("data", "Import the published archive")
    link("campaigns", "Create a campaign")


@data.kept(data.revision, 8)
def items(chosen: AgreementChoice) -> Items:
    """What the chosen annotators have in common."""
    return agreement.common_items(
        data.labels(),
        data.verdicts(),
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


@data.kept(data.revision, 8, copied=True)
def table(chosen: AgreementChoice) -> pd.DataFrame:
    """Every coefficient; see `pipeline.agreement.agreement.agreement_table`."""
    return agreement.agreement_table(items(chosen))


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


@data.kept(data.revision, 16, copied=True)
def _with_judges(scope: ComparedVerdicts, person: str) -> pd.DataFrame:
    judges = judge_passes(data.store())["annotator"].tolist()
    found = agreement.common_items(
        data.labels(), data.verdicts(), [*judges, person], scope
    )
    return agreement.agreement_with_judges(found, person, judges)


def with_judges(chosen: AgreementChoice) -> tuple[str | None, pd.DataFrame]:
    """The person compared with every pass of every judge, and their agreement; None if no person has labels."""
    person = _person(chosen)
    return person, _with_judges(
        chosen.scope, person
    ) if person else pd.DataFrame()


@data.kept(data.revision, 8, copied=True)
def _powered(person: str) -> pd.DataFrame:
    return judge_powered(
        data.labels(),
        data.verdicts(),
        person,
        pooled_judges(judge_passes(data.store())),
    )


def powered(chosen: AgreementChoice) -> tuple[str | None, pd.DataFrame]:
    """The person, and the share of correct diagnoses by each judge's labels; see `pipeline.agreement.judge_powered`."""
    person = _person(chosen)
    return person, _powered(person) if person else pd.DataFrame()


@data.kept(data.revision, 8, copied=True)
def _differs(person: str) -> pd.DataFrame:
    return judge_differs(
        data.labels(),
        data.verdicts(),
        person,
        pooled_judges(judge_passes(data.store())),
    )


def differs(chosen: AgreementChoice) -> tuple[str | None, pd.DataFrame]:
    """The person, and how often each judge labels differently; see `pipeline.agreement.judge_differs`."""
    person = _person(chosen)
    return person, _differs(person) if person else pd.DataFrame()


def _person(chosen: AgreementChoice) -> str | None:
    """The first person chosen whose labels are the study's, as those of judges are, else the study's own."""
    who = (
        data.labels()
        .drop_duplicates("annotator")
        .set_index("annotator")["kind"]
    )
    people = [
        name
        for name in (*chosen.annotators, PUBLISHED_HUMAN)
        if name in who.index and who[name] != LabellerKind.JUDGE
    ]
    # Labels of another set cannot be compared with those of judges, who choose from the study's.
    people = [
        name for name in people if means_the_study(data.label_set_of([name]))
    ]
    return people[0] if people else None


@data.kept(data.answers, 4, copied=True)
def consistency(scope: ComparedVerdicts) -> pd.DataFrame:
    """Consistency of judges; see `pipeline.agreement.agreement.judge_consistency`."""
    passes = judge_passes(data.store())
    found = agreement.common_items(
        data.labels(), data.verdicts(), passes["annotator"].tolist(), scope
    )
    return agreement.judge_consistency(found, passes)


@data.kept(data.revision, copied=True)
def repeats() -> pd.DataFrame:
    """Consistency of annotators; see `pipeline.agreement.agreement.self_agreement`."""
    return agreement.self_agreement(
        repeat_frame(data.folder()), data.campaign_labels()
    )


def prepare_usual() -> None:
    """Compute what the page shows before a choice; nothing if there are not two annotators."""
    usual = tuple(agreement.usual_pair(data.labels()))
    campaigns = set(
        data.labels()
        .loc[data.labels()["annotator"].isin(usual), "campaign"]
        .dropna()
    )
    if len(usual) == 2 and not campaigns:
        chosen = AgreementChoice(ComparedVerdicts.DIAGNOSES, usual, ())
        for compute in (table, with_judges, differs, powered):
            compute(chosen)
        consistency(chosen.scope)
        groups(chosen, agreement.KAPPA, "detector_title")
        repeats()
