"""Replies are read wherever the answer stands, and nothing else is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import Reply, Setting
from crane_core.pipeline.reply_reading import run_of
from crane_core.prompts.reply import MAX_REASONING, ReadReply, read_reply

GOOD = '{"reasoning": "x is not defined", "detection": true}'
READ = ReadReply(True, "x is not defined", None)
THINKING = "the reply ends inside the model's thinking"
CUT_OFF = "the reply was cut off at the token limit"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n\n{GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"Step 1: d = {{'a': 1}}.\nStep 2: {{broken\n{GOOD}\nThat is all {{}}.",
        f"{GOOD}\n{GOOD}",
        f"[{GOOD}]",
        f'{{"answer": {GOOD}, "model": "m"}}',
        f'<think>first {{"reasoning": "no", "detection": false}}</think>{GOOD}',
        '{"detection": true, "reasoning": "x is not defined"}',
        '{"reasoning": "x is not defined", "detection": "True"}',
        '{"reasoning": "x is not defined", "detection": true, "confidence": 0.9}',
        f'first {{"reasoning": "no", "detection": false}}</think>{GOOD}',
        f'<thinking>no: {{"reasoning": "no", "detection": false}}</thinking>\n{GOOD}',
        f'<reasoning>{{"reasoning": "no", "detection": false}}</reasoning>{GOOD}',
        f'<seed:think>{{"detection": false}}</seed:think>{GOOD}',
        f'[THINK]{{"detection": false}}[/THINK]{GOOD}',
        f'<|begin_of_thought|>{{"detection": false}}<|end_of_thought|>{GOOD}',
        f'<think>one <think> two</think> {{"detection": false}}</think>{GOOD}',
        '<|channel|>analysis<|message|>{"detection": false}<|end|><|start|>assistant'
        f"<|channel|>final <|constrain|>json<|message|>{GOOD}<|return|>",
        f'The form is {{"reasoning": "...", "detection": false}}, so: {GOOD}',
    ],
)
def test_answer_is_read(text: str) -> None:
    assert read_reply(text) == READ


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("", "the reply is empty"),
        (" \n", "the reply is empty"),
        ("true", "the reply contains no JSON object"),
        ("The cell crashes.", "the reply contains no JSON object"),
        (GOOD[:-1], "the JSON of the reply is cut off or malformed"),
        ('{"reasoning": "it is', "the JSON of the reply is cut off or malformed"),
        ('{"reasoning": "it is", "crash": true}', "no object in the reply has the key detection"),
        ('{"detection": "maybe"}', "the key detection is not a boolean"),
        ('{"detection": 1}', "the key detection is not a boolean"),
        ('{"detection": null}', "the key detection is not a boolean"),
        ('{"detection": true, "detection": false}', "the object has a duplicate key"),
        ('{"reasoning": "a", "reasoning": "b", "detection": true}', "the object has a duplicate key"),
        (GOOD + '{"reasoning": "no", "detection": false}', "the reply contains 2 different answers"),
        ('<think>The form is {"reasoning": "x", "detection": true}. Let me see', THINKING),
        (f"Sure. <think>{GOOD}", THINKING),
        (f"<thinking>{GOOD}", THINKING),
        (f"<reasoning>{GOOD}", THINKING),
        (f"[THINK]{GOOD}", THINKING),
        (f"<think>{GOOD}</think>{GOOD}<think>wait", THINKING),
        (f"<|channel|>analysis<|message|>{GOOD}", THINKING),
        (f"<think>{GOOD}</think>", "the reply has only the model's thinking"),
        (f"<think>{GOOD}</think> It crashes.", "the reply contains no JSON object"),
        ('{"reasoning": "...", "detection": true}', "the reply repeats the answer format but gives no answer"),
        ('{"reasoning": "<why>", "detection": true}', "the reply repeats the answer format but gives no answer"),
    ],
)
def test_what_holds_no_answer_is_none_with_the_reason(text: str, trouble: str) -> None:
    assert read_reply(text) == ReadReply(None, None, trouble)


@pytest.mark.parametrize(
    ("finish_reason", "trouble"),
    [
        ("length", CUT_OFF),
        ("MAX_TOKENS", CUT_OFF),
        ("content_filter", "the reply was held back by a content filter"),
        ("incomplete", "the endpoint ended the reply early"),
    ],
)
def test_reply_that_is_not_whole_is_no_answer(finish_reason: str, trouble: str) -> None:
    assert read_reply(GOOD, finish_reason) == ReadReply(None, None, trouble)
    reply = Reply("j", "b", "i", "d", Setting.CODE, 1, "sha", "2026-11-22", text=GOOD, finish_reason=finish_reason)
    assert (run_of(reply).crashes, run_of(reply).unanswered) == (None, trouble)


@pytest.mark.parametrize("finish_reason", [None, "stop", "end_turn", "tool_calls", "eos"])
def test_reply_that_is_whole_is_read(finish_reason: str | None) -> None:
    assert read_reply(GOOD, finish_reason) == READ


@pytest.mark.parametrize("tag", ["<think>", "</think>", "<reasoning>", "[THINK]", "<|channel|>analysis"])
def test_mark_of_thinking_that_a_reasoning_quotes_is_text(tag: str) -> None:
    reasoning = f"the cell prints {tag} and stops"
    assert read_reply(json.dumps({"reasoning": reasoning, "detection": False})) == ReadReply(False, reasoning, None)


def test_last_of_several_answers_that_agree_gives_the_reasoning() -> None:
    assert read_reply('{"reasoning": "draft", "detection": true} ... ' + GOOD) == READ


def test_answer_without_reasoning_is_an_answer() -> None:
    assert read_reply('{"detection": false}') == ReadReply(False, None, None)


def test_object_quoted_within_a_reasoning_is_no_answer() -> None:
    quoted = json.dumps({"reasoning": 'd = {"detection": false}', "detection": True})
    assert read_reply(quoted) == ReadReply(True, 'd = {"detection": false}', None)


def test_long_reasoning_is_kept_in_part_and_lone_surrogates_are_escaped() -> None:
    long = read_reply(json.dumps({"reasoning": "a" * (MAX_REASONING + 1_234), "detection": True}))
    assert long == ReadReply(True, "a" * MAX_REASONING + " ... 1,234 more characters", None)
    assert read_reply('{"reasoning": "\\ud800", "detection": true}').reasoning == "\\ud800"


REASONINGS = st.text(max_size=300)


@given(before=st.text(max_size=200), after=st.text(max_size=200), reasoning=REASONINGS, crashes=st.booleans())
def test_well_formed_answer_is_read_whatever_stands_around_it(
    *, before: str, after: str, reasoning: str, crashes: bool
) -> None:
    answer = json.dumps({"reasoning": reasoning, "detection": crashes})
    assert read_reply(before + answer + after) == ReadReply(crashes, reasoning, None)


JSON_PIECES = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        '"',
        ":",
        ",",
        "\\",
        "```json",
        "detection",
        '"detection":',
        '{"reasoning": "',
        "true",
        "</think>",
    ]
)


@given(st.lists(JSON_PIECES | st.text(max_size=5), max_size=60).map("".join))
def test_no_text_raises_and_every_one_has_an_answer_or_a_trouble(text: str) -> None:
    reply = read_reply(text)
    assert (reply.crashes is None) == (reply.trouble is not None)
    assert reply.crashes is not None or reply.reasoning is None


@given(st.lists(st.sampled_from(["{", '{"a":', '{"', "[", "{ "]), max_size=40).map("".join))
def test_beginnings_of_objects_before_an_answer_do_not_hide_it(noise: str) -> None:
    assert read_reply(f"{noise} \n{GOOD}").crashes is True


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    )
)
def test_other_json_is_no_answer(document: Any) -> None:
    assert read_reply(json.dumps(document)).crashes is None


@pytest.mark.parametrize(
    "piece",
    ["{", '{"', '{"a":', '{"a":"b', '{"a":1}', '{"x":[1,1,1,', "word ", '{"r":"\\"', '{"detection":', "1"],
)
def test_ten_megabytes_are_read_or_given_up(piece: str) -> None:
    assert read_reply(piece * (10_000_000 // len(piece))).trouble


@pytest.mark.parametrize("n", [1_999, 2_000, 2_001, 59_990, 60_000, 1_999_990, 2_000_000, 9_000_000])
def test_answer_of_any_length_is_read(n: int) -> None:
    answer = json.dumps({"reasoning": "é" * (n // 6), "detection": True})
    assert read_reply(f"Well: {answer} so.").crashes is True


def test_brackets_within_brackets_and_endless_numbers_are_no_answer_and_hide_none() -> None:
    for noise in ('{"a":' * 5_000, '{"a": ' + "1" * 50_000 + "}"):
        assert read_reply(noise).crashes is None
        assert read_reply(noise + GOOD) == READ
