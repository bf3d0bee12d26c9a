"""The list of cases: a click on any cell of a row opens the pair."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from crane_core.pipeline.pairs import PATTERN_MEANING, Pattern
from crane_core.ui import keys
from crane_core.ui.words import NOTHING, count

ROW_HEIGHT = 32
COLUMNS = {
    "case_id": "Case",
    "library": "Library",
    "root_cause": "Root cause",
    "exception": "Exception",
    "crash_type": "Crash type",
    "stage": "Pipeline stage",
    "found": "Crash foretold",
    "alarms": "False alarms",
    "pattern": "Pattern",
    "at_hand": "At hand",
}

SHORT = {
    Pattern.DIFFER: "differ",
    Pattern.FLIP: "flips",
    Pattern.WRONG_REASON: "wrong reason",
    Pattern.HELPED: "helped",
    Pattern.HARMED: "harmed",
    Pattern.MISSED: "missed",
    Pattern.ALARM: "alarm",
}
PATTERN_HELP = "\n".join(f"- **{SHORT[p]}**, {p}: {meaning}" for p, meaning in PATTERN_MEANING.items())


def draw_list(table: pd.DataFrame, n_all: int) -> None:
    """The filtered pair table with its count; an empty one says how to widen the filters."""
    st.caption(f"{count(len(table))} of {count(n_all)} cases. Click a row to open the pair.")
    if table.empty:
        st.info("No case passes these filters. Clear one of them to see more.")
        st.button("Clear all filters", on_click=st.query_params.clear)
        return
    shown = table.assign(
        found=[_part(n, of) for n, of in zip(table["n_found"], table["n_asked"], strict=True)],
        alarms=[_part(n, of) for n, of in zip(table["n_alarms"], table["n_asked"], strict=True)],
        pattern=[", ".join(SHORT[Pattern(p)] for p in patterns) for patterns in table["patterns"]],
        at_hand=[_at_hand(code, state) for code, state in zip(table["has_code"], table["has_state"], strict=True)],
    )
    event = st.dataframe(
        shown[list(COLUMNS)].rename(columns=COLUMNS).fillna(NOTHING),
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=min(ROW_HEIGHT * (len(shown) + 1) + 2, 760),
        on_select="rerun",
        selection_mode="single-cell",
        key=f"{keys.PICKED}_{len(table)}",
        column_config={
            "Crash foretold": st.column_config.TextColumn(help="detectors and inputs whose vote foretells the crash"),
            "False alarms": st.column_config.TextColumn(help="the same for the fixed notebook"),
            "Pattern": st.column_config.TextColumn(width=330, help=PATTERN_HELP),
        },
    )
    cells = event.selection.cells
    if cells:
        st.query_params[keys.CASE] = str(table["case_id"].iloc[cells[0][0]])
        st.rerun()


def _part(n: int, of: int) -> str:
    return f"{n} of {of}" if of else NOTHING


def _at_hand(code: bool, state: bool) -> str:  # noqa: FBT001 - two plain columns
    return " + ".join(word for word, there in (("code", code), ("state", state)) if there) or "labels"
