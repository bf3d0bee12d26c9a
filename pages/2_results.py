"""Results: how well do detectors foresee crashes, with and without runtime state, and for which crashes?"""

import streamlit as st

from crane_core.ui import keys
from crane_core.ui.breakdown_view import GROUPINGS, RATES, draw_breakdown
from crane_core.ui.frame import page
from crane_core.ui.gains_view import draw_comparison, draw_gains
from crane_core.ui.result_switches import draw_switches
from crane_core.ui.study_view import draw_table, tables
from crane_core.ui.url_state import one_of

TABLE_WORDS = {
    "2a": "Table 2a",
    "2b": "Table 2b",
    "3": "Table 3",
    "1": "Table 1",
    "libraries": "LLMs by library",
    "analyzers": "Analyzers by library",
    "junobench-llms": "JunoBench's own LLMs",
}

with page():
    st.title("Results")
    chosen = draw_switches()
    if chosen is not None:
        st.subheader("With runtime state against code only", anchor="gain")
        draw_gains(chosen)
        draw_comparison(chosen)

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

    st.subheader("The study's tables, recomputed", anchor="tables")
    known = tables()
    shown = [name for name in TABLE_WORDS if name in known]
    picked = one_of(
        st.segmented_control,
        "Table",
        shown,
        key=keys.TABLE,
        default="2a",
        required=True,
        label_visibility="collapsed",
        format_func=TABLE_WORDS.get,
    )
    st.markdown(f"**{known[str(picked)].title}**")
    draw_table(known[str(picked)])
