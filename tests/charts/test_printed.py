"""The printed ablations and token costs as data: bars from zero, in the order of print, against a reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.charts.printed import printed_bars, token_quantiles
from crane_core.charts.theme import DETECTOR_COLOURS

SETTINGS = ["+RT", "+RT−S", "+RT−V"]


@pytest.fixture
def ablation() -> pd.DataFrame:
    row = {
        "detector_title": "GPT-5",
        "value": 0.8,
        "text": "80.0%",
        "is_printed": False,
        "reference_value": 0.82,
    }
    return pd.DataFrame(row | {"setting": setting} for setting in SETTINGS)


def test_bars_from_zero_in_the_order_of_print(
    ablation: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = printed_bars(
        ablation, settings=SETTINGS, rate="F1", reference="+RT"
    )
    [bar] = marks_of(chart, "bar")
    low, high = bar["encoding"]["x"]["scale"]["domain"]
    assert low == 0 < 1 < high
    assert bar["encoding"]["x"]["axis"]["values"][-1] == 1
    assert bar["encoding"]["y"]["sort"] == SETTINGS
    assert bar["mark"]["color"] == DETECTOR_COLOURS["GPT-5"]
    assert chart.to_dict()["title"]["text"] == "GPT-5"


def test_the_reference_is_marked(
    ablation: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = printed_bars(
        ablation, settings=SETTINGS, rate="F1", reference="+RT"
    )
    [rule], [bar], [text] = (
        marks_of(chart, kind) for kind in ("rule", "bar", "text")
    )
    assert rule["encoding"]["x"]["field"] == "reference_value"
    hollow, full = bar["encoding"]["fillOpacity"]["condition"]
    assert (hollow["test"], hollow["value"]) == ("datum.is_printed", 0)
    assert full["test"] == "datum.setting == '+RT'"
    assert text["encoding"]["text"]["field"] == "text"


def test_token_costs_have_their_own_scale_with_room_for_the_values(
    marks_of: Callable[..., Any],
) -> None:
    rows = pd.DataFrame(
        {
            "measure": "tokens",
            "statistic": statistic,
            "printed": "1,234",
            "value": value,
        }
        for statistic, value in (
            ("min", 1.0),
            ("median", 20.0),
            ("max", 1234.0),
        )
    )
    chart = token_quantiles(rows)
    [bar], [text] = (marks_of(chart, kind) for kind in ("bar", "text"))
    assert chart.to_dict()["title"]["text"] == "tokens"
    assert bar["encoding"]["y"]["sort"] == ["min", "median", "max"]
    low, high = bar["encoding"]["x"]["scale"]["domain"]
    assert low == 0 < 1234 < high
    assert text["encoding"]["text"]["field"] == "printed"
