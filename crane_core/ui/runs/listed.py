"""The list of what ran, and that of judges' jobs: a model that labels diagnoses is a run, too."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from crane_core.charts.theme import detector_colours
from crane_core.domain import DetectorKind
from crane_core.pipeline.jobs.files import LABELS
from crane_core.pipeline.jobs.words import count_or_unknown, usd_words
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.sheet_text import csv_of
from crane_core.pipeline.verification.where import MINIBENCH
from crane_core.storage.answers import Only
from crane_core.ui import data, keys
from crane_core.ui.grid import grid
from crane_core.ui.linked_html import address, follow_link
from crane_core.ui.navigation import link, show_here
from crane_core.ui.rows_html import rows_html
from crane_core.ui.runs.address import (
    PAGE,
    address_of,
    comparison_address,
    draw_pages,
    key_of,
    page_shown,
    run_id,
)
from crane_core.ui.runs.started import started_runs
from crane_core.ui.runs.votes import least_stable
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
    quantity,
    setting_short,
)

_component = st.components.v2.component(
    "crane_runs",
    html='<div class="cw-run-list"></div>',
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    isolate_styles=False,
)
RUN_LIST = "runs"
MANY = 20
"""Rows from which on the list can be narrowed."""

_END_OF_JOB = re.compile(r"[0-9a-f]{8}(?:-\d+)?$")
OWN_PAIRS = (
    "The pairs of minibench were written by the authors of the rules, so the accuracy of rules on them is not an "
    "estimate for other notebooks."
)
HELP = {
    "Input": "; ".join(
        f"{SETTING_SHORT[setting]}: {words}"
        for setting, words in SETTING_WORDS.items()
    ),
    "Run": "Its name, start time, the end of the job's name and how it ended; of an imported run its release. Of a run "
    "on a part of the benchmark, on how many notebooks.",
    "Detection accuracy": "Share of notebooks that the majority vote has right, with its 95% interval. A diagnosis "
    f"does not count. The line spans 0 to 100%; its mark at 50% is what guessing would get. {OWN_PAIRS}",
    "Unstable": "Notebooks whose answers differ: some predict a crash, others do not.",
}
ONE_ANSWER = "Only runs with several answers to each notebook can be unstable."


def draw_list(table: pd.DataFrame) -> None:
    """`pipeline.results.run_list` as a table."""
    named = least_stable(table)
    table, above = _narrowed(table)
    n_jobs = int(table["is_job"].sum())
    if table.empty:
        st.info(
            "No run is loaded. Start one above, or import predictions on the Data page."
        )
        return
    compare = above.container(width="content")
    above.caption(
        f"{quantity(n_jobs, 'local run')}, {count(len(table) - n_jobs)} imported. "
        "Click a row to open it, a heading to sort; tick two or more to compare them.",
        width="stretch",
    )
    ticked = _draw_rows(table, named)
    if (table["agreement"].isna() & (table["n_answers"] > 0)).any():
        st.caption(ONE_ANSWER)
    is_of_rules = table["detector_kind"] == DetectorKind.RULES
    if (is_of_rules & (table["benchmark"] == MINIBENCH)).any():
        st.caption(OWN_PAIRS)
    detection = {
        name: f"detection_{name}"
        for name in ("accuracy", "accuracy_low", "accuracy_high")
    }
    st.download_button(
        "Download CSV",
        lambda: csv_of(table.rename(columns=detection)).encode(),
        "runs.csv",
        "text/csv",
        # A download need not run the page again.
        on_click="ignore",
    )
    with compare:
        _draw_compare(ticked)


def _draw_rows(
    table: pd.DataFrame, named: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """A page of the list, whose rows open; the ticked rows of all its pages, in the order of the list.

    named: the run that the title names, whose number is bold.
    """
    first = (page_shown(RUN_LIST) - 1) * PAGE
    shown = table.iloc[first : first + PAGE]
    rows, here = as_rows(table), as_rows(shown)
    ids = [run_id(key_of(row)) for row in rows]
    cells = _columns(shown)
    cells["Unstable"] = [
        _unstable_html(row, words)
        for row, words in zip(here, cells["Unstable"], strict=True)
    ]
    colours = detector_colours(
        data.run_list()["detector_title"].unique().tolist()
    )
    is_first = shown["benchmark"] != shown["benchmark"].shift()
    html = rows_html(
        cells,
        links=[address(address_of(key_of(row))) for row in here],
        ticks=[
            (name, f"Compare {row['Detector']} {row['Input']}, {row['Run']}")
            for name, row in zip(
                ids[first : first + PAGE], as_rows(cells), strict=True
            )
        ],
        about=HELP,
        looks={
            "Detection accuracy": [
                _interval_looks(row, colours[row["detector_title"]])
                for row in here
            ],
            "Benchmark": ["--first: 1" * bool(first) for first in is_first],
            # A phone leaves out those that were answered once.
            "Unstable": [
                "--once: 1"
                if row["agreement"] is None
                else "--named: 1"
                * (named is not None and key_of(row) == key_of(named))
                for row in here
            ],
        },
        finished=("Unstable",),
        css="cw-run-rows",
    )
    picked = keys.PICKED_RUNS
    held = (st.session_state.get(picked) or {}).get("ticked")
    # A browser can send anything; only runs of this list are ticked.
    known = set(held) if isinstance(held, list) and _are_texts(held) else set()
    _component(
        data={"html": html, "ticked": [name for name in ids if name in known]},
        key=picked,
        default={"ticked": []},
        on_ticked_change=lambda: None,
        on_asked_change=_follow,
    )
    draw_pages(RUN_LIST, len(table))
    return [row for name, row in zip(ids, rows, strict=True) if name in known]


def _unstable_html(row: Mapping[str, Any], words: str) -> str:
    """A number of notebooks leads to them."""
    if not row["n_flips"]:
        return words
    place = address(address_of(key_of(row), only=Only.FLIPS))
    return f'<a href="{place}">{words}</a>'


def _interval_looks(row: Mapping[str, Any], colour: str) -> str:
    """Where the style sheet draws a run's accuracy and its interval; nothing without them."""
    if row["accuracy"] is None:
        return ""
    low, at, high = (
        f"{row[name]:.3f}"
        for name in ("accuracy_low", "accuracy", "accuracy_high")
    )
    return f"--low: {low}; --at: {at}; --high: {high}; --mark: {colour}"


def _are_texts(held: list[object]) -> bool:
    return all(isinstance(one, str) for one in held)


def _follow() -> None:
    """Move the address to the run that was clicked; the page follows."""
    follow_link((st.session_state.get(keys.PICKED_RUNS) or {}).get("asked"))


def _draw_compare(ticked: list[dict[str, Any]]) -> None:
    """The button that compares the ticked runs, the first of them as the baseline, or why it cannot."""
    why_not = None
    if len(ticked) < 2:
        why_not = "Tick two or more runs in the table."
    elif len({row["benchmark"] for row in ticked}) > 1:
        why_not = "Runs on different benchmarks have no instance in common."
    elif not all(row["n_answers"] for row in ticked):
        why_not = "A ticked run has no answer yet."
    baseline, *against = [run_id(key_of(row)) for row in ticked] or [""]
    st.button(
        f"Compare {count(len(ticked))} runs" if len(ticked) > 1 else "Compare",
        key="_compare",
        disabled=why_not is not None,
        help=why_not,
        on_click=show_here,
        kwargs=comparison_address(baseline, against),
    )


def _narrowed(table: pd.DataFrame) -> tuple[pd.DataFrame, DeltaGenerator]:
    """The rows that the filters let pass, and the line of the filters; there are none while the list is short."""
    above = st.container(
        horizontal=True, vertical_alignment="bottom", key="above_runs"
    )
    if len(table) <= MANY:
        return table, above
    with above:
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
            chosen = many_of(
                words,
                options,
                key=key,
                placeholder="all",
                width=240,
                format_func=lambda name, titles=titles: titles.get(name, name),
            )
            table = table[table[column].isin(chosen)] if chosen else table
    return table, above


def _columns(table: pd.DataFrame) -> pd.DataFrame:
    sizes = dict(
        zip(
            *(data.benchmarks()[name] for name in ("benchmark", "n_instances")),
            strict=True,
        )
    )
    cells = pd.DataFrame(
        [
            row_cells(
                row,
                state=_state_of(row),
                n_of=sizes.get(row["benchmark"], 0),
                title=data.run_title(row["experiment"]),
            )
            for row in as_rows(table)
        ]
    )
    cells["Benchmark"] = [
        data.benchmark_title(name) for name in cells["Benchmark"]
    ]
    # The list is narrower while no run has cost anything.
    is_free = (cells["Cost"] == NOTHING).all()
    return cells.drop(columns="Cost") if is_free else cells


def _state_of(row: dict[str, Any]) -> str:
    """How far a run is, as far as this server knows: of another server's it knows only whether it is running."""
    job = row["experiment"]
    if not row["is_job"]:
        return "imported"
    if data.is_running(job):
        return "running"
    own = [run.state.lower() for run in started_runs() if run.job == job]
    return next(reversed(own), "ended")


def row_cells(
    row: dict[str, Any], *, state: str, n_of: int, title: str | None = None
) -> dict[str, str]:
    """The cells of a run in the list; n_of: notebooks of its benchmark; title: as a user renamed it."""
    began = (
        moment(row["started_at"])
        if row["is_job"]
        else experiment_words(row["experiment"])
    )
    # Two runs may begin in the same minute; the end of the job's name tells them apart.
    told_apart = (
        _END_OF_JOB.search(row["experiment"]) if row["is_job"] else None
    )
    run = f"{began}, {told_apart[0]}" if told_apart else began
    name = title or labels_of_row(row).get("name")
    parts = [name, run, *_state_parts(row, state, n_of=n_of)]
    return {
        "Detector": row["detector_title"],
        "Input": setting_short(row["setting"]),
        "Benchmark": row["benchmark"],
        "Run": ", ".join(filter(None, parts)),
        "Answers": count(row["n_answers"]),
        "Detection accuracy": _share_words(
            row, "accuracy", "accuracy_low", "accuracy_high"
        ),
        "Unstable": _unstable_words(row),
        "Cost": cost_cell(row),
    }


def _state_parts(row: dict[str, Any], state: str, *, n_of: int) -> list[str]:
    """How a local run ended, and what any run has no answer for: "cancelled", "on 7 of 40 notebooks", "3 missing"."""
    n, n_missing = row["n_answers"], row["n_unanswered"]
    if not n and state == "ended":
        state = "failed"
    parts = [] if state == "imported" else [state]
    if n and row["n_instances"] < n_of:
        parts.append(
            f"on {count(row['n_instances'])} of {count(n_of)} notebooks"
        )
    if n_missing:
        parts.append(f"{count(n_missing)} missing")
    return parts


def _unstable_words(row: dict[str, Any]) -> str:
    if row["agreement"] is not None:
        return f"{count(int(row['n_flips']))} of {count(row['n_instances'])}"
    return NOTHING


def options_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a local run was started with; row: one of `pipeline.results.run_list`."""
    return json.loads(row["options"]) if row["options"] else {}


def labels_of_row(row: Mapping[str, Any]) -> dict[str, str]:
    """What the user calls a run; row: one of `pipeline.results.run_list`."""
    options = options_of(row)
    return {label: str(options[label]) for label in LABELS if label in options}


def agreement_words(row: dict[str, Any]) -> str:
    """The agreement among the answers with its interval."""
    return _share_words(row, "agreement", "low", "high")


def _share_words(row: dict[str, Any], value: str, low: str, high: str) -> str:
    if row[value] is None:
        return NOTHING
    return f"{percent(row[value])} ({interval(row[low], row[high])})"


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
    st.header("Judges", anchor="judges")
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
