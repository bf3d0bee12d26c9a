"""Phrases about cases: what they ask of the list, and which are none."""

from __future__ import annotations

import pytest

from crane_core.ui.bar.index import FilterValue, understood, vocabulary

KNOWN = vocabulary(
    [
        FilterValue("library", "torch", "torch"),
        FilterValue("root_cause", "data confusion", "data confusion"),
        FilterValue("detector", "gpt-5", "GPT-5", ("GPT",)),
        FilterValue("detector", "qwen", "Qwen2.5-32B-Instruct"),
        FilterValue("setting", "code", "−RT", ("code only", "-RT")),
    ]
)


@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        (
            "torch missed by GPT-5",
            {
                "library": ["torch"],
                "agreement": "missed by all",
                "detector": ["gpt-5"],
            },
            "torch · missed by all · answers of GPT-5",
        ),
        (
            "Data confusion, gpt and qwen, code only",
            {
                "root_cause": ["data confusion"],
                "detector": ["gpt-5", "qwen"],
                "setting": ["code"],
            },
            "data confusion · answers of GPT-5, Qwen2.5-32B-Instruct, −RT",
        ),
        ("false alarms", {"agreement": "false alarm"}, "false alarm"),
    ],
)
def test_a_phrase_becomes_the_filters_that_it_names(
    text: str, query: dict[str, object], words: str
) -> None:
    assert understood(text, KNOWN) == (query, words)


@pytest.mark.parametrize("text", ["torch misused by GPT-5", "by the", ""])
def test_a_text_with_an_unknown_word_or_no_value_is_no_phrase(
    text: str,
) -> None:
    assert understood(text, KNOWN) is None
