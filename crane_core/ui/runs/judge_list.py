"""The list of judges' jobs: a model that labels diagnoses is a run, too."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from crane_core.pipeline.rows import as_rows
from crane_core.ui.grid import grid
from crane_core.ui.navigation import link
from crane_core.ui.runs.listed import cost_cell, started_words, tokens_words
from crane_core.ui.words import NOTHING, count, experiment_words


def draw_judges(jobs: pd.DataFrame) -> None:
    """jobs: `storage.jobs.judge_job_list`; nothing is drawn without a judge."""
    if jobs.empty:
        return
    st.subheader("Judges", anchor="judges")
    grid(judge_rows(jobs))
    link("agreement", "Compare their labels with those of people on Agreement")


def judge_rows(jobs: pd.DataFrame) -> pd.DataFrame:
    """One row per judge's job, in words."""
    return pd.DataFrame([_cells(row) for row in as_rows(jobs)])


def _cells(row: dict[str, Any]) -> dict[str, str]:
    n_unread = row["n_replies"] - row["n_labels"] - row["n_troubles"]
    return {
        "Judge": row["annotator"],
        "Judged": experiment_words(row["experiment"]),
        "Benchmark": row["benchmark"],
        "Started": started_words(row["started_at"]),
        "Questions": count(row["n_replies"]),
        "Labels": count(row["n_labels"]),
        "No label": count(n_unread) if n_unread else NOTHING,
        "No reply": count(row["n_troubles"]) if row["n_troubles"] else NOTHING,
        "Tokens in / out": tokens_words(row),
        "Cost": cost_cell(row),
        "Median s": NOTHING
        if row["seconds_median"] is None
        else f"{row['seconds_median']:.2f}",
    }
