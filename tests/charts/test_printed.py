"""The printed ablations and token costs as data: bars from zero, in the order of print, against a reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.charts.printed import printed_bars
from crane_core.charts.theme import DETECTOR_COLOURS
from crane_core.charts.tokens import token_quantiles

SETTINGS = ["+RT", "+RT−S", "+RT−V"]
TITLES = ["Gemini 2.5 Flash", "GPT 5"]


@pytest.fixture
def ablation() -> pd.DataFrame:
    rows = [
        {"detector_title": title, "setting": setting, "value": 0.8, "text": "80.0%", "reference_value": 0.82}
        for title in reversed(TITLES)
        for setting in SETTINGS
    ]
    return pd.DataFrame(rows)


def test_bars_from_zero_in_the_order_of_print(ablation: pd.DataFrame, marks_of: Callable[..., Any]) -> None:
    chart = printed_bars(ablation, settings=SETTINGS, rate="F1", reference="+RT")
    [bar] = marks_of(chart, "bar")
    assert bar["encoding"]["x"]["scale"] == {"domain": [0, 1]}
    assert bar["encoding"]["y"]["sort"] == SETTINGS
    assert chart.to_dict()["facet"]["column"]["sort"] == TITLES
    scale = bar["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {t: DETECTOR_COLOURS[t] for t in TITLES}


def test_the_reference_is_marked(ablation: pd.DataFrame, marks_of: Callable[..., Any]) -> None:
    chart = printed_bars(ablation, settings=SETTINGS, rate="F1", reference="+RT")
    [rule], [bar], [text] = (marks_of(chart, kind) for kind in ("rule", "bar", "text"))
    assert rule["encoding"]["x"]["field"] == "reference_value"
    assert bar["encoding"]["fillOpacity"]["condition"]["test"] == "datum.setting == '+RT'"
    assert text["encoding"]["text"]["field"] == "text"


def test_token_costs_have_a_panel_and_a_scale_per_measure(marks_of: Callable[..., Any]) -> None:
    rows = [
        {"measure": measure, "statistic": statistic, "printed": "1,234", "value": 1234.0}
        for measure in ("tokens", "share")
        for statistic in ("min", "median", "max")
    ]
    chart = token_quantiles(pd.DataFrame(rows))
    assert [panel["title"] for bar in chart.to_dict()["hconcat"] for panel in bar["layer"] if "title" in panel] == [
        "tokens",
        "tokens",
        "share",
        "share",
    ]
    bars, texts = marks_of(chart, "bar"), marks_of(chart, "text")
    assert len(bars) == len(texts) == 2
    for bar in bars:
        assert bar["encoding"]["y"]["sort"] == ["min", "median", "max"]
        assert bar["encoding"]["x"].get("scale", {}).get("zero", True)
    assert {text["encoding"]["text"]["field"] for text in texts} == {"printed"}
