"""What combining changes, as data: an interval per row around zero, filled where it holds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.charts.together import together


@pytest.fixture
def table() -> pd.DataFrame:
    rows = {
        "Zeta": (0.05, 0.02, 0.08, True),
        "Alpha": (-0.02, -0.06, 0.02, False),
    }
    return pd.DataFrame(
        {
            "label": f"{name} (n 222)",
            "difference": difference,
            "low": low,
            "high": high,
            "holds": holds,
        }
        | {
            "best": "GPT-5",
            "value": 0.8,
            "best_value": 0.8 - difference,
            "n": 222,
            "n_cases": 111,
            "text": "80.0%",
        }
        for name, (difference, low, high, holds) in rows.items()
    )


def test_rows_stay_in_the_order_of_the_table(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    for kind in ("point", "text"):
        [mark] = marks_of(together(table, axis="accuracy"), kind)
        assert mark["encoding"]["y"]["sort"] == [
            "Zeta (n 222)",
            "Alpha (n 222)",
        ]


def test_zero_is_marked_and_every_interval_is_in_sight(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = together(table, axis="accuracy")
    line, interval = marks_of(chart, "rule")
    assert chart.to_dict()["datasets"][line["data"]["name"]] == [
        {"difference": 0.0}
    ]
    assert (
        interval["encoding"]["x"]["field"],
        interval["encoding"]["x2"]["field"],
    ) == (
        "low",
        "high",
    )
    low, high = interval["encoding"]["x"]["scale"]["domain"]
    assert low <= -0.06 < 0.08 <= high


def test_the_axis_has_one_unit_and_the_texts_have_room(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = together(table, axis="change of accuracy")
    _, interval = marks_of(chart, "rule")
    axis = interval["encoding"]["x"]["axis"]
    assert axis["title"] == "change of accuracy in percentage points"
    assert "pp" not in axis["labelExpr"]
    assert chart.to_dict()["padding"]["right"] > 6 * len("80.0%")


def test_what_holds_up_is_filled(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    [point] = marks_of(together(table, axis="accuracy"), "point")
    fill = point["encoding"]["fill"]
    assert fill["condition"]["test"] == "datum.holds"
    assert fill["value"] == "transparent"
