"""Results: how well do detectors predict crashes, with and without runtime state, and for which crashes?"""

import streamlit as st

from crane_core.ui import keys
from crane_core.ui.breakdown_view import GROUPINGS, RATES, draw_breakdown
from crane_core.ui.claims_view import draw_claims
from crane_core.ui.five_runs_view import draw_five_runs
from crane_core.ui.frame import page
from crane_core.ui.gains_view import draw_comparison, draw_gains
from crane_core.ui.label_coverage import draw_coverage
from crane_core.ui.model_across_view import draw_model_across
from crane_core.ui.result_switches import draw_switches
from crane_core.ui.specification_view import draw_specification_curve
from crane_core.ui.study_view import draw_table, table_words, tables
from crane_core.ui.time_saved_view import draw_time_saved
from crane_core.ui.together_view import draw_together
from crane_core.ui.url_state import one_of
from crane_core.ui.words import inputs_words, sentence_case

with page():
    st.title("Results")
    chosen = draw_switches()
    if chosen is not None:
        draw_coverage(chosen)
        st.subheader(sentence_case(inputs_words(chosen.inputs)), anchor="gain")
        draw_gains(chosen)
        draw_comparison(chosen)
        draw_model_across(chosen)
        draw_specification_curve(chosen)
        draw_together(chosen)

        st.subheader("By kind of crash", anchor="breakdown")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            rate = one_of(st.segmented_control, "Rate", RATES, key=keys.RATE, default="Accuracy", required=True)
            by = one_of(
                st.segmented_control,
                "By",
                list(GROUPINGS),
                key=keys.GROUP_BY,
                default="library_group",
                required=True,
                format_func=GROUPINGS.get,
            )
        draw_breakdown(chosen, by=str(by), rate=str(rate))
        draw_five_runs(chosen)
        draw_time_saved(chosen)

    st.subheader("The study's tables, recomputed", anchor="tables")
    known = tables()
    picked = one_of(
        st.segmented_control,
        "Table",
        list(known),
        key=keys.TABLE,
        default="2a",
        required=True,
        label_visibility="collapsed",
        format_func=lambda name: table_words(known[name]),
    )
    st.markdown(f"**{known[str(picked)].title}**")
    draw_table(known[str(picked)])
    st.subheader("The paper's claims, checked", anchor="claims")
    draw_claims()
