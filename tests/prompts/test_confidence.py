"""A confidence is read from the answer that counts, and only where its scale is plain."""

from __future__ import annotations

import json

import pytest

from crane_core.prompts import confidence
from crane_core.prompts.confidence import read_confidence


def reply(stated: object) -> str:
    return json.dumps(
        {"reasoning": "x is 3.", "detection": True, "confidence": stated}
    )


@pytest.mark.parametrize(
    ("stated", "probability"),
    [(0, 0.0), (1.5, 0.015), (50, 0.5), (99.5, 0.995), (100, 1.0)],
)
def test_percent_becomes_a_probability(
    stated: float, probability: float
) -> None:
    assert read_confidence(reply(stated)) == (pytest.approx(probability), None)


@pytest.mark.parametrize(
    ("stated", "trouble"),
    [
        (None, confidence.NONE),
        (0.9, confidence.UNCLEAR),
        (1, confidence.UNCLEAR),
        (101, confidence.OUT_OF_RANGE),
        (-1, confidence.OUT_OF_RANGE),
        (float("nan"), confidence.OUT_OF_RANGE),
        ("90%", confidence.NO_NUMBER),
        (True, confidence.NO_NUMBER),
        ([90], confidence.NO_NUMBER),
    ],
)
def test_what_is_no_percentage_is_told(stated: object, trouble: str) -> None:
    assert read_confidence(reply(stated)) == (None, trouble)


def test_the_last_answer_counts_and_thinking_does_not() -> None:
    said = f"<think>{reply(10)}</think> {reply(60)} or rather {reply(80)}"
    assert read_confidence(said).probability == pytest.approx(0.8)
    assert read_confidence('{"reasoning": "x", "detection": true}') == (
        None,
        confidence.NONE,
    )
    cut_off = read_confidence(reply(80), "length")
    assert cut_off.probability is None and "cut off" in str(cut_off.trouble)
