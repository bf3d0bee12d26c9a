"""The decision curve as data: a line per detector, a dotted one for every cell, and the chosen cost of a look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from crane_core.charts.decision_curve import decision_curve


def test_a_look_at_every_cell_is_dotted_apart_from_detectors(
    marks_of: Callable[..., Any],
) -> None:
    table = pd.DataFrame(
        {
            "detector_title": ["GPT-5", "GPT-5", "every cell", "every cell"],
            "setting": ["+RT", "+RT", "", ""],
            "threshold": [0.1, 0.5, 0.1, 0.5],
            "value": [3.0, 2.0, 0.0, -80.0],
            "low": [2.0, 1.0, None, None],
            "high": [4.0, 3.0, None, None],
        }
    )
    chart = decision_curve(table, everywhere="every cell", threshold=0.05)
    dots, lines = marks_of(chart, "line")
    drawn = chart.to_dict()["datasets"]
    for mark, title in ((dots, "every cell"), (lines, "GPT-5")):
        rows = drawn[mark["data"]["name"]]
        assert [row["detector_title"] for row in rows] == [title] * 2
    assert lines["encoding"]["y"]["scale"]["domain"] == [-1.5, 3.0]
    chosen, _ = marks_of(chart, "rule")
    assert drawn[chosen["data"]["name"]] == [{"threshold": 0.05, "zero": 0.0}]
