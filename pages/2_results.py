"""Results: how well do detectors predict crashes, with and without runtime state, and for which crashes?"""

import streamlit as st

from crane_core.domain import DetectorKind
from crane_core.ui import keys
from crane_core.ui.breakdown_view import draw_breakdown
from crane_core.ui.by_date_view import draw_by_date
from crane_core.ui.executed_view import draw_rehearsal, draw_repair
from crane_core.ui.five_runs_view import draw_five_runs
from crane_core.ui.frame import page
from crane_core.ui.gains_view import draw_runtime_state
from crane_core.ui.headline import draw_headline, name_part
from crane_core.ui.known_notebooks_view import draw_known_notebooks, has_copies
from crane_core.ui.leaderboard_view import draw_leaderboard
from crane_core.ui.one_model_view import draw_one_model
from crane_core.ui.plan_view import draw_plans
from crane_core.ui.result_switches import draw_switches
from crane_core.ui.results_title import results_title, tab_words
from crane_core.ui.specification_view import draw_specification_curve
from crane_core.ui.study_view import draw_claims, draw_tables
from crane_core.ui.together_view import draw_together
from crane_core.ui.url_state import one_tab
from crane_core.ui.worth_view import draw_time_saved

OF_CHOSEN = {
    "Leaderboard": draw_leaderboard,
    "Runtime state": draw_runtime_state,
    "Kinds of crash": draw_breakdown,
    "Combinations": draw_together,
    "Stability": draw_five_runs,
    "Robustness": draw_specification_curve,
    "One model": draw_one_model,
    "Time": draw_time_saved,
    "Plan": draw_plans,
    "Dates": draw_by_date,
}
OF_COPIED = {"Copies": draw_known_notebooks}
OF_EXECUTED = {
    DetectorKind.REHEARSAL: {"Rehearsal": draw_rehearsal},
    DetectorKind.REPAIR: {"Repair": draw_repair},
}
OF_PAPER = {"Paper's tables": draw_tables, "Paper's claims": draw_claims}

with page():
    head = st.container(key=keys.HEAD)  # its height stands, see style.css
    chosen = draw_switches()
    parts = OF_CHOSEN
    if chosen is not None:
        if has_copies(chosen):
            parts = OF_CHOSEN | OF_COPIED
        parts = OF_EXECUTED.get(chosen.kind, parts)
    shown = [*(parts if chosen is not None else ()), *OF_PAPER]
    name, tab = one_tab(shown, key=keys.PART)
    with head:
        draw_headline(results_title(chosen, name), tab=tab_words(chosen))
    name_part(name, shown, tab_words(chosen))
    with tab:
        if name in OF_PAPER:
            OF_PAPER[name]()
        elif chosen is not None:
            parts[name](chosen)
