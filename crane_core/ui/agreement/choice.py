"""Which verdicts and whose labels are compared, kept in the URL, and what may be shown of them."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import streamlit as st

from crane_core.pipeline.agreement.agreement import ComparedVerdicts, usual_pair
from crane_core.pipeline.campaigns.label_frame import LabellerKind
from crane_core.ui import data, keys, url_state
from crane_core.ui.campaign_lead import is_leading
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
        return "diagnoses" if self.scope is ComparedVerdicts.DIAGNOSES else "verdicts"


def draw_choice() -> AgreementChoice | None:
    """Both switches; None, after saying what to do, where there are not two annotators to compare."""
    labels = visible_labels()
    who = _annotators(labels)
    if len(who) < 2:
        _draw_nobody(list(who.index))
        return None
    scope = url_state.one_of(
        st.segmented_control,
        "Compare",
        [str(scope) for scope in ComparedVerdicts],
        key=keys.SCOPE,
        default=str(ComparedVerdicts.DIAGNOSES),
        required=True,
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
        ComparedVerdicts(str(scope)),
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
            labels["campaign"].isna() | labels["campaign"].isin(data.locked_campaigns())
        ]
    return labels[~labels["campaign"].isin(data.blind_campaigns())]


def _annotators(labels: pd.DataFrame) -> pd.DataFrame:
    """Kind and campaign of every annotator, by name."""
    who = labels[["annotator", "kind", "campaign"]].drop_duplicates("annotator")
    place = {kind: number for number, kind in enumerate(ORDER)}
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
