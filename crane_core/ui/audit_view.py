"""The audit log, for leads and admins: the newest acts, and all of them as a file."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from crane_core.domain import AuditAction
from crane_core.identity.visitor import Role
from crane_core.pipeline.audit import COLUMNS, Actor, as_csv, entries, note, rows
from crane_core.pipeline.places import DataFolder
from crane_core.ui import data
from crane_core.ui.acting import acting
from crane_core.ui.campaign_lead import is_leading
from crane_core.ui.grid import grid
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import Carried, carried, may, require_still
from crane_core.ui.words import count

SHOWN = 200
FEW, HEIGHT = 8, 320
"""Rows that are shown without scrolling, and pixels of more."""


def draw_audit() -> None:
    """Who did what, when and from where; nothing for viewers and annotators."""
    if not (may(Role.LEAD) and is_leading()):
        return
    st.subheader("Audit log", anchor="audit")
    with refusals_shown():
        found = entries(data.folder())
        if not found:
            st.caption(
                "Nothing yet. Changed roles, logins, locks, exports and runs are listed here."
            )
            return
        shown = min(len(found), SHOWN)
        st.caption(
            f"The last {count(shown)} of {count(len(found))} acts: changed roles, logins, locks, exports, runs, and "
            "what was removed. Times are UTC."
        )
        table = pd.DataFrame(
            rows(found[:SHOWN]), columns=[name.capitalize() for name in COLUMNS]
        )
        table["When"] = table["When"].str.slice(0, 19).str.replace("T", " ")
        grid(table, height="content" if len(table) <= FEW else HEIGHT)
        export = _exporting(data.folder(), acting(), carried())
        st.download_button(
            "Download CSV",
            export,
            "audit_log.csv",
            "text/csv",
            on_click="ignore",
            key="audit_csv",
        )


def _exporting(folder: DataFolder, actor: Actor, brought: Carried) -> Callable[[], str]:
    def export() -> str:
        require_still(brought, Role.LEAD)
        note(folder, actor, AuditAction.EXPORT, "audit log")
        return as_csv(entries(folder))

    return export
