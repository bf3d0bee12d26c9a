"""A run's answers about one instance: each with its raw reply, and the exact prompt; all as text."""

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import streamlit as st

from crane_core.pipeline.jobs.words import cost_words, token_words
from crane_core.storage import answers as stored
from crane_core.storage.answers import AnswerPlace, Only, RunKey
from crane_core.storage.cases import prompt_text
from crane_core.storage.jobs import reply_text
from crane_core.ui import data, keys
from crane_core.ui.code_html import prompt_html
from crane_core.ui.found_html import is_found, marked_html
from crane_core.ui.glossary import prose
from crane_core.ui.headline import draw_headline
from crane_core.ui.navigation import draw_neighbours, here, link, show_here
from crane_core.ui.runs.address import (
    ONLY_WORDS,
    asked_find,
    asked_only,
    list_key,
    remember_place,
    run_id,
)
from crane_core.ui.runs.invalid import draw_invalidate, draw_invalidated
from crane_core.ui.runs.votes import share_of_vote, vote_words
from crane_core.ui.words import (
    NOTHING,
    count,
    experiment_words,
    literal,
    setting_words,
    shortened,
)

MAX_REASON = 4_000
NO_DIAGNOSTICS = "[]"
"""What an analyzer that found nothing left."""


class InstanceList(NamedTuple):
    """The list that an instance was opened from: what is before and after it there, and how the list is called.

    back: the words of the button that goes there; address: the parameters of the list.
    """

    place: AnswerPlace
    words: str
    back: str
    address: dict[str, str | list[str]]


class ShownRun(NamedTuple):
    """A run whose answers are shown, and what it is called."""

    key: RunKey
    name: str


def draw_instance(
    runs: Sequence[ShownRun],
    instance_id: str,
    within: InstanceList,
    *,
    find: str = "",
) -> None:
    """The answers of one run, or of several side by side; the words of a search are marked in them."""
    _draw_steps(instance_id, within)
    cursor = data.store().cursor()
    answers = [stored.answers(cursor, run.key, instance_id) for run in runs]
    first = next((of[0] for of in answers if of), None)
    if first is None:
        st.info("This run has no answer for an instance of this name.")
        for run in runs:
            draw_invalidated(run.key, instance_id)
        return
    truth = {True: "Actual: crash", False: "Actual: no crash"}.get(
        first["truth"]
    )
    if truth is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(truth, width="content")
            link(
                "cases",
                "Open the pair",
                **{
                    keys.CASE: first["case_id"],
                    keys.BENCHMARK: runs[0].key.benchmark,
                },
            )
    for column, run, of in zip(
        st.columns(len(runs), gap="medium"), runs, answers, strict=True
    ):
        with column:
            _draw_answers(run, instance_id, of, find)


def _draw_answers(
    run: ShownRun, instance_id: str, answers: list[dict[str, Any]], find: str
) -> None:
    key = run.key
    votes = {
        "truth": answers[0]["truth"] if answers else None,
        "n_crash": sum(answer["crashes"] is True for answer in answers),
        "n_safe": sum(answer["crashes"] is False for answer in answers),
    }
    said = " ".join(filter(None, (vote_words(votes), share_of_vote(votes))))
    st.markdown(literal(f"{run.name}: ") + f"**{said}**")
    benchmark = data.benchmark_title(key.benchmark)
    where = f"{setting_words(key.setting)}, {experiment_words(key.experiment)}, on {benchmark}"
    prose(st.caption, literal(where))
    with st.container(key=f"said_{run_id(key)}"):
        for answer in answers:
            with st.container(gap="xsmall"):
                st.html(answer_html(answer, find))
                if answer["has_reply"]:
                    _draw_reply(key, instance_id, answer, find)
                draw_invalidate(key, instance_id, answer["run_index"])
    draw_invalidated(key, instance_id)
    _draw_prompts(key, answers)


def _draw_steps(instance_id: str, within: InstanceList) -> None:
    """The name with the way back to the list and to the neighbours, by button or key."""
    place = within.place
    with st.container(
        horizontal=True, vertical_alignment="center", key="steps"
    ):
        draw_headline(instance_id, tab=instance_id, width="content")
        st.button(
            within.back,
            on_click=show_here,
            kwargs=within.address,
            icon=":material/arrow_back:",
            shortcut="escape",
        )
        draw_neighbours(
            place.before,
            place.after,
            lambda neighbour: show_here(
                **within.address | {keys.INSTANCE: neighbour}
            ),
        )
        if place.place:
            st.caption(
                literal(
                    f"{count(place.place)} of {count(place.n)} {within.words}"
                ),
                width="content",
            )


def list_of_run(run: RunKey, instance_id: str) -> InstanceList:
    """The run's own list of instances under the filter and the search of the address."""
    only, find = asked_only(), asked_find()
    said = [] if only is Only.ALL else [ONLY_WORDS[only]]
    said += [f"answers with {find}"] if find else []
    cursor = data.store().cursor()
    place = stored.place_of(cursor, run, instance_id, only, find)
    remember_place(list_key(run, only, find), place.place)
    return InstanceList(
        place,
        f"with the filter: {', '.join(said)}" if said else "in this run",
        "Back to the run",
        here(**{keys.INSTANCE: ""}),
    )


def answer_html(answer: dict[str, Any], find: str = "") -> str:
    """The card of one answer, with the words of a search marked."""
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
        or (answer["diagnostics"] or "").removeprefix(NO_DIAGNOSTICS)
        or NOTHING
    )
    shown = marked_html(shortened(text, MAX_REASON), find)
    body = f"<dl><dt></dt><dd>{shown}</dd></dl>"
    return (
        f'<div class="cw-verdict {css}"><div class="cw-dim">{escape(_took(answer))}</div><h2>{head}{sign}</h2>'
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


def _draw_reply(
    run: RunKey, instance_id: str, answer: dict[str, Any], find: str
) -> None:
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
        f"Raw reply {answer['run_index']} · {len(raw):,} characters",
        # What was searched for and is in the reply alone would stay hidden.
        expanded=is_found(raw, find)
        and not is_found(answer["reasoning"], find),
        # Of two runs both have a first reply.
        key=f"reply_{run}_{answer['run_index']}",
    ):
        st.html(prompt_html(raw, find=find))


def _draw_prompts(run: RunKey, answers: list[dict[str, Any]]) -> None:
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
                    key=f"prompt_{run}_{sha256}",
                )
