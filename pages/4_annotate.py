"""Annotate: is the reason that a detector gave for a crash the right one?"""

import streamlit as st

from crane_core.ui import keys
from crane_core.ui.annotate.desk import draw_desk
from crane_core.ui.annotate.practice import draw_practice
from crane_core.ui.annotate.start import draw_start
from crane_core.ui.frame import page

with page():
    campaign = st.query_params.get(keys.CAMPAIGN)
    annotator = st.query_params.get(keys.ANNOTATOR)
    if st.query_params.get(keys.PRACTICE):
        draw_practice()
    elif campaign and annotator:
        draw_desk(campaign, annotator)
    else:
        draw_start()
