"""A run's answers about one instance: each with its raw reply, and the exact prompt; all as text."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from crane_core.pipeline.jobs.words import cost_words, token_words
from crane_core.storage import answers as stored
from crane_core.storage.answers import Only, RunKey
from crane_core.storage.cases import prompt_text
from crane_core.storage.jobs import reply_text
from crane_core.ui import data, keys
from crane_core.ui.code_html import prompt_html
from crane_core.ui.glossary import prose
from crane_core.ui.navigation import draw_neighbours, link, show_here
from crane_core.ui.runs.address import address_of, asked_only
from crane_core.ui.words import (
    NOTHING,
    count,
    literal,
    setting_words,
    shortened,
)

MAX_REASON = 4_000


def draw_instance(title: str, run: RunKey, instance_id: str) -> None:
    """title: the detector's."""
    _draw_steps(run, instance_id)
    prose(
        st.caption,
        literal(
            f"{title}, {setting_words(run.setting)}, run {run.experiment} on {run.benchmark}"
        ),
    )
    answers = stored.answers(data.store().cursor(), run, instance_id)
    if not answers:
        st.info("This run has no answer for an instance of this name.")
        return
    truth = {True: "Actual: crash", False: "Actual: no crash"}.get(
        answers[0]["truth"]
    )
    if truth is not None:
        st.markdown(truth)
        link(
            "cases",
            "Open the pair",
            **{keys.CASE: answers[0]["case_id"], keys.BENCHMARK: run.benchmark},
        )
    for answer in answers:
        st.html(answer_html(answer))
        if answer["has_reply"]:
            _draw_reply(run, instance_id, answer)
    _draw_prompts(answers)


def _draw_steps(run: RunKey, instance_id: str) -> None:
    """The name with the way back to the run and to the neighbours, by button or key."""
    only = asked_only()
    place = stored.place_of(data.store().cursor(), run, instance_id, only)
    with st.container(
        horizontal=True, vertical_alignment="center", key="steps"
    ):
        st.title(literal(instance_id), anchor=False, width="content")
        st.button(
            "Back to the run",
            on_click=show_here,
            kwargs=address_of(run, only=only),
            icon=":material/arrow_back:",
            shortcut="escape",
        )
        draw_neighbours(
            place.before,
            place.after,
            lambda neighbour: show_here(**address_of(run, neighbour, only)),
        )
        if place.place:
            among = (
                "in this run"
                if only is Only.ALL
                else f"with the filter: {only}"
            )
            st.caption(
                f"{count(place.place)} of {count(place.n)} {among}",
                width="content",
            )


def answer_html(answer: dict[str, Any]) -> str:
    """The card of one answer."""
    head = {True: "crash", False: "no crash", None: "no answer"}[
        answer["crashes"]
    ]
    is_right = (
        answer["truth"] is not None and answer["crashes"] == answer["truth"]
    )
    sign = (
        ""
        if answer["truth"] is None or answer["crashes"] is None
        else " ✓"
        if is_right
        else " ✗"
    )
    css = "cw-alarm" if answer["crashes"] else "cw-calm"
    # Of what an answer may hold, the text that says most.
    text = str(
        answer["reasoning"]
        or answer["unanswered"]
        or answer["diagnostics"]
        or NOTHING
    )
    shown = escape(shortened(text, MAX_REASON))
    body = f"<dl><dt></dt><dd>{shown}</dd></dl>"
    return (
        f'<div class="cw-verdict {css}"><div class="cw-dim">{escape(_took(answer))}</div><h4>{head}{sign}</h4>'
        f"{body}</div>"
    )


def _took(answer: dict[str, Any]) -> str:
    """Which run it was, and what its reply took."""
    parts = [f"answer {answer['run_index']}"]
    if answer["seconds"] is not None:
        parts.append(f"{answer['seconds']:.2f} s")
    if answer["has_reply"] or answer["input_tokens"] is not None:
        parts.append(
            token_words(answer["input_tokens"], answer["output_tokens"])
        )
    if answer["has_reply"]:
        parts.append(
            cost_words(
                answer["usd"],
                answer["usd"] if answer["is_usd_reported"] else None,
            )
        )
    if (answer["attempts"] or 1) > 1:
        parts.append(f"{answer['attempts']} requests")
    # "stop" is the usual end; others, such as a reply that was cut, explain an answer that cannot be read.
    if answer["finish_reason"] not in (None, "stop"):
        parts.append(f"ended with {str(answer['finish_reason'])[:60]}")
    return ", ".join(parts)


def _draw_reply(run: RunKey, instance_id: str, answer: dict[str, Any]) -> None:
    raw = reply_text(
        data.store().cursor(),
        run.experiment,
        run.benchmark,
        instance_id,
        answer["run_index"],
    )
    if raw is None:
        return
    with st.expander(
        f"Raw reply {answer['run_index']} · {len(raw):,} characters"
    ):
        st.html(prompt_html(raw))


def _draw_prompts(answers: list[dict[str, Any]]) -> None:
    # The runs of an instance were mostly sent one and the same prompt.
    for sha256 in dict.fromkeys(
        answer["prompt_sha256"] for answer in answers if answer["prompt_sha256"]
    ):
        text = prompt_text(data.store().cursor(), sha256)
        size = "" if text is None else f" · {len(text):,} characters"
        with st.expander(f"The exact prompt {sha256[:12]}{size}"):
            if text is None:
                st.write(
                    "Its text is not loaded. The Data page fetches the published prompts."
                )
            else:
                st.html(prompt_html(text))
                # "ignore": a download needs no rerun of the page.
                st.download_button(
                    "Download prompt",
                    text,
                    f"{sha256[:12]}.txt",
                    on_click="ignore",
                )
