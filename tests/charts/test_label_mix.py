"""Labels over time: every label its own colour and shape, lines from zero, names that do not stand on each other."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest

from crane_core.annotation.label_check import MOST
from crane_core.charts.label_mix import LINE, label_mix
from crane_core.charts.theme import LABEL_SHAPES

PARTS = ["first", "last"]
COLOURS = {"correct": "#111111", "partial": "#222222", "wrong": "#333333"}


def table(ends: dict[str, float]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "annotator": "ana",
            "part": part,
            "label": label,
            "share": share,
            "n": 12,
            "median_s": 20.0,
        }
        | {"text": label if part == "last" else ""}
        for part in PARTS
        for label, share in ends.items()
    )


def test_every_label_of_the_largest_set_has_a_shape_of_its_own(
    marks_of,
) -> None:
    assert len(set(LABEL_SHAPES)) == len(LABEL_SHAPES) == MOST
    (points,) = marks_of(
        label_mix(
            table(dict.fromkeys(COLOURS, 0.3)), parts=PARTS, colours=COLOURS
        ),
        "point",
    )
    assert points["encoding"]["shape"]["scale"] == {
        "domain": list(COLOURS),
        "range": list(LABEL_SHAPES[:3]),
    }


def test_lines_begin_at_zero_and_keep_the_order_of_time(marks_of) -> None:
    chart = label_mix(
        table({"correct": 0.7, "partial": 0.2, "wrong": 0.1}),
        parts=PARTS,
        colours=COLOURS,
    )
    (line,) = marks_of(chart, "line")
    assert line["encoding"]["y"]["scale"]["domain"] == [0, 1]
    assert line["encoding"]["x"]["sort"] == PARTS
    assert line["encoding"]["color"]["scale"]["range"] == list(COLOURS.values())


@pytest.mark.parametrize(
    "ends",
    [
        {"correct": 1.0, "partial": 0.0, "wrong": 0.0},
        {"correct": 1 / 3, "partial": 1 / 3, "wrong": 1 / 3},
    ],
)
def test_names_stand_apart_inside_the_panel(ends: dict[str, float]) -> None:
    chart = label_mix(table(ends), parts=PARTS, colours=COLOURS)
    (rows,) = chart.to_dict()["datasets"].values()
    places = sorted(row["text_at"] for row in rows if row["text"])
    assert len(places) == 3
    assert places[0] >= 0 and places[-1] <= 1
    assert min(b - a for a, b in pairwise(places)) >= LINE - 1e-9
