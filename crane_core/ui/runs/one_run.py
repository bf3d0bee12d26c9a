"""One run: its options, its accuracy beside the published runs, and its answer to each instance."""

from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.domain import DetectorKind, Listed
from crane_core.pipeline.detection.score import PrintedRow, ScoreRow
from crane_core.pipeline.jobs.words import cost_words
from crane_core.pipeline.maintenance.invalidate import invalidated
from crane_core.pipeline.results.measures import WITH_STATE
from crane_core.pipeline.results.run_comparison import right_and_answered
from crane_core.pipeline.rows import as_rows
from crane_core.stats.rates import RATES
from crane_core.storage import answers as stored
from crane_core.storage.answers import Only, RunKey
from crane_core.storage.search import phrase_of
from crane_core.ui import data, keys
from crane_core.ui.found_html import marked_line
from crane_core.ui.glossary import prose, with_terms
from crane_core.ui.headline import draw_headline
from crane_core.ui.inventory_view import draw_one
from crane_core.ui.linked_html import address, draw_linked
from crane_core.ui.navigation import here, link, show_here, turn
from crane_core.ui.result_switches import STUDY
from crane_core.ui.rows_html import rows_html
from crane_core.ui.runs import listed
from crane_core.ui.runs.address import (
    ONLY_WORDS,
    PAGE,
    comparison_address,
    draw_pages,
    key_of,
    list_key,
    page_shown,
    read_old_only,
    run_id,
)
from crane_core.ui.runs.confidence_view import draw_confidence
from crane_core.ui.runs.invalid import draw_invalidated
from crane_core.ui.runs.names import condition_words, run_words
from crane_core.ui.runs.started import accuracy_words, draw_bar, started_runs
from crane_core.ui.runs.votes import vote_words
from crane_core.ui.url_state import last_held, switch, text
from crane_core.ui.words import (
    NOTHING,
    count,
    experiment_words,
    interval,
    literal,
    moment,
    percent,
    quantity,
    setting_words,
)

MAX_REASONS = 12
HEADS = {name: name for name in RATES} | {"Accuracy": "Detection accuracy"}
"""Rates as this page names them: on Overview the diagnosis counts in accuracy, here it does not."""
MAX_OPTION = 48
"""Options up to this length are shown among the facts; longer ones are collapsed."""
SEARCH_LABEL = "Search reasoning and raw replies"
POLL_S = 2.0


def draw_run(row: dict[str, Any]) -> None:
    """row: one of `pipeline.results.run_list`."""
    turn("All runs", **last_held(keys.RUNS_ON, keys.RUNS_BY))
    draw_headline(
        run_sentence(row, *_right_and_answered(key_of(row))),
        tab=run_words(row),
    )
    if row["is_job"] and data.is_running(row["experiment"]):
        st.fragment(_watch, run_every=POLL_S)(row["experiment"])
    title = data.benchmark_title(row["benchmark"])
    st.html(
        facts_html(
            row
            | {
                "benchmark": title,
                "title": data.run_title(row["experiment"]),
                "n_invalid": len(invalidated(data.folder(), key_of(row))),
            }
        )
    )
    if row["is_job"]:
        scores = data.scores(row["experiment"])
        _draw_scores(scores, data.printed_rows(row["benchmark"], scores))
    with st.container(
        horizontal=True, vertical_alignment="center", gap="medium"
    ):
        _draw_ways(row)
        _draw_compare(row)
    run = key_of(row)
    is_of_model = row["detector_kind"] == DetectorKind.LLM
    if row["is_job"] and row["n_answers"] and is_of_model:
        draw_confidence(run, row["detector_title"])
    _draw_reasons(stored.reasons(data.store().cursor(), run))
    _draw_instances(run)
    draw_invalidated(run)
    draw_one(Listed.RUN, run.experiment)


@data.kept(data.answers, 64)
def _right_and_answered(run: RunKey) -> tuple[int, int]:
    return right_and_answered(data.verdicts(), run)


def run_sentence(row: dict[str, Any], n_right: int, n: int) -> str:
    """On how many instances a run is right."""
    who = condition_words(row)
    if not n:
        return f"{who}: no answer about an instance with a known outcome"
    return f"{who} is right on {count(n_right)} of {count(n)} instances"


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
            **{
                keys.BENCHMARK: row["benchmark"],
                keys.BESIDE: row["experiment"],
                # The leaderboard, which opens first, has own runs anyway.
                keys.PART: "Runtime state",
            },
        )
    elif row["n_answers"]:
        link(
            "results",
            "Its results",
            benchmark=row["benchmark"],
            experiment=row["experiment"],
        )


def _draw_compare(row: dict[str, Any]) -> None:
    """A way to the comparison with another run; nothing where no other has an answer on the benchmark."""
    mine = key_of(row)
    others = {
        run_id(key_of(each)): run_words(each)
        for each in as_rows(data.run_list())
        if each["n_answers"]
        and each["benchmark"] == mine.benchmark
        and key_of(each) != mine
    }
    if not row["n_answers"] or not others:
        return
    key = f"_compare_{run_id(mine)}"

    def open_comparison() -> None:
        show_here(**comparison_address(run_id(mine), [st.session_state[key]]))

    st.selectbox(
        "Compare with",
        list(others),
        index=None,
        label_visibility="collapsed",
        placeholder="Compare with another run",
        key=key,
        width=420,
        format_func=others.__getitem__,
        on_change=open_comparison,
    )


def facts_html(row: dict[str, Any]) -> str:
    """What ran and what it took; options that are long fold away."""
    said = {
        name.replace("_", " "): _option(value)
        for name, value in listed.options_of(row).items()
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
        "invalidated": count(row["n_invalid"])
        if row.get("n_invalid")
        else None,
        "without an answer": count(row["n_unanswered"])
        if row["n_unanswered"]
        else None,
        "answers agree": listed.agreement_words(row)
        if row["agreement"] is not None
        else None,
        "tokens in / out": listed.tokens_words(row)
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
    st.header(beside, anchor="scores")
    st.html(scores_html(rows, printed))
    same = (
        "; the published rows over the same instances" if len(rows) > 1 else ""
    )
    prose(
        st.caption,
        f"Majority of answers, detection alone (as table 2b), 95% intervals clustered by case{same}.",
    )
    if printed:
        st.caption(
            f"p: printed in the paper (Table {printed[0].table}), over all its notebooks; those answers are not loaded."
        )


def scores_html(
    rows: list[ScoreRow], printed: Sequence[PrintedRow] = ()
) -> str:
    """The rates of the run, in bold, of the published ones, and what the paper prints."""
    names = "".join(
        f"<th>{escape(name)}</th>" for name in ("n", *HEADS.values())
    )
    body = "".join(
        [
            *(_score_html(row) for row in rows),
            *(_printed_html(row) for row in printed),
        ]
    )
    head = f'<th>Detector</th><th class="cw-text">Input</th>{names}'
    return (
        '<div class="cw-scroll" tabindex="0"><table class="cw-numbers cw-cards">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _printed_html(row: PrintedRow) -> str:
    # Neither n nor intervals: the paper prints the rates, and its answers are not loaded.
    cells = "".join(
        f'<td data-head="{escape(head)}">{escape(row.cells[name])} <span class="cw-dim">p</span></td>'
        if name in row.cells
        else '<td class="cw-empty"></td>'
        for name, head in HEADS.items()
    )
    words = escape(setting_words(row.setting))
    return (
        f'<tr><th scope="row">{escape(row.title)}</th><td class="cw-text" data-head="Input">{words}</td>'
        f'<td class="cw-empty"></td>{cells}</tr>'
    )


def _score_html(row: ScoreRow) -> str:
    title = (
        escape(row.title) if row.is_published else f"<b>{escape(row.title)}</b>"
    )
    cells = "".join(
        f'<td data-head="{escape(head)}">{percent(row.rates[name].value)} '
        f'<span class="cw-dim">{_unbroken(interval(row.rates[name].low, row.rates[name].high))}</span></td>'
        for name, head in HEADS.items()
    )
    words = escape(setting_words(row.setting))
    return (
        f'<tr><th scope="row">{title}</th><td class="cw-text" data-head="Input">{words}</td>'
        f'<td data-head="n">{row.n - row.left_out}</td>{cells}</tr>'
    )


def _unbroken(text: str) -> str:
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _draw_reasons(reasons: list[tuple[str, int]]) -> None:
    if not reasons:
        return
    st.header("Without an answer", anchor="unanswered")
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
    st.header("Answers", anchor="answers")
    read_old_only()
    with st.container(
        horizontal=True, vertical_alignment="bottom", gap="medium"
    ):
        only = Only(
            switch(
                "Instances",
                [str(only) for only in Only],
                key=keys.RUN_ONLY,
                default=str(Only.ALL),
                format_func=lambda only: ONLY_WORDS[Only(only)],
                width="content",
            )
        )
        find = phrase_of(
            text(
                SEARCH_LABEL,
                key=keys.SEARCH,
                width=320,
                label_visibility="collapsed",
                placeholder=SEARCH_LABEL,
                icon=":material/search:",
            )
        )
    cursor = data.store().cursor()
    shown = list_key(run, only, find)
    shown_page = page_shown(shown)
    page = stored.instance_page(
        cursor, run, only, page=shown_page, size=PAGE, find=find
    )
    if page.empty:
        has_texts = not find or stored.has_texts(cursor, run)
        st.info(_nothing_words(only, find, has_texts=has_texts))
        return
    n_all = int(page["n_all"].iloc[0])
    rows = as_rows(page)
    if find:
        st.caption(
            literal(found_words(n_all, int(page["n_found_all"].iloc[0]), find))
        )
        draw_linked(hits_html(rows, find), key="hits")
    else:
        st.caption(
            f"{count(n_all)} instances. Each opens its prompt and its raw replies. ■ crash, □ no crash, ? no answer."
        )
        draw_linked(answers_html(rows), key="answers")
    draw_pages(shown, n_all)


def _nothing_words(only: Only, find: str, *, has_texts: bool) -> str:
    if not has_texts:
        return (
            "The texts of these answers are not loaded, so there is nothing to search. The Data page fetches those of "
            "the study."
        )
    if find:
        among = "" if only is Only.ALL else f" among: {ONLY_WORDS[only]}"
        return literal(f"No answer contains {find}{among}.")
    if only is Only.ALL:
        return "No answer has arrived yet."
    return f"No instance matches the filter: {ONLY_WORDS[only]}."


def found_words(n_instances: int, n_answers: int, find: str) -> str:
    """How many answers contain what was searched for, and about how many instances they are."""
    contain = "contains" if n_answers == 1 else "contain"
    return f"{quantity(n_answers, 'answer')} on {quantity(n_instances, 'instance')} {contain} “{find}”."


def hits_html(rows: list[dict[str, Any]], find: str) -> str:
    """Instances of `storage.answers.instance_page` that a search found, each with the text around the first hit."""
    body = "".join(
        f'<tr><th scope="row"><a href="{address(here(**{keys.INSTANCE: row["instance_id"]}))}">'
        f"{escape(row['instance_id'])}</a></th>"
        f'<td data-head="Actual">{_actual(row)}</td><td data-head="Vote">{vote_words(row)}</td>'
        f'<td data-head="Answers">{count(row["n_found"])} found</td>'
        f'<td class="cw-hit">{marked_line(row["said"] or "", find)}</td></tr>'
        for row in rows
    )
    heads = ("Instance", "Actual", "Vote", "Answers", "First answer found")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return (
        f'<table class="cw-versus cw-cards cw-instances"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def answers_html(rows: list[dict[str, Any]]) -> str:
    """Instances of `storage.answers.instance_page`, each with its answers, its vote and the first answer."""
    links = [
        address(here(**{keys.INSTANCE: row["instance_id"]})) for row in rows
    ]
    cells = pd.DataFrame([_cells(row) for row in rows])
    return rows_html(
        cells,
        links=links,
        finished=("Answers",),
        css="cw-answers",
        is_tall=True,
    )


def _cells(row: dict[str, Any]) -> dict[str, str]:
    return {
        "Instance": row["instance_id"],
        "Actual": _actual(row),
        "Answers": _squares_html(row),
        "Vote": vote_words(row),
        "First answer": row["said"] or "",
    }


def _squares_html(row: dict[str, Any]) -> str:
    """Each answer as the square that it is on the page of its pair."""
    squares = "".join(_SQUARES.get(mark, "") for mark in row["marks"])
    told = (
        f"{row['n_crash']} of {row['n_crash'] + row['n_safe']} predict a crash"
    )
    return f'<span class="cw-runs" role="img" aria-label="{told}" title="{told}">{squares}</span>'


_SQUARES = {
    "C": '<span class="cw-run-crash"></span>',
    "·": '<span class="cw-run-safe"></span>',
    "?": '<span class="cw-run-none">?</span>',
}


def _actual(row: dict[str, Any]) -> str:
    return {True: "crash", False: "no crash"}.get(row["truth"], NOTHING)
