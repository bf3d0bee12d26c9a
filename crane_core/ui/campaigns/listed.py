"""The list of campaigns: a title that says what waits in all of them, and a box per campaign."""

from html import escape

import streamlit as st

from crane_core.pipeline.campaigns.status import CampaignStatus, campaign_status
from crane_core.ui import data
from crane_core.ui.campaigns import campaign_words
from crane_core.ui.campaigns.one_campaign import draw_main_button
from crane_core.ui.headline import draw_headline
from crane_core.ui.navigation import turn
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.words import listed, literal, sentence_case


def draw_list(names: list[str]) -> None:
    """One that cannot be read says why and does not stop the others."""
    head = st.container()
    statuses: list[CampaignStatus] = []
    for name in names:
        with refusals_shown():
            statuses.append(campaign_status(data.folder(), name))
    # What is finished stands behind what waits for somebody.
    statuses.sort(key=lambda status: status.lock is not None)
    with head:
        draw_headline(campaign_words.list_headline(statuses), tab="Campaigns")
    with st.container(key="cards_of_campaigns"):
        for status in statuses:
            _draw(status, is_only=len(statuses) == 1)


def _draw(status: CampaignStatus, *, is_only: bool) -> None:
    """A box; of the only campaign, the title of the page has its name and answer, and the box what comes next."""
    plan = status.plan
    title = campaign_words.short_title(plan.title)
    with st.container(border=True, gap="xsmall"):
        with st.container(
            horizontal=True,
            vertical_alignment="center",
            horizontal_alignment="left" if is_only else "distribute",
        ):
            if not is_only:
                turn(f"**{literal(title)}**", campaign=plan.campaign)
            st.html(campaign_words.chip_html(status), width="content")
            if is_only:
                draw_main_button(status)
                turn("Open campaign", campaign=plan.campaign)
        if not is_only:
            st.markdown(
                literal(f"{sentence_case(campaign_words.answer(status))}.")
            )
        bar = ""
        if status.lock is None and status.n_done:
            share = status.n_done / status.n_all
            bar = f'<div class="cw-how-far"><i style="--share: {share:.3f}"></i></div>'
        named = "" if title == plan.campaign else f"{plan.campaign}: "
        people = f"{named}{listed(plan.annotators)}, {campaign_words.work_words(plan)}"
        st.html(
            f'{bar}<div class="cw-created">{escape(people)}; created '
            f"<time>{escape(plan.created_at[:10])}</time>.</div>"
        )
