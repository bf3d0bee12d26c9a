"""The export at any time, and the lock at the end."""

import streamlit as st

from crane_core.domain import AuditAction
from crane_core.identity.visitor import Role
from crane_core.pipeline.audit import note
from crane_core.pipeline.campaigns.campaigns import lock_campaign
from crane_core.pipeline.campaigns.export.files import export_zip
from crane_core.pipeline.campaigns.status import CampaignStatus, open_words
from crane_core.ui import data, keys
from crane_core.ui.access import acting, note_act
from crane_core.ui.navigation import show_here
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import carried, require, require_still, visitor
from crane_core.ui.words import literal

RESULT = "Result"
"""Name of the tab that has the shares after the lock."""
ABOUT_EXPORT = "Labels as a table, every act as JSON lines, JSON Schemas of both, the plan, and a README."
HIDES = (
    "Until the lock it hides the model, the input and the case of every item."
)


def draw_export(status: CampaignStatus, *, is_next: bool) -> None:
    """A button for labels, acts and plan as one archive, made on request; is_next: it is the page's main one."""
    campaign = status.plan.campaign
    folder, actor, brought = data.folder(), acting(), carried()

    def export() -> bytes:
        require_still(brought, Role.LEAD)
        note(folder, actor, AuditAction.EXPORT, f"campaign {campaign}")
        return export_zip(folder, campaign)

    st.download_button(
        "Export",
        export,
        f"{campaign}_export.zip",
        "application/zip",
        on_click="ignore",
        type="primary" if is_next else "secondary",
        help=export_words(status),
    )


def export_words(status: CampaignStatus) -> str:
    """What the archive holds and hides."""
    is_hidden = status.plan.blind and status.lock is None
    return f"{ABOUT_EXPORT} {HIDES}" if is_hidden else ABOUT_EXPORT


def draw_lock(status: CampaignStatus) -> None:
    """What is open, and the button that ends an open campaign."""
    found = open_words(status)
    if found:
        st.warning(
            "Still open. "
            + " ".join(
                f"{words[0].upper()}{words[1:]}."
                for words in map(literal, found)
            )
        )
    with st.form("lock", border=False):
        by = visitor().name or st.text_input("Locked by", width=260)
        anyway = (
            st.checkbox("Lock it although items are open") if found else True
        )
        pressed = st.form_submit_button("Lock campaign")
    st.caption(
        "After the lock labels and decisions do not change any more, and what was hidden is shown."
    )
    if pressed:
        _lock(status, by.strip(), anyway=bool(anyway))


def _lock(status: CampaignStatus, by: str, *, anyway: bool) -> None:
    if not by:
        st.error("Enter the name of the person who locks it.")
    elif not anyway:
        st.error("Items are open: finish them, or tick the box to lock anyway.")
    else:
        with refusals_shown():
            require(Role.LEAD)
            lock_campaign(data.folder(), status.plan.campaign, by=by)
            note_act(
                AuditAction.LOCK,
                f"campaign {status.plan.campaign}",
                f"locked by {by}",
            )
            # The lock leaves the person who locked on the tab where they pressed it; they come for the result.
            show_here(
                **{keys.CAMPAIGN: status.plan.campaign, keys.PART: RESULT}
            )
            st.rerun()
