"""Data: what is loaded, how to bring more, and what could not be read."""

import streamlit as st

from crane_core.domain import Listed
from crane_core.ui.add_case_view import draw_add_case
from crane_core.ui.audit_view import draw_audit, draw_sessions
from crane_core.ui.data_view import (
    draw_annotators,
    draw_chosen_problems,
    draw_contradictions,
    draw_counts,
    draw_loaded,
    draw_problems,
    draw_sources,
    draw_title,
    draw_verified,
)
from crane_core.ui.frame import page
from crane_core.ui.intake_view import (
    FETCH,
    IMPORT,
    draw_fetch,
    draw_import,
    draw_mapping,
    draw_outcomes,
)
from crane_core.ui.inventory_view import draw_many, draw_removed
from crane_core.ui.notification_view import draw_notifications

with page():
    draw_title()
    draw_loaded()
    st.header("Published by others", anchor="bring")
    draw_fetch()
    draw_outcomes(FETCH)
    st.header("Import your own", anchor="import")
    draw_import()
    with st.container(key="folds_of_import"):
        draw_mapping()
        draw_add_case()
    draw_outcomes(IMPORT)
    draw_sources()
    draw_many(Listed.BENCHMARK, Listed.SOURCE)
    draw_removed(Listed.BENCHMARK, Listed.SOURCE)
    draw_problems()
    draw_contradictions()
    st.header("Inventory", anchor="inventory")
    with st.container(key="folds_of_inventory"):
        draw_annotators()
        draw_counts()
        draw_verified()
        draw_notifications()
        draw_sessions()
        draw_audit()
    draw_chosen_problems()
