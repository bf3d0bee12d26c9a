"""Cost against value as data: the front is filled and joined in order of cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from crane_core.charts.pareto import pareto


def test_only_the_front_is_filled_and_joined(
    marks_of: Callable[..., Any],
) -> None:
    table = pd.DataFrame(
        {
            "detector_title": ["GPT-5", "GPT-5", "pylint"],
            "setting": ["−RT", "+RT", "−RT"],
            "cost": [880.0, 1459.0, 0.0],
            "value": [0.76, 0.75, 0.57],
            "low": [0.7, 0.7, 0.5],
            "high": [0.8, 0.8, 0.6],
            "is_front": [True, False, True],
            "n": [222, 222, 222],
            "text": ["−RT", "+RT", "−RT"],
        }
    )
    chart = pareto(table, cost="tokens", cost_format=",.0f", rate="accuracy")
    [line] = marks_of(chart, "line")
    drawn = chart.to_dict()["datasets"][line["data"]["name"]]
    assert [row["detector_title"] for row in drawn] == ["GPT-5", "pylint"]
    assert line["encoding"]["order"]["field"] == "cost"
    on_front, off = marks_of(chart, "point")
    assert (on_front["mark"]["filled"], off["mark"]["filled"]) == (True, False)
    assert (on_front["transform"], off["transform"]) == (
        [{"filter": "datum.is_front"}],
        [{"filter": "!datum.is_front"}],
    )
    assert on_front["encoding"]["x"]["scale"]["zero"]
    # The dearest mark may stand at the edge of the plot; its text stands behind it.
    assert chart.to_dict()["padding"]["right"] > 7 * len("+RT")
