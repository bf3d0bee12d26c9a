"""One run: its options, its accuracy beside the published runs, and its answer to each instance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.domain import Listed
from crane_core.pipeline.detection.score import PrintedRow, ScoreRow
from crane_core.pipeline.jobs.words import cost_words
from crane_core.pipeline.results.measures import WITH_STATE
from crane_core.pipeline.rows import as_rows
from crane_core.stats.rates import RATES
from crane_core.storage import answers as stored
from crane_core.storage.answers import Only, RunKey
from crane_core.ui import data, keys
from crane_core.ui.glossary import prose, with_terms
from crane_core.ui.grid import clicked_row
from crane_core.ui.inventory_view import draw_one
from crane_core.ui.navigation import link, turn
from crane_core.ui.result_switches import STUDY
from crane_core.ui.runs.address import address_of, key_of
from crane_core.ui.runs.listed import agreement_words, tokens_words
from crane_core.ui.runs.started import accuracy_words, draw_bar, started_runs
from crane_core.ui.runs.two import draw_comparison
from crane_core.ui.url_state import switch
from crane_core.ui.words import (
    NOTHING,
    count,
    experiment_words,
    interval,
    literal,
    moment,
    percent,
    setting_words,
)

MAX_REASONS = 12
MAX_OPTION = 48
"""Options up to this length are shown among the facts; longer ones are collapsed."""
PAGE = 100
"""Instances that are listed at once."""
MOST_HEIGHT = 674
POLL_S = 2.0


def draw_run(row: dict[str, Any]) -> None:
    """row: one of `pipeline.results.run_list`."""
    turn("All runs")
    st.title(literal(str(row["detector_title"])), anchor=False)
    if row["is_job"] and data.is_running(row["experiment"]):
        st.fragment(_watch, run_every=POLL_S)(row["experiment"])
    title = data.benchmark_titles().get(row["benchmark"], row["benchmark"])
    st.html(
        facts_html(
            row
            | {"benchmark": title, "title": data.run_title(row["experiment"])}
        )
    )
    if row["is_job"]:
        scores = data.scores(row["experiment"])
        _draw_scores(scores, data.printed_rows(row["benchmark"], scores))
    _draw_ways(row)
    draw_comparison(row)
    run = key_of(row)
    _draw_reasons(stored.reasons(data.store().cursor(), run))
    _draw_instances(run)
    draw_one(Listed.RUN, run.experiment)


def _watch(job: str) -> None:
    """Its progress; the page is drawn again for new answers and at its end."""
    before = data.answers()
    data.refresh()
    if not data.is_running(job) or data.answers() != before:
        st.rerun()
    words = next((run.words for run in started_runs() if run.job == job), "")
    if words:
        draw_bar(words, job)
    else:
        st.info(
            "Running. New answers show up here as they arrive.",
            icon=":material/hourglass_top:",
        )
        st.caption(accuracy_words(job))


def _draw_ways(row: dict[str, Any]) -> None:
    has_study = (
        data.verdicts()["benchmark"].eq(row["benchmark"])
        & data.verdicts()["experiment"].eq(STUDY)
    ).any()
    if row["is_job"] and has_study and row["setting"] in WITH_STATE:
        link(
            "results",
            "Beside the study on Results",
            benchmark=row["benchmark"],
            beside=row["experiment"],
        )
    elif row["n_answers"]:
        link(
            "results",
            "Its results",
            benchmark=row["benchmark"],
            experiment=row["experiment"],
        )


def facts_html(row: dict[str, Any]) -> str:
    """What ran and what it took; options that are long fold away."""
    options: dict[str, Any] = (
        json.loads(row["options"]) if row["options"] else {}
    )
    said = {
        name.replace("_", " "): _option(value)
        for name, value in options.items()
    }
    said |= {"name": row["title"]} if row.get("title") else {}
    facts = {
        "input": setting_words(row["setting"]),
        "benchmark": row["benchmark"],
        "run": row["experiment"]
        if row["is_job"]
        else experiment_words(row["experiment"]),
        "started": moment(row["started_at"]) if row["started_at"] else None,
        "instances": count(row["n_instances"]),
        "answers": count(row["n_answers"]),
        "without an answer": count(row["n_unanswered"])
        if row["n_unanswered"]
        else None,
        "runs agree": agreement_words(row)
        if row["agreement"] is not None
        else None,
        "tokens in / out": tokens_words(row)
        if row["seconds_median"] is not None
        else None,
        "cost": None
        if row["seconds_median"] is None
        else cost_words(row["usd"], row["usd_reported"]),
        "seconds per reply": _seconds(row),
        "requests beyond the first": count(int(row["n_retried"]))
        if row["n_retried"]
        else None,
        **{
            name: value
            for name, value in said.items()
            if len(value) <= MAX_OPTION
        },
    }
    long = {
        name: value for name, value in said.items() if len(value) > MAX_OPTION
    }
    names = escape(", ".join(long))
    folded = (
        f'<details class="cw-options"><summary>{names}</summary>{_list_html(long)}</details>'
        if long
        else ""
    )
    return _list_html(facts) + folded


def _list_html(facts: dict[str, Any]) -> str:
    items = [
        f"<div><dt>{escape(name)}</dt><dd>{(with_terms if name == 'input' else escape)(str(value))}</dd></div>"
        for name, value in facts.items()
        if value
    ]
    return f'<dl class="cw-facts">{"".join(items)}</dl>'


def _seconds(row: dict[str, Any]) -> str | None:
    if row["seconds_median"] is None:
        return None
    return f"median {row['seconds_median']:.2f}, 95% within {row['seconds_p95']:.2f}"


def _option(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{name} {_option(inner)}" for name, inner in value.items()
        )
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _draw_scores(rows: list[ScoreRow], printed: list[PrintedRow]) -> None:
    if not rows:
        return
    beside = (
        "Crash detection, beside the published rows"
        if len(rows) > 1 or printed
        else "Crash detection"
    )
    st.subheader(beside, anchor="scores")
    st.html(scores_html(rows, printed))
    same = (
        "; the published rows over the same instances" if len(rows) > 1 else ""
    )
    prose(
        st.caption,
        f"Majority of runs, detection alone (as table 2b), 95% intervals clustered by case{same}.",
    )
    if printed:
        st.caption(
            f"p: printed in the paper (Table {printed[0].table}), over all its notebooks; those answers are not loaded."
        )


def scores_html(
    rows: list[ScoreRow], printed: Sequence[PrintedRow] = ()
) -> str:
    """The rates of the run, in bold, of the published ones, and what the paper prints."""
    names = "".join(f"<th>{escape(name)}</th>" for name in ("n", *RATES))
    body = "".join(
        [
            *(_score_html(row) for row in rows),
            *(_printed_html(row) for row in printed),
        ]
    )
    head = f'<th>Detector</th><th class="cw-text">Input</th>{names}'
    return f'<table class="cw-numbers"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _printed_html(row: PrintedRow) -> str:
    # Neither n nor intervals: the paper prints the rates, and its answers are not loaded.
    cells = "".join(
        f'<td>{escape(row.cells[name])} <span class="cw-dim">p</span></td>'
        if name in row.cells
        else "<td></td>"
        for name in RATES
    )
    words = escape(setting_words(row.setting))
    return f'<tr><td>{escape(row.title)}</td><td class="cw-text">{words}</td><td></td>{cells}</tr>'


def _score_html(row: ScoreRow) -> str:
    title = (
        escape(row.title) if row.is_published else f"<b>{escape(row.title)}</b>"
    )
    rates = [row.rates[name] for name in RATES]
    cells = "".join(
        f'<td>{percent(rate.value)} <span class="cw-dim">{_unbroken(interval(rate.low, rate.high))}</span></td>'
        for rate in rates
    )
    words = escape(setting_words(row.setting))
    return f'<tr><td>{title}</td><td class="cw-text">{words}</td><td>{row.n - row.left_out}</td>{cells}</tr>'


def _unbroken(text: str) -> str:
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _draw_reasons(reasons: list[tuple[str, int]]) -> None:
    if not reasons:
        return
    st.subheader("Without an answer", anchor="unanswered")
    items = "".join(
        f"<li>{count(n)} × {escape(reason[:300])}</li>"
        for reason, n in reasons[:MAX_REASONS]
    )
    n_rest = len(reasons) - MAX_REASONS
    st.html(
        f"<ul>{items}{f'<li>and {count(n_rest)} more reasons</li>' if n_rest > 0 else ''}</ul>"
    )


def _draw_instances(run: RunKey) -> None:
    """One line of answers per instance, page by page; a click opens prompt and replies."""
    st.subheader("Answers", anchor="answers")
    only = Only(
        switch(
            "Instances",
            [str(only) for only in Only],
            key=keys.RUN_ONLY,
            default=str(Only.ALL),
        )
    )
    cursor = data.store().cursor()
    # The key names run and filter: page nine of a long list may lie beyond the end of a short one.
    shown_page = int(st.session_state.get(f"{keys.RUN_PAGE}_{run}_{only}", 1))
    page = stored.instance_page(cursor, run, only, page=shown_page, size=PAGE)
    if page.empty:
        st.info(
            "No answer has arrived yet."
            if only == Only.ALL
            else f"No instance matches the filter: {only}."
        )
        return
    n_all = int(page["n_all"].iloc[0])
    st.caption(
        f"{count(n_all)} instances. Click a row to read its prompt and its raw replies. C: a crash is predicted, "
        "a dot: none, a question mark: no answer."
    )
    rows = as_rows(page)
    place = clicked_row(
        pd.DataFrame([_cells(row) for row in rows]),
        most_height=MOST_HEIGHT,
        key=f"{keys.PICKED}_answers_{run}_{only}_{shown_page}",
        column_config={
            "First answer": st.column_config.TextColumn(width="large")
        },
    )
    if n_all > PAGE:
        st.pagination(-(-n_all // PAGE), key=f"{keys.RUN_PAGE}_{run}_{only}")
    if place is not None:
        chosen = str(rows[place]["instance_id"])
        st.query_params.from_dict(address_of(run, chosen, only))
        st.rerun()


def _cells(row: dict[str, Any]) -> dict[str, str]:
    truth = {True: "crash", False: "no crash"}.get(row["truth"], NOTHING)
    return {
        "Instance": row["instance_id"],
        "Actual": truth,
        "Answers": row["marks"],
        "Vote": vote_words(row),
        "First answer": row["said"] or "",
    }


def vote_words(row: dict[str, Any]) -> str:
    """The majority of the answers, and whether it is right where that is known."""
    if row["n_crash"] + row["n_safe"] == 0:
        return "no answer"
    if row["n_crash"] == row["n_safe"]:
        return "tie"
    crash = row["n_crash"] > row["n_safe"]
    sign = (
        "" if row["truth"] is None else " ✓" if crash == row["truth"] else " ✗"
    )
    return ("crash" if crash else "no crash") + sign
