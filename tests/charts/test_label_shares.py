"""Shares of a campaign's labels: a line per label under the name of its group, with the interval."""

from __future__ import annotations

import json

import pandas as pd

from crane_core.charts.label_shares import label_shares

COLOURS = {"correct": "#111111", "wrong": "#333333"}
GROUPS = ("All (8 items)", "GPT-5, +RT (4 items)")


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "group": group,
            "label": label,
            "value": 0.5,
            "low": 0.3,
            "high": 0.7,
            "text": "50.0%",
            "n": 4,
            "n_cases": 4,
        }
        for group in GROUPS
        for label in COLOURS
    )


def test_the_name_of_a_group_stands_over_its_labels(marks_of) -> None:
    chart = label_shares(table(), colours=COLOURS)
    (points,) = marks_of(chart, "point")
    rows = points["encoding"]["y"]["scale"]["domain"]
    named = points["encoding"]["y"]["axis"]["labelExpr"]
    names = json.loads(named.removesuffix("[datum.value]"))
    shown = [names[row] for row in rows]
    assert shown == [GROUPS[0], "", "", "", GROUPS[1], "", "", ""]
    (data,) = chart.to_dict()["datasets"].values()
    assert [rows.index(each["row"]) for each in data] == [1, 2, 5, 6]


def test_every_share_has_its_interval_its_colour_and_its_value(
    marks_of,
) -> None:
    chart = label_shares(table(), colours=COLOURS)
    (rule,) = marks_of(chart, "rule")
    assert rule["encoding"]["x"]["field"] == "low"
    assert rule["encoding"]["x2"]["field"] == "high"
    assert rule["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert rule["encoding"]["color"]["scale"]["range"] == list(COLOURS.values())
    (text,) = marks_of(chart, "text")
    assert text["encoding"]["text"]["field"] == "text"
