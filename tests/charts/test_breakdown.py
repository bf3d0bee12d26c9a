"""The breakdown of one detector as data: a circle, a diamond and a line per group, its change at the right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
import vl_convert

from crane_core.charts.breakdown import MARK, breakdown
from crane_core.charts.panels import side_by_side
from crane_core.charts.theme import DETECTOR_COLOURS

LABELS = ["torch (n 40)", "numpy  n 20"]
TITLE = "GPT-5"


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [
        {
            "group": label.split()[0],
            "label": label,
            "detector_title": TITLE,
            "setting": setting,
            "value": 0.6,
        }
        | {
            "low": 0.4,
            "high": 0.8,
            "n": 20,
            "n_cases": 10,
            "is_sure": label == LABELS[0] and setting == "+RT",
        }
        | {"change": "+4 (−2 to 9)" if setting == "+RT" else ""}
        for label in LABELS
        for setting in ("+RT", "−RT")
    ]
    return pd.DataFrame(rows)


def test_the_axis_is_from_zero_to_one_in_the_order_given(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    chart = breakdown(table, labels=LABELS, rate="accuracy")
    [line] = marks_of(chart, "line")
    assert line["encoding"]["x"]["field"] == "value"
    assert line["encoding"]["x"]["scale"] == {"domain": [0, 1]}
    assert line["encoding"]["x"]["axis"]["title"] == "accuracy"
    assert line["encoding"]["y"]["sort"] == LABELS
    assert line["encoding"]["color"] == {"value": DETECTOR_COLOURS[TITLE]}
    assert chart.to_dict()["title"]["text"] == TITLE


@pytest.mark.parametrize("inputs", [("−RT", "+RT"), ("+RT", "+RT+")])
def test_inputs_differ_by_shape_and_fill(
    table: pd.DataFrame, inputs: tuple[str, str], marks_of: Callable[..., Any]
) -> None:
    point = marks_of(
        breakdown(table, labels=LABELS, rate="F1", inputs=inputs), "point"
    )[0]
    for channel, base, other in (
        ("shape", "circle", "diamond"),
        ("fill", "transparent", DETECTOR_COLOURS[TITLE]),
    ):
        said = point["encoding"][channel]
        assert said["condition"] == {
            "test": f"datum.setting == '{inputs[1]}'",
            "value": other,
        }
        assert said["value"] == base


def test_each_mark_tells_its_interval_and_n(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    point = marks_of(breakdown(table, labels=LABELS, rate="accuracy"), "point")[
        0
    ]
    assert {one["field"] for one in point["encoding"]["tooltip"]} >= {
        "value",
        "low",
        "high",
        "n",
        "n_cases",
    }


def test_a_group_with_one_input_shows_its_interval(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    one = table[(table["setting"] == "+RT") | (table["label"] == LABELS[0])]
    chart = breakdown(one, labels=LABELS, rate="accuracy")
    [rule] = marks_of(chart, "rule")
    assert (
        rule["encoding"]["x"]["field"],
        rule["encoding"]["x2"]["field"],
    ) == (
        "low",
        "high",
    )
    assert rule["transform"] == [{"filter": "datum.is_alone"}]
    [rows] = chart.to_dict()["datasets"].values()
    assert [row["label"] for row in rows if row["is_alone"]] == [LABELS[1]]


def test_changes_stand_at_the_right_the_sure_ones_in_bold(
    table: pd.DataFrame,
) -> None:
    picture = vl_convert.vegalite_to_svg(
        breakdown(table, labels=LABELS, rate="accuracy").to_dict()
    )
    assert picture.count("+4 (−2 to 9)</text>") == 2
    assert picture.count('font-weight="700"') == 1


def test_few_cases_are_faded(
    table: pd.DataFrame, marks_of: Callable[..., Any]
) -> None:
    for mark in ("line", "point"):
        said = marks_of(breakdown(table, labels=LABELS, rate="accuracy"), mark)[
            0
        ]["encoding"]["opacity"]
        assert said["condition"]["test"] == "datum.n_cases <= 2"
        assert said["condition"]["value"] < said["value"] == 1


def test_a_click_on_a_mark_tells_what_was_clicked(table: pd.DataFrame) -> None:
    [selection] = breakdown(table, labels=LABELS, rate="accuracy").to_dict()[
        "params"
    ]
    assert selection["name"] == MARK
    assert selection["select"]["fields"] == [
        "group",
        "detector_title",
        "setting",
    ]
    assert (selection["select"]["type"], selection["select"]["on"]) == (
        "point",
        "click",
    )


@pytest.mark.parametrize(
    "label", ["a'b", 'say "x"', "x.y[0]", "<b>", "\\", "</script>"]
)
def test_any_text_may_name_a_group(
    table: pd.DataFrame, label: str, marks_of: Callable[..., Any]
) -> None:
    named = breakdown(
        table.assign(label=label, group=label), labels=[label], rate="F1"
    )
    assert marks_of(named, "line")[0]["encoding"]["y"]["sort"] == [label]
    assert "+4 (−2 to 9)</text>" in vl_convert.vegalite_to_svg(named.to_dict())


def test_several_detectors_make_one_picture(table: pd.DataFrame) -> None:
    titles = ["GPT-5", "Gemini 2.5 Flash"]
    panels = [
        breakdown(
            table.assign(detector_title=title), labels=LABELS, rate="recall"
        ).to_dict()
        for title in titles
    ]
    picture = vl_convert.vegalite_to_svg(side_by_side(panels))
    assert all(picture.count(f">{title}</text>") == 1 for title in titles)
