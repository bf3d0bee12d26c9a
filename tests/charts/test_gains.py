"""The headline as data: both settings per detector, each with interval and the printed value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.charts.gains import gains
from crane_core.charts.theme import DETECTOR_COLOURS

TITLES = ["Gemini 2.5 Flash", "GPT-5"]


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [
        {
            "detector_title": title,
            "setting": setting,
            "value": value,
            "low": value - 0.05,
            "high": value + 0.05,
        }
        | {
            "label": f"{title} (n 222)",
            "printed": value,
            "n": 222,
            "text": f"{value:.1%}",
        }
        for title in reversed(TITLES)
        for setting, value in (("−RT", 0.69), ("+RT", 0.77))
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("point", "value"),
        ("tick", "printed"),
        ("rule", "low"),
        ("text", "high"),
    ],
)
def test_each_setting_has_its_marks(
    table: pd.DataFrame, marks_of: Callable[..., Any], kind: str, field: str
) -> None:
    marks = marks_of(gains(table), kind)
    assert [mark["encoding"]["x"]["field"] for mark in marks] == [field, field]
    assert len({mark["mark"]["yOffset"] for mark in marks}) == 2


def test_points_differ_by_shape_and_share_one_scale(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    points = marks_of(gains(table), "point")
    assert {point["mark"]["shape"] for point in points} == {"circle", "diamond"}
    assert len({str(point["encoding"]["x"]["scale"]) for point in points}) == 1


def test_order_and_colours_are_those_of_the_theme(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    for point in marks_of(gains(table), "point"):
        assert point["encoding"]["y"]["sort"] == [
            f"{title} (n 222)" for title in TITLES
        ]
        scale = point["encoding"]["color"]["scale"]
        assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
            t: DETECTOR_COLOURS[t] for t in TITLES
        }


def test_each_layer_holds_the_rows_of_its_setting(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = gains(table)
    datasets = chart.to_dict()["datasets"]
    settings = [
        {row["setting"] for row in datasets[mark["data"]["name"]]}
        for mark in marks_of(chart, "point")
    ]
    assert settings == [{"−RT"}, {"+RT"}]


def test_any_two_inputs_are_drawn_the_base_hollow(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = gains(table.replace({"−RT": "+RT−V"}), inputs=("+RT−V", "+RT"))
    datasets = chart.to_dict()["datasets"]
    hollow, filled = marks_of(chart, "point")
    assert {row["setting"] for row in datasets[hollow["data"]["name"]]} == {
        "+RT−V"
    }
    assert (hollow["mark"]["filled"], filled["mark"]["filled"]) == (False, True)


def test_where_nothing_was_printed_the_mark_has_no_place(
    table: pd.DataFrame,
) -> None:
    rows = [
        row
        for data in gains(table.assign(printed=float("nan")))
        .to_dict()["datasets"]
        .values()
        for row in data
    ]
    assert {row["printed"] for row in rows} == {None}


def test_a_row_more_makes_it_taller(table: pd.DataFrame) -> None:
    one = gains(table[table["detector_title"] == "GPT-5"]).to_dict()["height"]
    assert gains(table).to_dict()["height"] > one
