"""A run beside any other one on the same benchmark: accuracy of both, and who is right where they differ."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from crane_core.pipeline.results.two_runs import two_runs
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys
from crane_core.ui.outcome_words import outcome_words
from crane_core.ui.runs.address import key_of
from crane_core.ui.runs.listed import labels_of_row
from crane_core.ui.url_state import one_of
from crane_core.ui.words import (
    count,
    experiment_words,
    literal,
    moment,
    p_words,
    percent,
    points,
    points_interval,
    setting_short,
)


def draw_comparison(row: dict[str, Any]) -> None:
    """row: one of `pipeline.results.run_list`; nothing is drawn where no other run has answers on its benchmark."""
    mine = key_of(row)
    others = {
        run_words(each): key_of(each)
        for each in as_rows(data.run_list())
        if each["n_answers"]
    }
    others = {
        words: run
        for words, run in others.items()
        if run.benchmark == mine.benchmark and run != mine
    }
    if not row["n_answers"] or not others:
        return
    st.subheader("Beside another run", anchor="beside")
    chosen = one_of(
        st.selectbox,
        "Compare with",
        list(others),
        key=keys.RUN_BESIDE,
        default=None,
        index=None,
        placeholder="a run",
        width=620,
    )
    if chosen is not None:
        found = two_runs(data.verdicts(), mine, others[chosen])
        st.markdown(comparison_words(run_words(row), chosen, found))


def run_words(row: dict[str, Any]) -> str:
    """A run as an option of a list: detector, input, and its name or start."""
    told = (
        labels_of_row(row).get("name")
        if row["is_job"]
        else experiment_words(row["experiment"])
    )
    began = f", {moment(row['started_at'])}" if row["is_job"] else ""
    end = row["experiment"].rpartition("-")[2] if row["is_job"] else ""
    return (
        ", ".join(
            part
            for part in (
                row["detector_title"],
                setting_short(row["setting"]),
                told,
                end,
            )
            if part
        )
        + began
    )


def comparison_words(one: str, other: str, found: dict[str, Any] | None) -> str:
    """What `two_runs` found, as sentences of Markdown."""
    if (
        found is None
        or found["difference"] is None
        or math.isnan(found["difference"])
    ):
        return "No instance with a known outcome was answered by both runs."
    return (
        f"Over {count(found['n'])} instances of {count(found['n_cases'])} cases that both answered, "
        f"{literal(one)} has an accuracy of {percent(found['without'])} and {literal(other)} of "
        f"{percent(found['with_'])}: {points(found['difference'])} ({points_interval(found['low'], found['high'])}). "
        f"Only the first is right {count(int(found['lost']))} times, only the second "
        f"{count(int(found['gained']))} times; p {p_words(found['p_value'])}, by case {p_words(found['p_by_case'])}. "
        f"From the first run to the second: {outcome_words(found['outcome'])}. "
        "Majority of runs, detection alone, 95% interval clustered by case."
    )
