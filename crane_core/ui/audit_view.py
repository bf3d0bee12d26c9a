"""Who is logged in, each session with a button that ends it, and the audit log: the newest acts, and all as a file."""

from collections.abc import Callable
from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from crane_core.domain import AuditAction
from crane_core.identity import logins
from crane_core.identity.logouts import digest
from crane_core.identity.roles import Roles, configured_roles
from crane_core.identity.visitor import Role
from crane_core.pipeline import audit
from crane_core.pipeline.places import DataFolder
from crane_core.ui import data
from crane_core.ui.access import acting, is_leading, note_act
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.rows_html import draw_first_rows
from crane_core.ui.visit import Carried, carried, may, require, require_still
from crane_core.ui.words import count, literal

WAYS = {
    logins.BY_INVITATION: "by an invitation",
    logins.BY_PROVIDER: "by the provider",
    logins.BY_PROXY: "by the proxy, where it ends",
}
MOST_SHOWN = 100


def draw_sessions() -> None:
    """The sessions, the last seen first; nothing without logins, and for others than admins."""
    roles = configured_roles()
    if roles is None or not may(Role.ADMIN):
        return
    st.header("Sessions", anchor="sessions")
    with refusals_shown():
        found = logins.open_sessions(data.folder().path)
        words = "browser is" if len(found) == 1 else "browsers are"
        st.caption(
            f"{count(len(found))} {words} logged in. Who is ended can come back with a new invitation or at the "
            "provider; remove the person from the roles file to keep them out."
        )
        for name, login in list(found.items())[:MOST_SHOWN]:
            _draw_one(name, login, roles)
        if len(found) > MOST_SHOWN:
            st.caption(f"and {count(len(found) - MOST_SHOWN)} more.")


def _draw_one(name: str, login: logins.Login, roles: Roles) -> None:
    visitor = roles.visitor(login.email)
    role = str(visitor.role) if visitor else "no longer in the roles file"
    here = ", this browser" if name == digest(carried().session) else ""
    with st.container(
        horizontal=True, vertical_alignment="center", key=f"session_{name}"
    ):
        if login.can_end and st.button("End session", key=f"end_{name}"):
            _end(name)
        st.markdown(
            literal(
                f"{login.email} ({role}{here}) since {_moment(login.since)}, {WAYS.get(login.way, login.way)}, from "
                f"{login.address}; last seen {_moment(login.seen)}"
            ),
            width="stretch",
        )


def _end(name: str) -> None:
    with refusals_shown():
        require(Role.ADMIN)
        login = logins.end_session(data.folder().path, name)
        note_act(
            AuditAction.END_SESSION,
            login.email,
            f"open since {_moment(login.since)}",
        )
        st.rerun()


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


SHOWN = 200


def draw_audit() -> None:
    """Who did what, when and from where; folded while nothing was done, and nothing for viewers and annotators."""
    if not (may(Role.LEAD) and is_leading()):
        return
    with refusals_shown():
        found = audit.entries(data.folder())
        if not found:
            with st.expander("Audit log: nothing recorded yet"):
                st.caption(
                    "Changed roles, logins, locks, exports and runs are listed here."
                )
            return
        st.header("Audit log", anchor="audit")
        shown = min(len(found), SHOWN)
        st.caption(
            f"The last {count(shown)} of {count(len(found))} acts: changed roles, logins, locks, exports, runs, and "
            "what was removed. Times are UTC."
        )
        table = pd.DataFrame(
            audit.rows(found[:SHOWN]),
            columns=[name.capitalize() for name in audit.COLUMNS],
        )
        table["When"] = table["When"].str.slice(0, 19).str.replace("T", " ")
        draw_first_rows(table, "acts")
        export = _exporting(data.folder(), acting(), carried())
        st.download_button(
            "Download CSV",
            export,
            "audit_log.csv",
            "text/csv",
            on_click="ignore",
            key="audit_csv",
        )


def _exporting(
    folder: DataFolder, actor: audit.Actor, brought: Carried
) -> Callable[[], str]:
    def export() -> str:
        require_still(brought, Role.LEAD)
        audit.note(folder, actor, AuditAction.EXPORT, "audit log")
        return audit.as_csv(audit.entries(folder))

    return export
