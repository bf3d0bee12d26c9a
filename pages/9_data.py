"""Data: what is loaded, how to bring more, and what could not be read."""

import streamlit as st

from crane_core.domain import Listed
from crane_core.ui.add_case_view import draw_add_case
from crane_core.ui.audit_view import draw_audit, draw_sessions
from crane_core.ui.data_view import (
    draw_annotators,
    draw_contradictions,
    draw_counts,
    draw_loaded,
    draw_problems,
    draw_sources,
)
from crane_core.ui.frame import page
from crane_core.ui.intake_view import draw_fetch, draw_import
from crane_core.ui.inventory_view import draw_many, draw_removed
from crane_core.ui.verified_view import draw_verified

with page():
    st.title("Data")
    draw_loaded()
    st.subheader("Add data", anchor="bring")
    left, right = st.columns(2, gap="large")
    with left:
        draw_fetch()
    with right:
        draw_import()
    draw_add_case()
    st.subheader("Sources", anchor="sources")
    draw_sources()
    draw_many(Listed.BENCHMARK, Listed.SOURCE)
    draw_removed(Listed.BENCHMARK, Listed.SOURCE)
    st.subheader("Verified pairs", anchor="verified")
    draw_verified()
    st.subheader("Problems", anchor="problems")
    draw_problems()
    draw_contradictions()
    st.subheader("Labels by annotator", anchor="labels")
    draw_annotators()
    draw_counts()
    draw_sessions()
    draw_audit()
