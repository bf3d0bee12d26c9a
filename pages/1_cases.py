"""Cases: which crash, what did the detectors say of it, and how do the crashing and the fixed notebook differ?"""

import streamlit as st

from crane_core.ui import data, keys
from crane_core.ui.case_filters import answers_words, chosen_benchmark, draw_filters, filtered_cases, joined_series
from crane_core.ui.case_list import draw_list
from crane_core.ui.frame import page
from crane_core.ui.pair_view import draw_pair

with page():
    case_id = st.query_params.get(keys.CASE)
    if case_id:
        benchmark = chosen_benchmark()
        listed = filtered_cases(benchmark)["case_id"].tolist()
        verdicts = data.verdicts()
        rows = verdicts[(verdicts["benchmark"] == benchmark) & (verdicts["case_id"] == case_id)]
        draw_pair(data.store(), benchmark, case_id, rows, listed)
    else:
        st.title("Cases")
        benchmark = draw_filters()
        table, n_all = filtered_cases(benchmark), len(data.case_list(benchmark))
        draw_list(table, n_all, answers_words(benchmark), joined_series(benchmark))
