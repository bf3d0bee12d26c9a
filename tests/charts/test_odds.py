"""Odds ratios as data: an interval per detector on a logarithmic axis, and where no change is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.charts.odds import odds
from crane_core.charts.theme import DETECTOR_COLOURS

TITLES = ["Gemini 2.5 Flash", "GPT-5"]


@pytest.fixture
def table() -> pd.DataFrame:
    ratios = {"GPT-5": (1.47, 1.14, 1.9), "Gemini 2.5 Flash": (1.36, 1.06, 5.2)}
    return pd.DataFrame(
        {
            "detector_title": title,
            "label": f"{title} (n 222)",
            "odds_ratio": ratio,
            "low": low,
            "high": high,
        }
        | {"n": 222, "n_cases": 111, "text": f"{ratio:.2f}"}
        for title, (ratio, low, high) in ratios.items()
    )


@pytest.mark.parametrize(
    ("kind", "field"), [("point", "odds_ratio"), ("text", "high")]
)
def test_each_detector_has_its_mark(
    table: pd.DataFrame, marks_of: Callable[..., Any], kind: str, field: str
) -> None:
    [mark] = marks_of(odds(table), kind)
    assert mark["encoding"]["x"]["field"] == field
    assert mark["encoding"]["y"]["sort"] == [
        f"{title} (n 222)" for title in TITLES
    ]
    scale = marks_of(odds(table), "point")[0]["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
        t: DETECTOR_COLOURS[t] for t in TITLES
    }


def test_the_line_of_no_change_is_at_one_and_all_share_a_logarithmic_scale(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = odds(table)
    line, interval = marks_of(chart, "rule")
    assert chart.to_dict()["datasets"][line["data"]["name"]] == [
        {"odds_ratio": 1.0}
    ]
    assert (
        interval["encoding"]["x"]["field"],
        interval["encoding"]["x2"]["field"],
    ) == (
        "low",
        "high",
    )
    marks = [
        line,
        interval,
        *marks_of(chart, "point"),
        *marks_of(chart, "text"),
    ]
    [scale] = {
        str(mark["encoding"]["x"]["scale"]): mark["encoding"]["x"]["scale"]
        for mark in marks
    }.values()
    assert scale["type"] == "log"
    assert scale["domain"][0] < 1 < 5.2 <= scale["domain"][1]
    assert (
        chart.to_dict()["padding"]["right"] > 7 * table["text"].str.len().max()
    )
    assert line["encoding"]["x"]["axis"]["values"] == [1, 1.5, 2, 4]
