"""The picture and the list of cases: a mark per answer, numeric bars, patterns by experiment, hostile names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.pipeline.cases.pairs import Pattern
from crane_core.pipeline.cases.picture import Picture, PictureColumn
from crane_core.storage.search import FoundLine
from crane_core.ui.case_finding import (
    MOST_QUOTED,
    CountedAnswers,
    Search,
    finding,
    search_finding,
)
from crane_core.ui.case_list import (
    MOST_ROWS,
    available_words,
    board_html,
    pattern_words,
)
from crane_core.ui.found_html import MOST_OF_LINE, marked_line

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
        pattern_words(Pattern.FLIP, ("a", "c"), ["a", "b", "c"])
        == "unstable (1, 3)"
    )


def test_of_one_experiment_no_number_is_needed() -> None:
    assert pattern_words(Pattern.FLIP, ("a",), ["a"]) == "unstable"


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
    assert "</span>1/2</td>" in html
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


ONE_MISS_ONE_ALARM = table("a", "b", n_asked=1, n_found=[0, 1], n_alarms=[1, 0])


@pytest.mark.parametrize(
    ("counted", "sentence"),
    [
        (
            CountedAnswers(["GPT-5"], ["code only"], library="torch"),
            "GPT-5, code only: misses 1 of 2 torch crashes, 1 false alarm",
        ),
        (
            CountedAnswers(["GPT-5"], is_of_all_cases=False),
            "GPT-5: misses 1 of these 2 crashes, 1 false alarm",
        ),
        (
            CountedAnswers(["GPT-5", "pylint"]),
            "GPT-5 and pylint: 1 of 2 crashes escapes all of them; 1 of 2 fixed versions sets off a false alarm of one "
            "of them",
        ),
        (
            CountedAnswers(["A", "B", "C", "D"], experiments=["local runs"]),
            "4 chosen detectors, local runs: 1 of 2 crashes escapes all of them; 1 of 2 fixed versions sets off a "
            "false alarm of one of them",
        ),
        (
            CountedAnswers(inputs=["code only"]),
            "Code only: 1 of 2 crashes escapes every detector; 1 of 2 fixed versions sets off a false alarm",
        ),
    ],
)
def test_the_title_names_what_is_filtered(
    counted: CountedAnswers, sentence: str
) -> None:
    assert finding(ONE_MISS_ONE_ALARM, counted) == sentence


def test_the_title_tells_several_answers_of_a_detector_from_one() -> None:
    cases = table("a", "b", n_asked=2, n_found=[0, 1], n_alarms=[2, 1])
    assert finding(cases, CountedAnswers(["GPT-5"])) == (
        "GPT-5: misses 1 of 2 crashes every time; 2 fixed versions have at least one false alarm"
    )


def test_the_title_says_whose_answers_are_missing() -> None:
    counted = CountedAnswers(["GPT-5"], ["code only"])
    assert (
        finding(table("a", n_asked=0), counted)
        == "GPT-5, code only: no answer about these cases"
    )


@pytest.mark.parametrize(
    ("search", "sentence"),
    [
        (Search("out  of bounds", 8, 8), "8 cases contain “out of bounds”"),
        (
            Search("out of bounds", 8, 1),
            "1 torch case contains “out of bounds”, 7 more only its words",
        ),
        (
            Search("shape torch", 2, 0, is_of_all_cases=False),
            "2 cases contain the words of “shape torch” and match the other filters, none together",
        ),
        (Search("x", 0, 0), "No case contains “x”"),
        (
            Search("x", 0, 0, is_of_all_cases=False),
            "No case under the other filters contains “x”",
        ),
    ],
)
def test_the_title_counts_what_a_search_finds(
    search: Search, sentence: str
) -> None:
    library = "torch" if "torch case" in sentence else ""
    assert search_finding(search, library) == sentence


def test_a_title_repeats_a_long_search_in_part() -> None:
    assert "x" * (MOST_QUOTED + 1) not in search_finding(
        Search("x" * 500, 1, 1)
    )


def test_a_found_line_stands_below_its_case_with_the_text_marked(
    hostile: str,
) -> None:
    lines = {"x_1": FoundLine("target", "fixed", "a[7] # OUT of\tBounds")}
    html = board_html(
        table("x_1", "x_2"),
        PICTURE,
        ["a"],
        benchmark="mine",
        sort=None,
        find="out of  bounds",
        found=lines,
    )
    assert html.count("cw-hit") == 1
    assert "target cell, fixed</span>" in html
    assert "a[7] # <mark>OUT of Bounds</mark>" in html
    assert "<script" not in marked_line(hostile, hostile[:20] or "x")
    assert "<mark>&lt;b</mark>" in marked_line("see <b>", "<b nothing")


def test_a_long_found_line_is_cut_around_the_text() -> None:
    shown = marked_line("y" * 5000 + " needle " + "z" * 5000, "needle")
    assert "<mark>needle</mark>" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) < MOST_OF_LINE + 20


def test_patterns_are_signs_with_words_for_hover_and_screen_readers() -> None:
    cases = table("x_1")
    cases["patterns_in"] = pd.Series([PATTERNS], dtype=object)
    html = board_html(
        cases, PICTURE, ["a", "b", "c"], benchmark="mine", sort=None
    )
    assert html.count('data-pattern="unstable"') == 1
    assert 'title="unstable (1, 3): the runs' in html
    assert '<b class="cw-unseen">RT helped (1), </b>' in html
    assert html.count("<span></span>") == 2, "a place for each other sign"
    assert "data-pattern" not in board(table("x_1"))


def test_a_false_alarm_has_its_column_and_no_sign() -> None:
    cases = table("x_1", n_alarms=1)
    alarm = ((Pattern.ALARM, ("a",)),)
    cases["patterns_in"] = pd.Series([alarm], dtype=object)
    html = board(cases)
    assert "cw-sign-alarm" not in html
    assert '<td class="cw-of-pattern">–</td>' in html


def test_a_library_heads_its_cases_in_the_usual_order_alone() -> None:
    cases = table("x_1", "x_2", "y_1", library=["numpy", "numpy", "<b>"])
    html = board(cases)
    assert html.count('<tr class="cw-of-library">') == 2
    assert 'numpy <span class="cw-dim">2</span></th>' in html
    assert '&lt;b&gt; <span class="cw-dim">1</span></th>' in html
    assert "cw-of-library" not in board(cases, sort="case_id")


def test_each_library_of_several_can_be_gone_to() -> None:
    html = board(table("x_1", "x_2", "y_1", library=["numpy", "numpy", "<b>"]))
    assert 'data-jump="0">numpy <span class="cw-dim">2</span>' in html
    assert 'data-jump="1">&lt;b&gt; <span class="cw-dim">1</span>' in html
    assert "data-jump" not in board(table("x_1"))


def test_that_models_disagree_has_no_sign() -> None:
    cases = table("x_1")
    disagree = ((Pattern.DIFFER, ("a",)),)
    cases["patterns_in"] = pd.Series([disagree], dtype=object)
    assert '<td class="cw-of-pattern">–</td>' in board(cases)


def test_missed_and_wrong_reason_share_a_place() -> None:
    both = ((Pattern.WRONG_REASON, ("a",)), (Pattern.MISSED, ("b",)))
    cases = table("x_1")
    cases["patterns_in"] = pd.Series([both], dtype=object)
    html = board(cases)
    assert html.count("<span></span>") == 3
    assert '<b class="cw-unseen">missed, </b>' in html


def test_a_gap_stands_between_models_and_the_others() -> None:
    columns = (*PICTURE.columns, PictureColumn("pylint", "study", "code", False))  # fmt: skip
    marks = {"x_1": ["r3", "w1", "w3", "p2", "r3", "r3"]}
    html = board(table("x_1"), Picture(columns, 0, marks))
    assert '<i class="w1 cw-last"></i><i class="w3 cw-end"></i>' in html
    assert '<span class="cw-turned cw-last" style="--n:2">A</span>' in html


def test_the_legend_explains_marks_without_a_verdict_where_there_are_any() -> (
    None
):
    unclear = PICTURE._replace(marks={"x_1": ["r3", "u1", "r3", "r3"]})
    assert "no majority or no answer" in board(table("x_1"), unclear)
    assert "not asked" not in board(table("x_1"), unclear)
    assert "no majority" not in board(table("x_1"))
    assert "not asked" in board(table("x_1"))


def test_texts_that_are_missing_are_told() -> None:
    assert available_words(table("a")) == "", "nothing is missing"
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


def test_of_one_detector_no_crash_is_missed_by_all() -> None:
    cases = table("x_1")
    missed = ((Pattern.MISSED, ("a",)),)
    cases["patterns_in"] = pd.Series([missed], dtype=object)
    how = {"benchmark": "mine", "sort": None}
    of_all = board_html(cases, PICTURE, ["a"], **how)
    of_one = board_html(cases, PICTURE, ["a"], is_of_all=False, **how)
    assert "</i> missed by all</button>" in of_all
    assert "</i> missed</button>" in of_one
    assert "</i> missed by all</button>" not in of_one
