"""The list of what ran; a click on a row opens it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from crane_core.pipeline.rows import as_rows
from crane_core.ui import keys
from crane_core.ui.words import NOTHING, count, experiment_words, interval, percent, setting_short

ROW_HEIGHT = 32
MOST_HEIGHT = 760
ADDRESS = {
    "benchmark": keys.BENCHMARK,
    "experiment": keys.EXPERIMENT,
    "detector": keys.DETECTOR,
    "setting": keys.SETTING,
}
"""Columns that name a run, each with its place in the address."""


OF_MODELS = ("None", "Tokens in / out", "USD", "Median s")
"""Columns that are left out while no run has anything in them."""


def draw_list(table: pd.DataFrame) -> None:
    """`pipeline.run_list` as a table."""
    n_jobs = int(table["is_job"].sum())
    st.caption(
        f"{count(n_jobs)} of our own runs, {count(len(table) - n_jobs)} that sources brought. Click a row to open it. "
        "Agreement: of all pairs of answers to one instance, how many say the same, with its 95% interval over cases."
    )
    cells = pd.DataFrame([_cells(row) for row in as_rows(table)])
    shown = cells[[name for name in cells if name not in OF_MODELS or (cells[name] != NOTHING).any()]]
    event = st.dataframe(
        shown,
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=min(ROW_HEIGHT * (len(shown) + 1) + 2, MOST_HEIGHT),
        on_select="rerun",
        selection_mode="single-cell",
        key=f"{keys.PICKED}_runs_{len(table)}",
    )
    if event.selection.cells:
        row = table.iloc[event.selection.cells[0][0]]
        st.query_params.from_dict({query: str(row[name]) for name, query in ADDRESS.items()})
        st.rerun()


def _cells(row: dict[str, Any]) -> dict[str, str]:
    return {
        "Detector": row["detector_title"],
        "Input": setting_short(row["setting"]),
        "Benchmark": row["benchmark"],
        "Run": started_words(row["started_at"]) if row["is_job"] else experiment_words(row["experiment"]),
        "Instances": count(row["n_instances"]),
        "Answers": count(row["n_answers"]),
        "None": count(row["n_unanswered"]) if row["n_unanswered"] else NOTHING,
        "Runs agree": agreement_words(row),
        "Flips": NOTHING if row["agreement"] is None else count(int(row["n_flips"])),
        "Tokens in / out": tokens_words(row),
        "USD": NOTHING if row["usd"] is None else f"{row['usd']:.4f}",
        "Median s": NOTHING if row["seconds_median"] is None else f"{row['seconds_median']:.1f}",
    }


def started_words(started_at: str) -> str:
    """ISO 8601 in UTC to the minute."""
    return f"{started_at[:10]} {started_at[11:16]} UTC"


def agreement_words(row: dict[str, Any]) -> str:
    """The agreement among runs with its interval."""
    return NOTHING if row["agreement"] is None else f"{percent(row['agreement'])} ({interval(row['low'], row['high'])})"


def tokens_words(row: dict[str, Any]) -> str:
    if row["input_tokens"] is None:
        return NOTHING
    return f"{count(int(row['input_tokens']))} / {count(int(row['output_tokens'] or 0))}"
