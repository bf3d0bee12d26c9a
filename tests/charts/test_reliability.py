"""Votes against real crashes as data: points with intervals, apart where detectors meet, and the diagonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.charts.reliability import reliability
from crane_core.charts.theme import DETECTOR_COLOURS

TITLES = ["Gemini 2.5 Flash", "GPT-5"]


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "detector_title": title,
            "votes": votes,
            "n_runs": 5,
            "value": votes / 6,
            "low": 0.0,
            "high": 0.9,
        }
        | {"n": 10 + votes, "n_cases": 9}
        for title in reversed(TITLES)
        for votes in (0, 4, 5)
    )


def test_a_point_stands_at_its_votes_apart_from_other_detectors(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = reliability(table)
    [point] = marks_of(chart, "point")
    rows = chart.to_dict()["datasets"][point["data"]["name"]]
    at = {(row["detector_title"], row["votes"]): row["x"] for row in rows}
    for votes in (0, 4, 5):
        left, right = (at[title, votes] for title in TITLES)
        assert left < votes / 5 < right
        assert (left + right) / 2 == pytest.approx(votes / 5)
    assert {row["said"] for row in rows} == {"0 of 5", "4 of 5", "5 of 5"}


def test_points_have_intervals_and_colours_of_their_detector(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = reliability(table)
    [rule], [point] = marks_of(chart, "rule"), marks_of(chart, "point")
    assert (
        rule["encoding"]["y"]["field"],
        rule["encoding"]["y2"]["field"],
    ) == (
        "low",
        "high",
    )
    assert (
        point["encoding"]["y"]["field"],
        point["encoding"]["size"]["field"],
    ) == (
        "value",
        "n",
    )
    scale = point["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
        t: DETECTOR_COLOURS[t] for t in TITLES
    }


def test_the_diagonal_goes_from_corner_to_corner_on_the_same_axes(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = reliability(table)
    [diagonal], [point] = marks_of(chart, "line"), marks_of(chart, "point")
    rows = chart.to_dict()["datasets"][diagonal["data"]["name"]]
    assert rows == [{"x": 0.0, "value": 0.0}, {"x": 1.0, "value": 1.0}]
    assert [diagonal["encoding"][axis]["scale"] for axis in "xy"] == [
        point["encoding"][axis]["scale"] for axis in "xy"
    ]
