"""The forest as data: a point and an interval per group, room for negative values, words where there is no value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.charts.agreement import forest

LABELS = ["torch (n 40)", "numpy  n 20", "other  n 6"]
WHY = "not defined: all labels are equal"


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "label": LABELS,
            "value": [0.8, 0.1, None],
            "low": [0.7, -0.05, None],
            "high": [0.9, 0.3, None],
            "n": [40, 20, 6],
            "n_cases": [20, 10, 3],
            "text": ["0.80", "0.10", WHY],
            "colour": ["#123456", "#123456", "#654321"],
        }
    )


def drawn(table: pd.DataFrame, whole: float | None = 0.5) -> Any:
    return forest(
        table, labels=LABELS, coefficient="Cohen's kappa", whole=whole
    )


def test_every_group_has_its_point_its_interval_and_its_text(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    [point], [text, _], rules = (
        marks_of(drawn(table), kind) for kind in ("point", "text", "rule")
    )
    assert point["encoding"]["x"]["field"] == "value"
    assert text["encoding"]["text"]["field"] == "text"
    assert [rule["encoding"]["x"]["field"] for rule in rules] == [
        "whole",
        "low",
    ]
    assert rules[1]["encoding"]["x2"]["field"] == "high"
    assert point["encoding"]["y"]["sort"] == LABELS
    assert point["encoding"]["color"] == {
        "field": "colour",
        "scale": None,
        "type": "nominal",
    }


def test_the_axis_reaches_from_below_the_lowest_interval_to_1(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    [point] = marks_of(drawn(table), "point")
    assert point["encoding"]["x"]["scale"]["domain"] == [
        -0.2,
        1,
    ]
    assert point["encoding"]["x"]["axis"]["values"] == [
        -0.2,
        0.0,
        0.2,
        0.4,
        0.6,
        0.8,
        1.0,
    ]
    [point] = marks_of(drawn(table.head(1)), "point")
    assert point["encoding"]["x"]["scale"]["domain"] == [-0.2, 1], (
        "the charts of one page share their axis"
    )


def test_a_phone_has_room_for_the_text_behind_an_interval_that_ends_at_1(
    table: pd.DataFrame,
) -> None:
    room = drawn(table).to_dict()["padding"]["right"]
    # A long reason stands inside the plot and takes no room from it.
    assert 7 * len("0.80") < room < 7 * len(WHY)


def test_a_group_without_a_value_says_why_at_the_left_edge(
    table: pd.DataFrame,
) -> None:
    rows = [
        row
        for data in drawn(table).to_dict()["datasets"].values()
        for row in data
        if "text" in row
    ]
    at = {row["text"]: (row["text_at"], row["value"]) for row in rows}
    assert at == {"0.80": (0.9, 0.8), "0.10": (0.3, 0.1), WHY: (-0.2, None)}


def test_a_high_value_without_an_interval_has_its_text_before_the_mark(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    alike = table.assign(
        value=[1.0, 0.1, None], low=[None, None, None], high=[None, None, None]
    )
    behind, before = marks_of(drawn(alike), "text")
    assert [text["mark"]["align"] for text in (behind, before)] == [
        "left",
        "right",
    ]
    rows = [
        row
        for data in drawn(alike).to_dict()["datasets"].values()
        for row in data
        if "text" in row
    ]
    assert [row["is_before"] for row in rows] == [True, False, False]


def test_without_a_value_over_all_groups_there_is_no_line_for_it(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    assert len(marks_of(drawn(table, whole=None), "rule")) == 1


def test_groups_that_all_lack_a_value_are_drawn_with_the_whole_axis(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    nothing = table.tail(1).astype(
        {"value": float, "low": float, "high": float}
    )
    [point] = marks_of(drawn(nothing, whole=None), "point")
    assert point["encoding"]["x"]["scale"]["domain"] == [-0.2, 1]
