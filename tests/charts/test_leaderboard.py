"""The leaderboard as data: rows in the order of the table, hollow for code only, a text behind each interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from crane_core.charts.leaderboard import leaderboard


def test_rows_keep_their_order_and_code_only_is_hollow(
    marks_of: Callable[..., Any],
) -> None:
    rows = {"1  GPT-5 +RT": (0.77, True), "2  pylint −RT": (0.5, False)}
    table = pd.DataFrame(
        {
            "label": label,
            "detector_title": label.split()[1],
            "is_filled": is_filled,
            "value": value,
            "low": value - 0.1,
            "high": value + 0.1,
            "n": 222,
            "n_cases": 111,
            "text": f"{value:.0%} a",
        }
        for label, (value, is_filled) in rows.items()
    )
    chart = leaderboard(table)
    filled, hollow = marks_of(chart, "point")
    assert filled["transform"] == [{"filter": "datum.is_filled"}]
    assert hollow["transform"] == [{"filter": "!datum.is_filled"}]
    assert hollow["mark"]["fill"] == "transparent"
    [text] = marks_of(chart, "text")
    assert text["encoding"]["y"]["sort"] == list(rows)
    assert text["encoding"]["x"]["field"] == "high"
