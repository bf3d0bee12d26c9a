"""Data: what is loaded, what could not be read, and how to bring more."""

import streamlit as st

from crane_core.ui.data_view import draw_annotators, draw_contradictions, draw_counts, draw_problems, draw_sources
from crane_core.ui.frame import page
from crane_core.ui.intake_view import draw_fetch, draw_import

with page():
    st.title("Data")
    st.subheader("Bring more", anchor="bring")
    left, right = st.columns(2, gap="large")
    with left:
        draw_fetch()
    with right:
        draw_import()
    st.subheader("Sources", anchor="sources")
    draw_sources()
    st.subheader("Problems", anchor="problems")
    draw_problems()
    draw_contradictions()
    st.subheader("Labels by annotator", anchor="labels")
    draw_annotators()
    st.subheader("Tables", anchor="tables")
    draw_counts()
