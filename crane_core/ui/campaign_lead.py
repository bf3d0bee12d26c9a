"""Who may lead: with logins, visitors with that role; without, all visitors, or those who know the page's password."""

from __future__ import annotations

import os

import streamlit as st

from crane_core.identity.visitor import Role
from crane_core.ui import keys
from crane_core.ui.access import admitted
from crane_core.ui.visit import visitor

VARIABLE = "CRANE_LEAD_PASSWORD"


def admitted_as_lead() -> bool:
    """Whether this visitor may see how annotators are doing; asks for the password where one is set."""
    return visitor().is_known or admitted(
        VARIABLE, key=keys.LEADING, heading="Campaigns"
    )


def is_leading() -> bool:
    """Without asking: whether this visitor has the role of a lead; without logins, whether no password is missing."""
    person = visitor()
    if person.is_known:
        return person.may(Role.LEAD)
    return not os.environ.get(VARIABLE) or bool(st.session_state.get(keys.LEADING))


def draw_who_may_see() -> None:
    """One quiet line if nothing keeps annotators away from this page."""
    if not visitor().is_known and not os.environ.get(VARIABLE):
        st.caption(
            "Everyone who can open this app can open this page, including annotators. To protect it with a password, "
            f"start the app with `{VARIABLE}` set."
        )
