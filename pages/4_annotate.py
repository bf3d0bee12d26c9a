"""Annotate: is the reason that a detector gave for a crash the right one?"""

import streamlit as st

from crane_core.ui import keys
from crane_core.ui.annotate.component import draw_closed
from crane_core.ui.annotate.desk import draw_desk
from crane_core.ui.annotate.practice import draw_practice
from crane_core.ui.annotate.start import draw_start
from crane_core.ui.frame import page

campaign = st.query_params.get(keys.CAMPAIGN)
annotator = st.query_params.get(keys.ANNOTATOR)
is_practice = bool(st.query_params.get(keys.PRACTICE))


def draw_what_waits() -> None:
    """The desk of somebody whom a restarted server asks for the password: what they labelled stays in sight."""
    if campaign and annotator and not is_practice:
        draw_closed(campaign, annotator, why="login")


with page(beside_the_password=draw_what_waits):
    if is_practice:
        draw_practice()
    elif campaign and annotator:
        draw_desk(campaign, annotator)
    else:
        draw_start()
