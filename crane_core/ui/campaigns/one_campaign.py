"""One campaign for its lead: progress, speed and drift, agreement, what to decide, export, lock."""

from __future__ import annotations

import streamlit as st

from crane_core.domain import Listed
from crane_core.pipeline.campaigns.disputes import disputes, undecided
from crane_core.pipeline.campaigns.plan_outline import query_words
from crane_core.pipeline.campaigns.status import CampaignStatus, campaign_status
from crane_core.ui import data
from crane_core.ui.campaigns.closing import draw_export, draw_lock
from crane_core.ui.campaigns.flagged import draw_flagged
from crane_core.ui.campaigns.gold import draw_gold
from crane_core.ui.campaigns.guideline import draw_guideline_of
from crane_core.ui.campaigns.judges import draw_judges
from crane_core.ui.campaigns.outcomes import draw_agreement, draw_outcomes
from crane_core.ui.campaigns.people import draw_people
from crane_core.ui.campaigns.plan_view import titles_of
from crane_core.ui.campaigns.progress import draw_drift, draw_progress
from crane_core.ui.inventory_view import draw_one
from crane_core.ui.navigation import turn
from crane_core.ui.words import count, literal


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
        st.caption(f"{count(len(found) - len(waiting))} were decided before the lock.")
    elif not waiting:
        st.caption(f"No disagreements to resolve; {count(len(found))} are decided.")
    else:
        st.markdown(
            f"{count(n_differ)} items with different labels, {count(len(waiting) - n_differ)} flagged."
        )
        turn(
            f"**Decide {count(len(waiting))} items**",
            campaign=status.plan.campaign,
            decide="next",
        )
