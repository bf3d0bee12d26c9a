"""Replies are read wherever the answer stands, and nothing else is taken for one."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import Reply, Setting
from crane_core.pipeline.jobs.reply_reading import run_of
from crane_core.prompts.reply import MAX_REASONING, ReadReply, read_reply

GOOD = '{"reasoning": "x is not defined", "detection": true}'
READ = ReadReply(True, "x is not defined", None)


SHAPES = tomllib.loads(
    Path(__file__).with_name("replies.toml").read_text("utf-8")
)["reply"]


@pytest.mark.parametrize(
    "reply", SHAPES, ids=[shape["shape"] for shape in SHAPES]
)
def test_every_shape_of_the_corpus_is_read_or_refused_as_it_says(
    reply: dict[str, Any],
) -> None:
    """A verdict is what follows the thought, in a reply that is whole; the reasoning is that of the answer."""
    text, finish_reason = reply["text"], reply.get("finish_reason")
    read = read_reply(text, finish_reason)
    assert (read.crashes, read.trouble) == (
        reply.get("crashes"),
        reply.get("trouble"),
    )
    assert read.crashes is not True or read.reasoning == READ.reasoning
    kept = Reply(
        "j",
        "b",
        "i",
        "d",
        Setting.CODE,
        1,
        "sha",
        "2026-11-22",
        text=text,
        finish_reason=finish_reason,
    )
    assert (run_of(kept).crashes, run_of(kept).unanswered) == (
        read.crashes,
        read.trouble,
    )


def test_the_corpus_has_enough_shapes_each_once_with_one_expectation() -> None:
    assert (
        len(SHAPES)
        == len({shape["shape"] for shape in SHAPES})
        == len({_exact(shape) for shape in SHAPES})
        >= 60
    )
    assert all(("crashes" in shape) != ("trouble" in shape) for shape in SHAPES)
    cut = [shape for shape in SHAPES if shape.get("finish_reason") == "length"]
    assert cut and all("crashes" not in shape for shape in cut)


def _exact(shape: dict[str, Any]) -> tuple[str, str | None]:
    return shape["text"], shape.get("finish_reason")


@pytest.mark.parametrize(
    "finish_reason", [None, "stop", "end_turn", "tool_calls", "eos"]
)
def test_reply_that_is_whole_is_read(finish_reason: str | None) -> None:
    assert read_reply(GOOD, finish_reason) == READ


@pytest.mark.parametrize(
    "tag",
    ["<think>", "</think>", "<reasoning>", "[THINK]", "<|channel|>analysis"],
)
def test_mark_of_thinking_that_a_reasoning_quotes_is_text(tag: str) -> None:
    reasoning = f"the cell prints {tag} and stops"
    assert read_reply(
        json.dumps({"reasoning": reasoning, "detection": False})
    ) == ReadReply(False, reasoning, None)


def test_last_of_several_answers_that_agree_gives_the_reasoning() -> None:
    assert (
        read_reply('{"reasoning": "draft", "detection": true} ... ' + GOOD)
        == READ
    )


def test_answer_without_reasoning_is_an_answer() -> None:
    assert read_reply('{"detection": false}') == ReadReply(False, None, None)


def test_object_quoted_within_a_reasoning_is_no_answer() -> None:
    quoted = json.dumps(
        {"reasoning": 'd = {"detection": false}', "detection": True}
    )
    assert read_reply(quoted) == ReadReply(
        True, 'd = {"detection": false}', None
    )


def test_long_reasoning_is_kept_in_part_and_lone_surrogates_are_escaped() -> (
    None
):
    long = read_reply(
        json.dumps(
            {"reasoning": "a" * (MAX_REASONING + 1_234), "detection": True}
        )
    )
    assert long == ReadReply(
        True, "a" * MAX_REASONING + " ... 1,234 more characters", None
    )
    assert (
        read_reply('{"reasoning": "\\ud800", "detection": true}').reasoning
        == "\\ud800"
    )


REASONINGS = st.text(max_size=300)


@given(
    before=st.text(max_size=200),
    after=st.text(max_size=200),
    reasoning=REASONINGS,
    crashes=st.booleans(),
)
def test_well_formed_answer_is_read_whatever_stands_around_it(
    *, before: str, after: str, reasoning: str, crashes: bool
) -> None:
    answer = json.dumps({"reasoning": reasoning, "detection": crashes})
    assert read_reply(before + answer + after) == ReadReply(
        crashes, reasoning, None
    )


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
def test_no_text_raises_and_every_one_has_an_answer_or_a_trouble(
    text: str,
) -> None:
    reply = read_reply(text)
    assert (reply.crashes is None) == (reply.trouble is not None)
    assert reply.crashes is not None or reply.reasoning is None


@given(
    st.lists(st.sampled_from(["{", '{"a":', '{"', "[", "{ "]), max_size=40).map(
        "".join
    )
)
def test_beginnings_of_objects_before_an_answer_do_not_hide_it(
    noise: str,
) -> None:
    assert read_reply(f"{noise} \n{GOOD}").crashes is True


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        ),
    )
)
def test_other_json_is_no_answer(document: Any) -> None:
    assert read_reply(json.dumps(document)).crashes is None


@pytest.mark.parametrize(
    "piece",
    [
        *("{", '{"a":', "word ", '{"detection":'),
        *(
            pytest.param(piece, marks=pytest.mark.slow)
            for piece in ('{"', '{"a":"b', '{"a":1}', '{"x":[1,1,1,')
        ),
        *(
            pytest.param(piece, marks=pytest.mark.slow)
            for piece in ('{"r":"\\"', "1")
        ),
    ],
)
def test_ten_megabytes_are_read_or_given_up(piece: str) -> None:
    assert read_reply(piece * (10_000_000 // len(piece))).trouble


@pytest.mark.parametrize(
    "n", [1_999, 2_000, 2_001, 59_990, 60_000, 1_999_990, 2_000_000, 9_000_000]
)
def test_answer_of_any_length_is_read(n: int) -> None:
    answer = json.dumps({"reasoning": "é" * (n // 6), "detection": True})
    assert read_reply(f"Well: {answer} so.").crashes is True


@pytest.mark.slow
def test_brackets_within_brackets_and_endless_numbers_are_no_answer_and_hide_none() -> (
    None
):
    for noise in ('{"a":' * 5_000, '{"a": ' + "1" * 50_000 + "}"):
        assert read_reply(noise).crashes is None
        assert read_reply(noise + GOOD) == READ
