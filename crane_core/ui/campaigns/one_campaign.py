"""The list of campaigns, and one of them for its lead: progress, what to decide, gold items, export, lock."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from crane_core.domain import Listed
from crane_core.pipeline.campaigns.disputes import disputes, undecided
from crane_core.pipeline.campaigns.gold_scores import GoldScore
from crane_core.pipeline.campaigns.plan_outline import query_words
from crane_core.pipeline.campaigns.status import CampaignStatus, campaign_status
from crane_core.ui import data
from crane_core.ui.campaigns.closing import draw_export, draw_lock
from crane_core.ui.campaigns.flagged import draw_flagged
from crane_core.ui.campaigns.guideline import draw_guideline_of
from crane_core.ui.campaigns.judges import draw_judges
from crane_core.ui.campaigns.people import draw_people
from crane_core.ui.campaigns.plan_view import titles_of
from crane_core.ui.campaigns.progress import (
    draw_agreement,
    draw_drift,
    draw_outcomes,
    draw_progress,
)
from crane_core.ui.grid import grid
from crane_core.ui.inventory_view import draw_one
from crane_core.ui.navigation import turn
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.words import NOTHING, count, literal, percent


def draw_list(names: list[str]) -> None:
    """One box per campaign; one that cannot be read says why and does not stop the others."""
    for name in names:
        with refusals_shown():
            _draw(campaign_status(data.folder(), name))


def _draw(status: CampaignStatus) -> None:
    plan, lock = status.plan, status.lock
    done, of = (
        sum(entry.n_done for entry in status.progress),
        sum(entry.n_all for entry in status.progress),
    )
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            turn(f"**{literal(plan.title)}**", campaign=plan.campaign)
            st.caption(
                f"locked {lock.locked_at[:10]}" if lock else "open",
                width="stretch",
                text_alignment="right",
            )
        st.progress(done / of if of else 0.0)
        st.caption(
            f"{count(len(plan.items))} items, {', '.join(map(literal, plan.annotators))}: {count(done)} of "
            f"{count(of)} labels given, {count(status.n_undecided)} items undecided, {count(status.n_flagged)} flagged"
        )


def draw_gold(status: CampaignStatus) -> None:
    """A row per annotator: how many are labelled, how many right, and the accuracy with its interval."""
    is_told = status.plan.gold_feedback
    grid(
        pd.DataFrame(_row(score) for score in status.gold),
        height="content",
        width=640,
    )
    st.caption(
        "Items with a known label, mixed into everybody's order. "
        + (
            "Annotators are told after each; the first label counts. "
            if is_told
            else "Annotators are not told. "
        )
        + "95% intervals over cases. Gold items enter no outcome and no estimate."
    )


def _row(score: GoldScore) -> dict[str, str]:
    found = score.accuracy
    return {
        "Annotator": score.annotator,
        "Labelled": f"{count(found.n)} of {count(score.n_all)}",
        "Right": count(score.n_right),
        "Accuracy": percent(found.value) if found.n else NOTHING,
        "95% interval": f"{percent(found.low)} to {percent(found.high)}"
        if found.n
        else NOTHING,
    }


def draw_campaign(campaign: str) -> None:
    """The whole page of one campaign."""
    st.title(literal(campaign), anchor=False)
    turn("All campaigns")
    status = campaign_status(data.folder(), campaign)
    _draw_head(status)
    st.subheader("Progress", anchor="progress")
    draw_progress(status)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Agreement so far", anchor="agreement")
        draw_agreement(status)
        st.subheader("Decide", anchor="decide")
        _draw_queue(status)
    with right:
        st.subheader("Final labels", anchor="final")
        draw_outcomes(status.plan)
    st.subheader("LLM judges", anchor="judges")
    draw_judges(status)
    st.subheader("Flagged items", anchor="flagged")
    draw_flagged(status)
    if status.gold:
        st.subheader("Gold items", anchor="gold")
        draw_gold(status)
    st.subheader("People and rounds", anchor="people")
    draw_people(status)
    st.subheader("Labels over time", anchor="drift")
    draw_drift(status)
    st.subheader("Guideline", anchor="guideline")
    draw_guideline_of(status)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Export", anchor="export")
        draw_export(status)
    with right:
        st.subheader("Lock", anchor="lock")
        draw_lock(status)
    draw_one(Listed.CAMPAIGN, campaign)


def _draw_head(status: CampaignStatus) -> None:
    plan = status.plan
    by = f" by {plan.created_by}" if plan.created_by else ""
    blind = "blind" if plan.blind else "not blind"
    named = f"{plan.title}: " if plan.title != plan.campaign else ""
    st.caption(
        literal(
            f"{named}{count(len(plan.items))} of {count(plan.population_size)} verdicts, "
            f"{query_words(plan.population, titles_of(plan.population))}; {blind}; made {plan.created_at[:10]}{by}"
        )
    )


def _draw_queue(status: CampaignStatus) -> None:
    found = disputes(data.folder(), status.plan)
    waiting = undecided(found)
    n_differ = sum(entry.differs for entry in waiting)
    if status.lock is not None:
        st.caption(
            f"{count(len(found) - len(waiting))} were decided before the lock."
        )
    elif not waiting:
        st.caption(
            f"No disagreements to resolve; {count(len(found))} are decided."
        )
    else:
        st.markdown(
            f"{count(n_differ)} items with different labels, {count(len(waiting) - n_differ)} flagged."
        )
        turn(
            f"**Decide {count(len(waiting))} items**",
            campaign=status.plan.campaign,
            decide="next",
        )
