"""Every campaign with its progress and a link to its own page."""

from __future__ import annotations

import streamlit as st

from crane_core.pipeline.campaigns.status import CampaignStatus, campaign_status
from crane_core.ui import data
from crane_core.ui.navigation import turn
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.words import count, literal


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
