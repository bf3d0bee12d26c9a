"""The list of what ran, and that of judges' jobs: a model that labels diagnoses is a run, too."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.pipeline.jobs.files import LABELS
from crane_core.pipeline.jobs.words import count_or_unknown, usd_words
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys
from crane_core.ui.grid import clicked_row, grid
from crane_core.ui.navigation import link
from crane_core.ui.runs.address import address_of, key_of
from crane_core.ui.url_state import many_of
from crane_core.ui.words import (
    NOTHING,
    SETTING_SHORT,
    SETTING_WORDS,
    count,
    experiment_words,
    interval,
    moment,
    percent,
    setting_short,
)

MOST_HEIGHT = 760
MANY = 20
"""Rows from which on the list can be narrowed."""

_END_OF_JOB = re.compile(r"[0-9a-f]{8}(?:-\d+)?$")
OF_SOME = ("Name", "Note", "No answer", "Tokens in / out", "Cost", "Median s")
"""Columns that are left out while no run has anything in them."""
WIDTHS = {
    "Name": 130,
    "Note": 240,
    "Detector": 150,
    "Input": 65,
    "Run": 240,
    "Runs agree": 178,
    "Tokens in / out": 140,
    "Cost": 85,
}
NUMBERS = (
    "Instances",
    "Answers",
    "No answer",
    "Runs agree",
    "Unstable",
    "Tokens in / out",
    "Cost",
    "Median s",
)
INPUT_HELP = "; ".join(
    f"{SETTING_SHORT[setting]}: {words}"
    for setting, words in SETTING_WORDS.items()
)
AGREE_HELP = "Share of pairs of answers to one instance that agree, with its 95% interval over cases."
FLIPS_HELP = "Instances with both answers, crash and no crash."
NONE_HELP = "Questions without an answer, or with one that cannot be read."
HELP = {
    "Input": INPUT_HELP,
    "Run": "Start time and the end of the job's name; of an imported run its release.",
    "Runs agree": AGREE_HELP,
    "Unstable": FLIPS_HELP,
    "No answer": NONE_HELP,
    "Median s": "Median seconds from question to reply.",
}


def draw_list(table: pd.DataFrame) -> None:
    """`pipeline.results.run_list` as a table."""
    table = _narrowed(table)
    n_jobs = int(table["is_job"].sum())
    st.caption(
        f"{count(n_jobs)} local {'run' if n_jobs == 1 else 'runs'}, {count(len(table) - n_jobs)} imported. "
        "Click a row to open it."
    )
    if table.empty:
        st.info(
            "No run is loaded. Start one above, or import predictions on the Data page."
        )
        return
    shown = _columns(table)
    place = clicked_row(
        shown,
        # The number of rows is in the key: after a change of the list a picked row would be another run.
        key=f"{keys.PICKED}_runs_{len(table)}",
        most_height=MOST_HEIGHT,
        column_config={
            name: st.column_config.TextColumn(
                width=WIDTHS.get(name),
                help=HELP.get(name),
                alignment="right" if name in NUMBERS else "left",
            )
            for name in map(str, shown)
        },
    )
    if place is not None:
        row = as_rows(table.iloc[[place]])[0]
        st.query_params.from_dict(address_of(key_of(row)))
        st.rerun()


def _narrowed(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that the filters let pass; there are none while the list is short."""
    if len(table) <= MANY:
        return table
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for column, words, key, titles in (
            (
                "benchmark",
                "Filter by benchmark",
                keys.RUNS_ON,
                data.benchmark_titles(),
            ),
            (
                "detector",
                "Filter by detector",
                keys.RUNS_BY,
                data.detector_titles(),
            ),
        ):
            options = sorted(table[column].unique())
            named = partial(_titled, titles=titles)
            chosen = many_of(
                words,
                options,
                key=key,
                placeholder="all",
                width=320,
                format_func=named,
            )
            table = table[table[column].isin(chosen)] if chosen else table
    return table


def _titled(name: str, titles: Mapping[str, str]) -> str:
    return titles.get(name, name)


def _columns(table: pd.DataFrame) -> pd.DataFrame:
    rows = as_rows(table)
    cells = pd.DataFrame(
        [
            row_cells(
                row,
                is_running=_is_running(row),
                title=data.run_title(row["experiment"]),
            )
            for row in rows
        ]
    )
    cells["Benchmark"] = [
        data.benchmark_titles().get(name, name) for name in cells["Benchmark"]
    ]
    return cells[
        [
            name
            for name in cells
            if name not in OF_SOME or (cells[name] != NOTHING).any()
        ]
    ]


def _is_running(row: dict[str, Any]) -> bool:
    return bool(row["is_job"]) and data.is_running(row["experiment"])


def row_cells(
    row: dict[str, Any], *, is_running: bool, title: str | None = None
) -> dict[str, str]:
    """The cells of a run in the list; `title` is the name that a user chose for it."""
    began = (
        moment(row["started_at"])
        if row["is_job"]
        else experiment_words(row["experiment"])
    )
    labels = labels_of_row(row)
    # Two runs may begin in the same minute; the end of the job's name tells them apart.
    told_apart = (
        _END_OF_JOB.search(row["experiment"]) if row["is_job"] else None
    )
    return {
        "Detector": row["detector_title"],
        "Input": setting_short(row["setting"]),
        "Benchmark": row["benchmark"],
        "Run": f"running since {began}"
        if is_running
        else f"{began}, {told_apart[0]}"
        if told_apart
        else began,
        "Name": title or labels.get("name", NOTHING),
        "Instances": count(row["n_instances"]),
        "Answers": count(row["n_answers"]),
        "No answer": count(row["n_unanswered"])
        if row["n_unanswered"]
        else NOTHING,
        "Runs agree": agreement_words(row),
        "Unstable": NOTHING
        if row["agreement"] is None
        else count(int(row["n_flips"])),
        "Tokens in / out": tokens_words(row),
        "Cost": cost_cell(row),
        "Median s": _median_words(row),
        "Note": labels.get("note", NOTHING),
    }


def labels_of_row(row: Mapping[str, Any]) -> dict[str, str]:
    """What the user calls a run; row: one of `pipeline.results.run_list`."""
    options = json.loads(row["options"]) if row["options"] else {}
    return {label: str(options[label]) for label in LABELS if label in options}


def agreement_words(row: dict[str, Any]) -> str:
    """The agreement among runs with its interval."""
    return (
        NOTHING
        if row["agreement"] is None
        else f"{percent(row['agreement'])} ({interval(row['low'], row['high'])})"
    )


def _median_words(row: Mapping[str, Any]) -> str:
    seconds = row["seconds_median"]
    return NOTHING if seconds is None else f"{seconds:.2f}"


def cost_cell(row: dict[str, Any]) -> str:
    """What a run cost: "unknown" if a model replied without a count, a dash without a model."""
    if row["usd"] is None:
        return NOTHING if row["seconds_median"] is None else "unknown"
    return usd_words(row["usd"])


def tokens_words(row: dict[str, Any]) -> str:
    """Tokens of all requests, in and out; a dash without a model, "unknown" if the endpoint did not count."""
    n_uncounted = int(row["n_uncounted"] or 0)
    if row["input_tokens"] is None and row["output_tokens"] is None:
        return "unknown" if n_uncounted else NOTHING
    counts = f"{count_or_unknown(row['input_tokens'])} / {count_or_unknown(row['output_tokens'])}"
    return (
        f"{counts}, {count(n_uncounted)} not counted" if n_uncounted else counts
    )


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
        "Started": moment(row["started_at"]),
        "Questions": count(row["n_replies"]),
        "Labels": count(row["n_labels"]),
        "No label": count(n_unread) if n_unread else NOTHING,
        "No reply": count(row["n_troubles"]) if row["n_troubles"] else NOTHING,
        "Tokens in / out": tokens_words(row),
        "Cost": cost_cell(row),
        "Median s": _median_words(row),
    }
