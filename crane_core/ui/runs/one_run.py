"""One run: how it was asked, how well it did beside the published ones, and every answer with prompt and raw reply."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.pipeline.detect_score import Row, scores
from crane_core.pipeline.rows import as_rows
from crane_core.stats.rates import RATES
from crane_core.storage import answers as stored
from crane_core.storage.cases import prompt_text
from crane_core.storage.jobs import reply_text
from crane_core.storage.store import Store
from crane_core.ui import keys
from crane_core.ui.navigation import link, turn
from crane_core.ui.run_strip import square_html
from crane_core.ui.runs.listed import ADDRESS, agreement_words, started_words, tokens_words
from crane_core.ui.words import NOTHING, count, experiment_words, interval, literal, percent, setting_words

MAX_TEXT = 200_000
MAX_REASONS = 12
PAGE = 50
"""Instances whose runs are drawn at once."""


def draw_run(store: Store, row: dict[str, Any]) -> None:
    """row: one of `pipeline.run_list`."""
    turn("All runs")
    st.title(literal(str(row["detector_title"])))
    st.html(_facts_html(row))
    if row["is_job"]:
        _draw_scores(scores(store, row["experiment"]))
    answers = stored.answers(store.cursor(), **{name: row[name] for name in ADDRESS})
    if answers.empty:
        st.info("No answer has arrived yet.")
        return
    _draw_unanswered(answers)
    _draw_answers(store, row, answers)


def _facts_html(row: dict[str, Any]) -> str:
    options: dict[str, Any] = json.loads(row["options"]) if row["options"] else {}
    facts = {
        "input": setting_words(row["setting"]),
        "benchmark": row["benchmark"],
        "run": row["experiment"] if row["is_job"] else experiment_words(row["experiment"]),
        "started": started_words(row["started_at"]) if row["started_at"] else None,
        "instances": count(row["n_instances"]),
        "answers": count(row["n_answers"]),
        "without an answer": count(row["n_unanswered"]) if row["n_unanswered"] else None,
        "runs agree": agreement_words(row) if row["agreement"] is not None else None,
        "tokens in / out": tokens_words(row) if row["input_tokens"] is not None else None,
        "cost": f"{row['usd']:.4f} USD" if row["usd"] is not None else None,
        "seconds per reply": _seconds(row),
        "requests beyond the first": count(int(row["n_retried"])) if row["n_retried"] else None,
        **{name.replace("_", " "): _option(value) for name, value in options.items()},
    }
    items = [
        f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>" for name, value in facts.items() if value
    ]
    return f'<dl class="cw-facts">{"".join(items)}</dl>'


def _seconds(row: dict[str, Any]) -> str | None:
    if row["seconds_median"] is None:
        return None
    return f"median {row['seconds_median']:.1f}, 95% within {row['seconds_p95']:.1f}"


def _option(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_option(inner)}" for name, inner in value.items())
    return str(value)


def _draw_scores(rows: list[Row]) -> None:
    if not rows:
        return
    st.subheader("Crash detection, beside the published rows", anchor="scores")
    names = "".join(f"<th>{escape(name)}</th>" for name in ("n", *RATES))
    head = f'<th>Detector</th><th class="cw-text">Input</th>{names}'
    body = "".join(_score_html(row) for row in rows)
    st.html(f'<table class="cw-numbers"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')
    st.caption(
        "Majority of runs, detection alone (tables 2a and 2b), with 95% intervals clustered by case; same instances."
    )


def _score_html(row: Row) -> str:
    title = escape(row.title) if row.is_published else f"<b>{escape(row.title)}</b>"
    rates = [row.rates[name] for name in RATES]
    cells = "".join(
        f'<td>{percent(rate.value)} <span class="cw-dim">{interval(rate.low, rate.high)}</span></td>' for rate in rates
    )
    return (
        f"<tr><td>{title}</td><td>{escape(setting_words(row.setting))}</td><td>{row.n - row.left_out}</td>{cells}</tr>"
    )


def _draw_unanswered(answers: pd.DataFrame) -> None:
    missing = answers[answers["crashes"].isna()]
    if missing.empty:
        return
    reasons = missing["unanswered"].fillna("no reason is known").value_counts()
    st.subheader("Without an answer", anchor="unanswered")
    items = "".join(
        f"<li>{count(n)} × {escape(str(reason)[:300])}</li>" for reason, n in reasons.head(MAX_REASONS).items()
    )
    rest = f"<li>and {count(len(reasons) - MAX_REASONS)} more reasons</li>" if len(reasons) > MAX_REASONS else ""
    st.html(f"<ul>{items}{rest}</ul>")


def _draw_answers(store: Store, row: dict[str, Any], answers: pd.DataFrame) -> None:
    st.subheader("Answers", anchor="answers")
    names = answers["instance_id"].unique().tolist()
    wanted = st.query_params.get(keys.INSTANCE)
    chosen = st.selectbox(
        "Instance",
        names,
        index=names.index(wanted) if wanted in names else None,
        placeholder=f"choose one of {count(len(names))} to read prompts and raw replies",
        key=f"{keys.RUN_INSTANCE}_{row['experiment']}_{row['detector']}_{row['setting']}",
        width=480,
    )
    if chosen is None:
        _draw_overview(answers)
        return
    runs = as_rows(answers[answers["instance_id"] == chosen])
    link("cases", "Open the pair", **{keys.CASE: chosen.rsplit("_", 1)[0], keys.BENCHMARK: row["benchmark"]})
    for run in runs:
        _draw_run_of_instance(store, row, chosen, run)
    _draw_prompt(store, runs)


def _draw_overview(answers: pd.DataFrame) -> None:
    """What every run said, one line per instance, right or wrong."""
    grouped = answers.groupby("instance_id", sort=True)
    names = [str(name) for name in grouped.groups]
    n_pages = -(-len(names) // PAGE)
    page = st.pagination(n_pages, key=keys.RUN_PAGE) if n_pages > 1 else 1
    shown = names[(page - 1) * PAGE : page * PAGE]
    body = "".join(_strip_html(name, as_rows(grouped.get_group(name))) for name in shown)
    head = "<th>Instance</th><th>Runs</th><th>What was said</th>"
    st.html(f'<table class="cw-strip"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')


def _strip_html(name: str, runs: list[dict[str, Any]]) -> str:
    squares = "".join(square_html(run) for run in runs)
    said = next((run["reasoning"] or run["unanswered"] for run in runs if run["reasoning"] or run["unanswered"]), "")
    cut = said if len(said) <= 240 else f"{said[:240]}…"
    return f'<tr><td>{escape(name)}</td><td><span class="cw-runs">{squares}</span></td><td>{escape(cut)}</td></tr>'


def _draw_run_of_instance(store: Store, row: dict[str, Any], instance_id: str, run: dict[str, Any]) -> None:
    head = {True: "crash", False: "no crash", None: "no answer"}[run["crashes"]]
    seconds = f", {run['seconds']:.2f} s" if run["seconds"] is not None else ""
    text = run["reasoning"] or run["unanswered"] or run["diagnostics"] or NOTHING
    st.html(
        f'<div class="cw-verdict {"cw-alarm" if run["crashes"] else "cw-calm"}"><div class="cw-dim">run '
        f"{run['run_index']}{seconds}</div><h4>{head}</h4><dl><dt></dt><dd>{escape(str(text)[:4_000])}</dd></dl></div>"
    )
    if run["has_reply"]:
        raw = reply_text(store.cursor(), row["experiment"], row["benchmark"], instance_id, run["run_index"])
        with st.expander(f"Raw reply of run {run['run_index']}"):
            st.html(f'<div class="cw-prompt">{escape((raw or run["trouble"] or "")[:MAX_TEXT])}</div>')


def _draw_prompt(store: Store, runs: list[dict[str, Any]]) -> None:
    for sha256 in dict.fromkeys(run["prompt_sha256"] for run in runs if run["prompt_sha256"]):
        text = prompt_text(store.cursor(), sha256)
        with st.expander(f"Prompt {sha256[:12]}"):
            if text is None:
                st.write("Its text is not on this machine.")
            else:
                st.html(f'<div class="cw-prompt">{escape(text[:MAX_TEXT])}</div>')
