"""Replies that are meant as JSON and are not: read where they say one thing, and never completed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.prompts.reply import ReadReply, read_reply
from crane_core.prompts.reply_objects import near_objects

READ = ReadReply(True, "x is not defined", None)


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "reasoning": "x is not defined",\n  "detection": true,\n}',
        "{'Reasoning': 'x is not defined', 'Detection': True,}",
        "d = {}, then {'reasoning': 'x is not defined', 'detection': True}",
        "[{'reasoning': 'x is not defined', 'detection': True}]",
        '{"reasoning": "x is not defined", "detection": true, "why": [1, 2,],}',
    ],
)
def test_what_says_one_thing_is_read(text: str) -> None:
    """Rare ones; the frequent shapes stand in replies.toml."""
    assert read_reply(text) == READ


def test_a_line_end_within_a_string_is_part_of_it() -> None:
    assert read_reply(
        '{"reasoning": "one\ntwo", "detection": false}'
    ) == ReadReply(False, "one\ntwo", None)
    assert read_reply(
        "{'reasoning': 'one\r\ntwo', 'detection': False}"
    ) == ReadReply(False, "one\r\ntwo", None)


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        (
            "{'reasoning': '...', 'detection': True}",
            "the reply repeats the answer format but gives no answer",
        ),
        (
            "{'detection': True, 'Detection': False}",
            "the object has a duplicate key",
        ),
        (
            "{'detection': True} or {'detection': False}",
            "the reply contains 2 different answers",
        ),
        ("{'detection': 1}", "the key detection is not a boolean"),
    ],
)
def test_what_does_not_is_no_answer(text: str, trouble: str) -> None:
    assert read_reply(text) == ReadReply(None, None, trouble)


def test_json_counts_before_what_is_nearly_json() -> None:
    assert (
        read_reply(
            "d = {'detection': False}\n"
            + '{"reasoning": "x is not defined", "detection": true}'
        )
        == READ
    )


MEMBERS = st.dictionaries(
    st.text(max_size=8),
    st.text(max_size=20) | st.booleans() | st.none(),
    max_size=4,
)


@given(MEMBERS)
def test_what_python_or_json_write_comes_back(members: dict[str, Any]) -> None:
    expected = [(name.lower(), value) for name, value in members.items()]
    assert (
        next(near_objects(json.dumps(members, ensure_ascii=False))) == expected
    )
    assert next(near_objects(repr(members))) == expected


@given(st.text(st.sampled_from("{}[]'\":,\\ntrueTrue0 "), max_size=200))
def test_nothing_raises(text: str) -> None:
    assert len(list(near_objects(text))) <= 200


def test_what_is_deep_or_long_costs_little() -> None:
    assert list(near_objects("{" * 100_000)) == []
    assert list(near_objects("{'a': " * 10_000 + "1" + "}" * 10_000)) == []
