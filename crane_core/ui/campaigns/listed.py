"""The list of campaigns: a title that says what waits in all of them, and a box per campaign."""

from html import escape

import streamlit as st

from crane_core.pipeline.campaigns.status import CampaignStatus, campaign_status
from crane_core.ui import data, keys
from crane_core.ui.campaigns import campaign_words
from crane_core.ui.headline import draw_headline
from crane_core.ui.navigation import turn
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.words import count, literal, sentence_case


def draw_list(names: list[str]) -> None:
    """One that cannot be read says why and does not stop the others."""
    head = st.container(key=keys.HEAD)  # its height stands, see style.css
    statuses: list[CampaignStatus] = []
    for name in names:
        with refusals_shown():
            statuses.append(campaign_status(data.folder(), name))
    # What is finished stands behind what waits for somebody.
    statuses.sort(key=lambda status: status.lock is not None)
    with st.container(key="cards_of_campaigns"):
        for status in statuses:
            _draw(status)
    with head:
        draw_headline(campaign_words.list_headline(statuses), tab="Campaigns")


def _draw(status: CampaignStatus) -> None:
    plan = status.plan
    with st.container(border=True, gap="xsmall"):
        with st.container(
            horizontal=True,
            vertical_alignment="center",
            horizontal_alignment="distribute",
        ):
            turn(
                f"**{literal(campaign_words.short_title(plan.title))}**",
                campaign=plan.campaign,
            )
            st.html(campaign_words.chip_html(status), width="content")
        st.markdown(literal(f"{sentence_case(campaign_words.answer(status))}."))
        if status.lock is None:
            n_all = status.n_all
            st.progress(status.n_done / n_all if n_all else 0.0)
        people = ", ".join(plan.annotators)
        items = f"{count(len(plan.items))} items, labelled by {people}"
        st.html(
            f'<div class="cw-created">{escape(f"{plan.campaign}: {items}")}; created '
            f"<time>{escape(plan.created_at[:10])}</time>.</div>"
        )
