"""Cases: which crash, what did the detectors say of it, and how do the crashing and the fixed notebook differ?"""

import streamlit as st

from crane_core.ui import data, keys
from crane_core.ui.case_filters import chosen_benchmark, filtered_cases
from crane_core.ui.case_view import draw_cases
from crane_core.ui.frame import page
from crane_core.ui.pair_view import draw_pair

with page():
    case_id = st.query_params.get(keys.CASE)
    if case_id:
        benchmark = chosen_benchmark()
        listed = filtered_cases(benchmark)["case_id"].tolist()
        verdicts = data.verdicts()
        rows = verdicts[
            (verdicts["benchmark"] == benchmark)
            & (verdicts["case_id"] == case_id)
        ]
        draw_pair(data.store(), benchmark, case_id, rows, listed)
    else:
        draw_cases()
