"""The guideline of a campaign for its lead: the text in force, its history, and a new version while it is open."""

from collections.abc import Sequence
from itertools import pairwise

import streamlit as st

from crane_core.annotation import guideline
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns.guideline import (
    change_guideline,
    guideline_versions,
)
from crane_core.pipeline.campaigns.status import CampaignStatus
from crane_core.ui import data, keys
from crane_core.ui.guideline_view import change_html, draw_guideline
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import require, visitor
from crane_core.ui.words import literal, moment


def draw_guideline_of(status: CampaignStatus) -> None:
    """What annotators read now, what each version changed, and the form for the next."""
    versions = guideline_versions(data.folder(), status.plan)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Read it", width="content"):
            draw_guideline(versions[-1].text)
        st.caption(literal(_told(versions[-1])), width="stretch")
    for older, newer in reversed(list(pairwise(versions))):
        with st.expander(
            literal(f"Changed {moment(newer.since)} by {newer.by}")
        ):
            st.html(change_html(older.text, newer.text))
    if status.lock is None:
        _draw_change(status.plan.campaign, versions)


def _told(version: guideline.GuidelineVersion) -> str:
    return f"Version {version.version}, in force since {moment(version.since)}"


def _draw_change(
    campaign: str, versions: Sequence[guideline.GuidelineVersion]
) -> None:
    _begin_draft(campaign, versions)
    with st.expander("Change the guideline"):
        st.caption(
            "Labels keep the version that they were given under. Annotators are told at their next item. Sections "
            "under a heading of the third level (###) are folded."
        )
        left, right = st.columns(2, gap="medium")
        with left:
            text = st.text_area(
                "Text, Markdown",
                key=keys.guideline(campaign),
                height=480,
                max_chars=guideline.MOST_CHARACTERS,
            )
        with right:
            changes, preview = st.tabs(["Changes", "Preview"])
        with changes:
            if text.strip() == versions[-1].text.strip():
                st.caption(
                    "Nothing is changed yet. Click outside the text to see what you changed."
                )
            else:
                st.html(change_html(versions[-1].text, text))
        with preview:
            draw_guideline(text)
        by = visitor().name or st.text_input("Author", width=260, max_chars=80)
        if st.button("Store new version"):
            _store(campaign, text, by, versions)


def _begin_draft(
    campaign: str, versions: Sequence[guideline.GuidelineVersion]
) -> None:
    """The form begins with the text in force, and does again when another lead changed what was not edited here."""
    draft, base = keys.guideline(campaign), keys.guideline_base(campaign)
    before = guideline.version_known(versions, st.session_state.get(base))
    if (
        draft not in st.session_state
        or before is None
        or st.session_state[draft] == before.text
    ):
        st.session_state[draft], st.session_state[base] = (
            versions[-1].text,
            versions[-1].version,
        )


def _store(
    campaign: str,
    text: str,
    by: str,
    versions: Sequence[guideline.GuidelineVersion],
) -> None:
    base = keys.guideline_base(campaign)
    with refusals_shown():
        require(Role.LEAD)
        instead_of, st.session_state[base] = (
            st.session_state[base],
            versions[-1].version,
        )
        changed = change_guideline(
            data.folder(), campaign, text, by=by, instead_of=instead_of
        )
        st.session_state[base] = changed.version
        st.rerun()
