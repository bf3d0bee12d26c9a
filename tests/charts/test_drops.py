"""Differences around zero as data: intervals where something was measured, hollow marks where it was only printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.charts.drops import FEW_CASES, MARK, drops
from crane_core.charts.theme import IS_PHONE

LABELS = ["−RT", "+RT−V"]


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [
        {
            "label": "−RT",
            "detector_title": "GPT-5",
            "setting": "code",
            "difference": -0.05,
            "low": -0.1,
            "high": 0.01,
        }
        | {
            "text": "−5.0",
            "n": 222,
            "n_cases": 111,
            "is_printed": False,
        },
        {
            "label": "+RT−V",
            "detector_title": "GPT-5",
            "setting": "runtime-V",
            "difference": -0.036,
        }
        | {"text": "−3.6", "is_printed": True},
    ]
    return pd.DataFrame(rows).astype({"n": "Int64", "n_cases": "Int64"})


def test_zero_is_marked_and_what_is_measured_has_an_interval(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = drops(table, labels=LABELS, rate="accuracy")
    zero, interval = marks_of(chart, "rule")
    assert chart.to_dict()["datasets"][zero["data"]["name"]] == [
        {"difference": 0.0}
    ]
    assert (
        interval["encoding"]["x"]["field"],
        interval["encoding"]["x2"]["field"],
    ) == (
        "low",
        "high",
    )
    measured, printed = marks_of(chart, "point")
    assert (
        measured["mark"]["filled"]
        and measured["transform"] == interval["transform"]
    )
    assert (
        not printed["mark"]["filled"]
        and printed["mark"]["shape"] != measured["mark"]["shape"]
    )
    assert printed["transform"] == [{"filter": "datum.is_printed"}]


def test_values_stand_in_a_column_right_of_all_marks(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = drops(table, labels=LABELS, rate="accuracy")
    [values] = marks_of(chart, "text")
    assert values["encoding"]["x"] == {"value": "width"}
    assert values["mark"]["align"] == "left"
    # What is printed has a value there too.
    assert "transform" not in values
    assert chart.to_dict()["padding"]["right"] > 7 * len("−5.0")


def test_rows_keep_their_order_and_few_cases_are_faded(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    for point in marks_of(drops(table, labels=LABELS, rate="F1"), "point"):
        assert point["encoding"]["y"]["sort"] == LABELS
        assert (
            f"datum.n_cases <= {FEW_CASES}"
            in point["encoding"]["opacity"]["condition"]["test"]
        )


def test_a_click_on_a_mark_tells_what_was_clicked(table: pd.DataFrame) -> None:
    [selection] = drops(table, labels=LABELS, rate="accuracy").to_dict()[
        "params"
    ]
    assert selection["name"] == MARK
    assert selection["select"]["fields"] == ["label", "detector_title"]


def test_a_heading_has_a_row_without_a_mark_and_names_are_above_on_a_phone(
    table: pd.DataFrame,
) -> None:
    labels = ["by input", *LABELS]
    chart = drops(
        table, labels=labels, rate="accuracy", headings=labels[:1]
    ).to_dict()
    rows = [layer["encoding"].get("y") for layer in chart["layer"]]
    y = next(each for each in rows if each)
    assert y["scale"]["domain"] == labels
    weight = y["axis"]["labelFontWeight"]
    assert '["by input"]' in weight["condition"]["test"]
    assert (weight["condition"]["value"], weight["value"]) == ("bold", "normal")
    assert y["axis"]["labelAlign"] == {"expr": f"{IS_PHONE} ? 'left' : 'right'"}


def test_the_axis_begins_and_ends_at_a_tick(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    for point in marks_of(drops(table, labels=LABELS, rate="F1"), "point"):
        x = point["encoding"]["x"]
        assert x["scale"]["nice"] == x["axis"]["tickCount"]
        assert not x["axis"]["labelFlush"]


def test_what_is_printed_is_as_clear_as_what_is_measured(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = drops(table, labels=LABELS, rate="accuracy")
    for point in marks_of(chart, "point"):
        test = point["encoding"]["opacity"]["condition"]["test"]
        assert "is_printed" not in test
    [values] = marks_of(chart, "text")
    assert values["encoding"]["opacity"] == {"value": 1}
    assert values["encoding"]["color"]["field"] == "detector_title"
