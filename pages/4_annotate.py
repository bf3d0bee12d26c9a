"""Annotate: is the reason that a detector gave for a crash the right one?"""

import streamlit as st

from crane_core.identity.visitor import Role
from crane_core.ui import keys
from crane_core.ui.annotate.component import draw_closed
from crane_core.ui.annotate.desk import draw_desk
from crane_core.ui.annotate.own_items import draw_own_items
from crane_core.ui.annotate.start import draw_practice, draw_start
from crane_core.ui.frame import page
from crane_core.ui.notification_view import draw_notifications


def seat() -> tuple[str, str] | None:
    """Campaign and annotator that the address names; in practice nobody sits anywhere."""
    campaign, annotator = (
        st.query_params.get(keys.CAMPAIGN),
        st.query_params.get(keys.ANNOTATOR),
    )
    return (
        (campaign, annotator)
        if campaign and annotator and not st.query_params.get(keys.PRACTICE)
        else None
    )


def draw_what_waits() -> None:
    """The desk of somebody whom a restarted server asks for the password: what they labelled stays in sight."""
    if named := seat():
        draw_closed(*named, why="login")


with page(
    needs=Role.ANNOTATOR, is_blind=True, beside_the_login=draw_what_waits
):
    if st.query_params.get(keys.PRACTICE):
        draw_practice()
    elif (named := seat()) and (own := st.query_params.get(keys.OWN)):
        draw_own_items(*named, own)
    elif named:
        draw_desk(*named)
    else:
        draw_start()
        # Here too: who labels in a blind campaign may not open Data.
        draw_notifications()
