"""Who acts on a page, for the audit log: the visitor, and the address of their browser."""

from __future__ import annotations

import streamlit as st

from crane_core.domain import AuditAction
from crane_core.pipeline.audit import Actor, actor_of, note
from crane_core.ui import data
from crane_core.ui.visit import visitor


def acting() -> Actor:
    """The visitor of the page that is drawn now."""
    return actor_of(visitor(), st.context.ip_address)


def note_act(action: AuditAction, what: str, detail: str = "") -> None:
    """Write what the visitor did to the audit log. Raises LedgerError."""
    note(data.folder(), acting(), action, what, detail)
