"""The list of cases: a click on a row opens the pair."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.pipeline.pairs import PATTERN_MEANING, Pattern
from crane_core.ui import keys
from crane_core.ui.open_list import clicked_row
from crane_core.ui.words import NOTHING, count, literal

MOST_HEIGHT = 760
COLUMNS = {
    "case_id": "Case",
    "library": "Library",
    "root_cause": "Root cause",
    "exception": "Exception",
    "crash_type": "Crash type",
    "stage": "Pipeline stage",
    "n_found": "Crash predicted",
    "n_alarms": "False alarms",
    "pattern": "Pattern",
    "at_hand": "At hand",
}
NUMBERS = ("n_found", "n_alarms")
WORDS = [column for column in COLUMNS if column not in NUMBERS]

SHORT = {
    Pattern.DIFFER: "differ",
    Pattern.FLIP: "flips",
    Pattern.WRONG_REASON: "wrong reason",
    Pattern.CHANGED: "changed",
    Pattern.HELPED: "helped",
    Pattern.HARMED: "harmed",
    Pattern.MISSED: "missed",
    Pattern.ALARM: "alarm",
}
TOLD = tuple(pattern for pattern in Pattern if pattern is not Pattern.CHANGED)
"""Patterns that the list tells; helped and harmed say the same as changed, and more."""
PATTERN_HELP = "\n".join(f"- **{SHORT[p]}**, {p}: {PATTERN_MEANING[p]}" for p in TOLD)


def draw_list(table: pd.DataFrame, n_all: int, answers: str, series: list[str]) -> None:
    """The filtered pair table with its count and what its answers are; an empty one says how to widen the filters.

    series: the experiments behind the patterns; where they are several, each pattern has their places in this list.
    """
    st.caption(literal(f"{count(len(table))} of {count(n_all)} cases. Click a row to open the pair. {answers}"))
    if table.empty:
        st.info("No case passes these filters. Clear one of them to see more.")
        st.button("Clear all filters", on_click=st.query_params.clear)
        return
    place = clicked_row(
        _shown(table, series), key=f"{keys.PICKED}_{len(table)}", most_height=MOST_HEIGHT, column_config=_columns(table)
    )
    if place is not None:
        st.query_params[keys.CASE] = str(table["case_id"].iloc[place])
        st.rerun()


def _shown(table: pd.DataFrame, series: list[str]) -> pd.DataFrame:
    """What the list says of each case. Counts are numbers, so that they sort as numbers."""
    is_asked = table["n_asked"] > 0
    words = table.assign(
        pattern=[pattern_words(patterns, series) for patterns in table["patterns_in"]],
        at_hand=[_at_hand(code, state) for code, state in zip(table["has_code"], table["has_state"], strict=True)],
    ).fillna(dict.fromkeys(WORDS, NOTHING))
    numbers = {column: table[column].where(is_asked).astype("Int64") for column in NUMBERS}
    return words.assign(**numbers)[list(COLUMNS)].rename(columns=COLUMNS)


def pattern_words(patterns: tuple[tuple[Pattern, tuple[str, ...]], ...], series: list[str]) -> str:
    """The patterns of a case; where several experiments answered, each with the numbers of those that show it."""
    places = {name: str(place) for place, name in enumerate(series, start=1)}
    return ", ".join(
        SHORT[pattern] + (f" ({', '.join(places[name] for name in names)})" if len(series) > 1 else "")
        for pattern, names in patterns
        if pattern in TOLD
    )


def _columns(table: pd.DataFrame) -> dict[str, Any]:
    most = max(1, int(table["n_asked"].max()))
    of = f"Of {most} votes" if table["n_asked"].nunique() == 1 else f"Of up to {most} votes"
    bar = partial(st.column_config.ProgressColumn, format="%d", min_value=0, max_value=most, width=130)
    return {
        "Crash predicted": bar(help=f"{of}, one per detector and input: those that predict the crash."),
        "False alarms": bar(help=f"{of} on the fixed notebook: those that predict a crash."),
        "Pattern": st.column_config.TextColumn(width=330, help=PATTERN_HELP),
    }


def _at_hand(code: bool, state: bool) -> str:  # noqa: FBT001 - two plain columns
    return " + ".join(word for word, there in (("code", code), ("state", state)) if there) or "labels"
