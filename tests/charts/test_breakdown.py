"""The breakdown as data: bars from zero, fixed order and colours, and the selection that opens the cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from crane_core.charts.breakdown import BAR, breakdown
from crane_core.charts.theme import DETECTOR_COLOURS

LABELS = ["torch (n = 40)", "numpy (n = 20)"]
TITLES = ["Gemini 2.5 Flash", "GPT 5"]


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [
        {"group": label.split()[0], "label": label, "detector_title": title, "setting": setting, "value": 0.6}
        | {"low": 0.4, "high": 0.8, "label_at": 0.8, "n": 20, "text": "60%", "change": "+4 pp"}
        for label in LABELS
        for title in reversed(TITLES)
        for setting in ("+RT", "−RT")
    ]
    return pd.DataFrame(rows)


def test_bars_start_at_zero_and_end_at_one(table: pd.DataFrame, marks_of: Callable[..., Any]) -> None:
    [bar] = marks_of(breakdown(table, labels=LABELS, rate="accuracy"), "bar")
    assert bar["encoding"]["x"]["field"] == "value"
    assert bar["encoding"]["x"]["scale"] == {"domain": [0, 1]}
    assert bar["encoding"]["x"]["axis"]["title"] == "accuracy"


def test_order_and_colours_are_those_of_the_theme(table: pd.DataFrame, marks_of: Callable[..., Any]) -> None:
    chart = breakdown(table, labels=LABELS, rate="accuracy")
    [bar] = marks_of(chart, "bar")
    assert bar["encoding"]["y"]["sort"] == LABELS
    assert bar["encoding"]["yOffset"]["sort"] == ["−RT", "+RT"]
    scale = bar["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {t: DETECTOR_COLOURS[t] for t in TITLES}
    assert chart.to_dict()["facet"]["sort"] == TITLES


def test_settings_differ_by_more_than_colour(table: pd.DataFrame, marks_of: Callable[..., Any]) -> None:
    [bar] = marks_of(breakdown(table, labels=LABELS, rate="accuracy"), "bar")
    solid, pale = bar["encoding"]["fillOpacity"]["condition"], bar["encoding"]["fillOpacity"]["value"]
    assert solid["test"] == "datum.setting == '+RT'"
    assert solid["value"] > 2 * pale


def test_any_two_inputs_are_drawn_the_base_pale(table: pd.DataFrame, marks_of: Callable[..., Any]) -> None:
    [bar] = marks_of(breakdown(table, labels=LABELS, rate="F1", inputs=("+RT", "+RT+")), "bar")
    assert bar["encoding"]["yOffset"]["sort"] == ["+RT", "+RT+"]
    assert bar["encoding"]["fillOpacity"]["condition"]["test"] == "datum.setting == '+RT+'"


def test_every_bar_has_its_interval_its_value_and_its_n(table: pd.DataFrame, marks_of: Callable[..., Any]) -> None:
    chart = breakdown(table, labels=LABELS, rate="accuracy")
    [rule], texts, [bar] = (marks_of(chart, kind) for kind in ("rule", "text", "bar"))
    assert (rule["encoding"]["x"]["field"], rule["encoding"]["x2"]["field"]) == ("low", "high")
    assert [text["encoding"]["text"]["field"] for text in texts] == ["text", "change"]
    assert {entry["field"] for entry in bar["encoding"]["tooltip"]} >= {"value", "low", "high", "n", "detector_title"}


def test_a_click_on_a_bar_tells_what_was_clicked(table: pd.DataFrame) -> None:
    [selection] = breakdown(table, labels=LABELS, rate="accuracy").to_dict()["params"]
    assert selection["name"] == BAR
    assert selection["select"]["fields"] == ["group", "detector_title", "setting"]
    assert (selection["select"]["type"], selection["select"]["on"]) == ("point", "click")


def test_every_row_is_in_the_chart(table: pd.DataFrame) -> None:
    spec = breakdown(table, labels=LABELS, rate="accuracy").to_dict()
    [data] = spec["datasets"].values()
    assert len(data) == len(table) == 8


@pytest.mark.parametrize("label", ["a'b", 'say "x"', "x.y[0]", "<b>"])
def test_any_text_may_name_a_group(table: pd.DataFrame, label: str, marks_of: Callable[..., Any]) -> None:
    [bar] = marks_of(breakdown(table.assign(label=label, group=label), labels=[label], rate="F1"), "bar")
    assert bar["encoding"]["y"]["sort"] == [label]
