"""Who may lead: everybody who can open the app, unless it was started with a password for this page."""

from __future__ import annotations

import os

import streamlit as st

from crane_core.ui import keys
from crane_core.ui.access import admitted

VARIABLE = "CRANE_LEAD_PASSWORD"


def admitted_as_lead() -> bool:
    """Whether this visitor may see how annotators are doing; asks for the password where one is set."""
    return admitted(VARIABLE, key=keys.LEADING, heading="Campaigns")


def is_leading() -> bool:
    """The same without asking: whether nothing is set, or this visitor has given the password."""
    return not os.environ.get(VARIABLE) or bool(st.session_state.get(keys.LEADING))


def draw_who_may_see() -> None:
    """One quiet line where nothing keeps annotators from looking here."""
    if not os.environ.get(VARIABLE):
        st.caption(
            "Everyone who can open this app can open this page, including annotators. To protect it with a password, "
            f"start the app with `{VARIABLE}` set."
        )
