"""The title of Results says what was measured, also where two inputs cannot be compared."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.results.measures import Credit, Inputs, VoteRule
from crane_core.ui.one_input_view import readable, single_title
from crane_core.ui.result_switches import ResultChoice, reading_words
from crane_core.ui.results_title import (
    NO_ANSWERS,
    rehearsal_title,
    results_title,
)

STUDY = ResultChoice(
    "junobench",
    "crane-llm-2025-10",
    DetectorKind.LLM,
    VoteRule.MAJORITY,
    Credit.STRICT,
)


def rates(*values: float) -> pd.DataFrame:
    """Detectors with code only over 216 notebooks of 108 cases each."""
    return pd.DataFrame(
        {
            "detector_title": f"Model {place}",
            "setting": "code",
            "value": value,
            "low": value - 0.1,
            "high": value + 0.1,
            "n": 216,
            "n_cases": 108,
        }
        for place, value in enumerate(values, start=1)
    )


@pytest.mark.parametrize(
    ("values", "title"),
    [
        (
            (0.606,),
            "Model 1 is right on 60.6% of 216 notebooks with code only; it has no other input",
        ),
        (
            (0.606, 0.5),
            "2 models are right on 50.0% to 60.6% of the notebooks; there are no two inputs to compare",
        ),
        ((math.nan,), "No answer can be scored with this reading"),
    ],
)
def test_answers_without_a_second_input_are_counted_not_compared(
    values: tuple[float, ...], title: str
) -> None:
    assert single_title(rates(*values), DetectorKind.LLM) == title


def test_the_table_of_single_inputs_has_interval_and_n() -> None:
    assert readable(rates(0.606)).iloc[0].tolist() == [
        "Model 1",
        "−RT",
        "60.6%",
        "50.6 to 70.6%",
        "216",
        "108",
    ]


def test_a_rehearsal_is_called_executed_and_counts_targets_with_a_verdict() -> (
    None
):
    found = pd.DataFrame({"value": [0.75, 1.0], "n": [40, 39]})
    assert (
        rehearsal_title(found)
        == "Executed in a copy, 69 of 79 target cells did what was recorded"
    )
    none = pd.DataFrame({"value": [math.nan], "n": [0]})
    assert rehearsal_title(none) == "No rehearsed target gave a verdict"


def test_without_answers_the_title_says_so() -> None:
    assert results_title(None) == NO_ANSWERS


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (STUDY, "Majority, correct diagnosis, published human"),
        (
            STUDY._replace(
                kind=DetectorKind.RULES,
                credit=Credit.DETECTION,
                inputs=Inputs(Setting.RUNTIME, Setting.RUNTIME_PLUS),
                beside=("mine",),
            ),
            "Rules, majority, detection only, +RT+ against +RT, 1 beside",
        ),
        (
            STUDY._replace(kind=DetectorKind.REHEARSAL),
            "Rehearsal (execution in a copy)",
        ),
    ],
)
def test_the_button_says_how_the_answers_are_read(
    chosen: ResultChoice, words: str
) -> None:
    assert reading_words(chosen) == words


def test_the_button_says_what_a_part_uses() -> None:
    assert reading_words(STUDY, "Stability") == "Detection only"
    assert reading_words(STUDY, "Leaderboard").startswith("Majority, correct")
