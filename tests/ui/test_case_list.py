"""The picture and the list of cases: a mark per answer, numeric bars, patterns by experiment, hostile names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.pipeline.cases.pairs import Pattern
from crane_core.pipeline.cases.picture import Picture, PictureColumn
from crane_core.ui.case_finding import CountedAnswers, finding
from crane_core.ui.case_list import (
    MOST_ROWS,
    available_words,
    board_html,
    pattern_words,
)

TextOf = Callable[[str], str]
PATTERNS = (
    (Pattern.FLIP, ("a", "c")),
    (Pattern.CHANGED, ("a",)),
    (Pattern.HELPED, ("a",)),
)
PICTURE = Picture(
    (
        PictureColumn("A", "study", "code"),
        PictureColumn("A", "study", "runtime"),
    ),
    0,
    {"x_1": ["r3", "w1", "", "p2"]},
)


def table(*names: str, **columns: Any) -> pd.DataFrame:
    plain = {
        "library": "numpy", "root_cause": None, "exception": "valueerror", "crash_type": "x", "stage": "y",
        "n_asked": 2, "n_found": 1, "n_alarms": 0, "has_code": True, "has_state": True,
    }  # fmt: skip
    frame = pd.DataFrame({"case_id": list(names)}).assign(**plain | columns)
    return frame.assign(
        patterns_in=pd.Series([()] * len(names), frame.index, dtype=object)
    )


def board(
    cases: pd.DataFrame, picture: Picture = PICTURE, sort: str | None = None
) -> str:
    return board_html(cases, picture, ["a"], benchmark="mine", sort=sort)


def test_patterns_name_their_experiments_by_number() -> None:
    assert (
        pattern_words(PATTERNS, ["a", "b", "c"])
        == "unstable (1, 3), RT helped (1)"
    )


def test_of_one_experiment_no_number_is_needed() -> None:
    assert (
        pattern_words(((Pattern.FLIP, ("a",)), (Pattern.ALARM, ("a",))), ["a"])
        == "unstable, false alarm"
    )
    assert pattern_words((), ["a"]) == ""


def test_a_case_has_a_mark_per_answer_and_a_row_with_bars(
    text_of: TextOf,
) -> None:
    html = board(table("x_1", "x_2"))
    assert [html.count(f'<i class="{mark}') for mark in ("r3", "w1", "p2")] == [
        1 + 1,
        1 + 1,
        1,
    ]
    assert html.count('data-case="x_1"') == 3
    assert "--share:0.500" in html
    assert "1 of 2" in html
    assert "numpy" in html
    assert "numpy" not in board(table("x_1"), sort="case_id"), (
        "libraries head the picture in the default order alone"
    )


def test_a_heading_turns_its_order(text_of: TextOf) -> None:
    assert 'data-sort="-n_found"' in board(table("x_1"))
    assert 'data-sort="n_found"' in board(table("x_1"), sort="-n_found")
    assert 'aria-sort="descending"' in board(table("x_1"), sort="-n_found")


@pytest.mark.parametrize(
    ("cases", "sentence"),
    [
        (
            table("a", "b", n_found=[0, 1], n_alarms=[1, 0]),
            "1 of 2 crashes escapes every detector; 1 of 2 fixed",
        ),
        (table("a", n_asked=0), "No detector was asked"),
        (table(), "No cases match these filters"),
    ],
)
def test_the_title_says_what_the_cases_show(
    cases: pd.DataFrame, sentence: str
) -> None:
    assert finding(cases).startswith(sentence)


@pytest.mark.parametrize(
    ("counted", "sentence"),
    [
        (
            CountedAnswers(["GPT-5"]),
            "1 of 2 crashes escapes GPT-5; 1 of 2 fixed versions set off its false alarm",
        ),
        (
            CountedAnswers(["GPT-5"], ["−RT"], is_of_all_cases=False),
            "1 of these 2 crashes escapes GPT-5 with −RT; 1 of these 2 fixed versions set off its false alarm",
        ),
        (
            CountedAnswers(["GPT-5", "pylint"]),
            "1 of 2 crashes escapes both GPT-5 and pylint; 1 of 2 fixed versions set off a false alarm of one of them",
        ),
        (
            CountedAnswers(["A", "B", "C"], experiments=["local runs"]),
            "1 of 2 crashes escapes all 3 chosen detectors in local runs; 1 of 2 fixed versions set off a false alarm "
            "of one of them",
        ),
        (
            CountedAnswers(inputs=["−RT", "+RT"]),
            "1 of 2 crashes escapes every detector with −RT and +RT; 1 of 2 fixed versions set off a false alarm there",
        ),
    ],
)
def test_the_title_names_what_is_filtered(
    counted: CountedAnswers, sentence: str
) -> None:
    assert (
        finding(table("a", "b", n_found=[0, 1], n_alarms=[1, 0]), counted)
        == sentence
    )


def test_the_title_says_whose_answers_are_missing() -> None:
    assert finding(
        table("a", n_asked=0), CountedAnswers(["GPT-5"], ["+RT"])
    ) == ("No answer of GPT-5 with +RT about these cases")


def test_available_data_in_words() -> None:
    assert (
        available_words(table("a"))
        == "Available data: labels, code and runtime state."
    )
    assert "code of 1 and runtime state of 0" in available_words(
        table("a", "b", has_code=[True, False], has_state=False)
    )


def test_a_huge_list_is_bounded() -> None:
    html = board(table(*(f"x_{i}" for i in range(MOST_ROWS + 100))))
    assert html.count("<tr data-case") == MOST_ROWS


def test_hostile_names_are_text(hostile: str) -> None:
    short = hostile[:300]
    html = board(table(short, library=short, exception=short, crash_type=short))
    assert "<script" not in html
    assert "onmouseover=" not in html.replace("&quot; onmouseover=", "")
