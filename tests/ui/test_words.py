"""Numbers and names look the same everywhere: one formatter, one word and one colour class for each."""

from __future__ import annotations

import math

import pytest

from crane_core.domain import Label, Setting
from crane_core.pipeline.results.measures import WITH_STATE, Inputs
from crane_core.ui import words
from crane_core.ui.words import (
    coefficient,
    coefficient_interval,
    count,
    experiment_words,
    inputs_short,
    interval,
    literal,
    p_value,
    percent,
    points,
    sentence_case,
    setting_short,
    setting_words,
    whole,
)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.6328, "63.3%"),
        (0, "0.0%"),
        (1.0, "100.0%"),
        (None, "–"),
        (math.nan, "–"),
        (2 / 3, "66.7%"),
    ],
)
def test_shares_are_percent_with_one_digit(
    share: float | None, text: str
) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (16 / 222, "+7.2 pp"),
        (-0.031, "−3.1 pp"),
        (0.0, "0.0 pp"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_differences_are_points_with_a_sign(
    difference: float | None, text: str
) -> None:
    assert points(difference) == text


def test_intervals_and_counts() -> None:
    assert interval(0.581, 0.72) == "58.1 to 72.0%"
    assert interval(-0.02, 0.1) == "−2.0 to 10.0%"
    assert interval(math.nan, 0.1) == "–"
    assert count(6660) == "6,660"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.894, "0.89"), (1.0, "1.00"), (0.9996, "> 0.99"), (0.99999, "> 0.99"), (-0.114, "−0.11"), (-0.001, "0.00"),
     (None, "–"), (math.nan, "–")],
)  # fmt: skip
def test_a_coefficient_has_two_digits_and_is_1_only_where_it_is(
    value: float | None, text: str
) -> None:
    assert coefficient(value) == text


def test_intervals_of_coefficients() -> None:
    assert coefficient_interval(-0.05, 0.999) == "−0.05 to > 0.99"
    assert coefficient_interval(math.nan, 1) == "–"


def test_every_setting_and_label_has_its_words() -> None:
    assert set(words.SETTING_WORDS) == set(words.SETTING_SHORT) == set(Setting)
    assert set(words.LABEL_WORDS) == set(words.LABEL_CSS) == set(Label)
    assert len(set(words.SETTING_SHORT.values())) == len(Setting)
    assert setting_words("code") == "code only (−RT)"
    assert setting_short("runtime+docs") == "+RT+D"


def test_an_experiment_of_ones_own_keeps_its_name() -> None:
    assert experiment_words("mine-3") == "mine-3"
    assert "October 2025" in experiment_words("crane-llm-2025-10")
    assert (
        experiment_words("crane-llm-2026@9a8b7c6")
        == "CRANE-LLM, release of 2026, at 9a8b7c6"
    )
    assert experiment_words("mine@home") == "mine@home"


@pytest.mark.parametrize(
    "text",
    [
        "numpy_1",
        "**bold**",
        "[a](b)",
        "<b>",
        "$x$",
        "a|b",
        "1. a",
        "`x`",
        ":red[x]",
        "# a",
    ],
)
def test_markdown_in_a_name_is_shown_as_it_is(text: str) -> None:
    """Every mark stands behind a backslash, and nothing else changes."""
    shown = literal(text)
    assert shown.replace("\\", "") == text
    assert all(
        shown[i - 1] == "\\"
        for i, letter in enumerate(shown)
        if letter in "`*_{}[]()<>#|:$"
    )


def test_counts_and_p_values_that_may_be_missing() -> None:
    assert (whole(None), whole(12.0)) == ("–", "12")
    assert [p_value(p) for p in (None, math.nan, 0.0421, 0.00004)] == [
        "–",
        "–",
        "0.042",
        "< 0.001",
    ]


def test_two_inputs_stand_against_each_other() -> None:
    assert inputs_short(WITH_STATE) == "+RT against −RT"
    plus = Inputs(Setting.RUNTIME, Setting.RUNTIME_PLUS)
    assert inputs_short(plus) == "+RT+ against +RT"
    assert sentence_case("with GPT-5") == "With GPT-5"


def test_a_label_of_a_chart_is_on_one_line() -> None:
    assert words.with_n("a\u2028b\nc", 2, 2) == "a b c (n 2)"
