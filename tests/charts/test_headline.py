"""The start page's two pictures, held as data."""

from __future__ import annotations

import pandas as pd

from crane_core.charts.headline import differences, dumbbells

TABLE = pd.DataFrame(
    {
        "detector_title": ["GPT 5", "pylint"],
        "without": [0.6, 0.5],
        "with_": [0.7, 0.45],
        "difference": [0.1, -0.05],
        "low": [0.02, -0.1],
        "high": [0.18, 0.0],
        "n": [20, 20],
        "n_cases": [10, 10],
        "without_text": ["60.0%", "50.0%"],
        "with_text": ["70.0%", "45.0%"],
        "text": ["+10.0 pp", "−5.0 pp"],
        "interval_text": ["[2.0 to 18.0]", "[−10.0 to 0.0]"],
    }
)


def test_the_dumbbells_go_from_without_to_with() -> None:
    spec = dumbbells(TABLE).to_dict()
    rule = spec["layer"][0]
    assert (
        rule["encoding"]["x"]["field"],
        rule["encoding"]["x2"]["field"],
    ) == (
        "without",
        "with_",
    )
    low, high = rule["encoding"]["x"]["scale"]["domain"]
    assert low < 0.45
    assert high > 0.7
    # The last value stands behind its mark, where a narrow chart would cut it.
    assert spec["padding"]["right"] > 12 + 5 * len("70.0%")


def test_the_differences_stand_around_zero() -> None:
    spec = differences(TABLE).to_dict()
    low, high = spec["layer"][1]["encoding"]["x"]["scale"]["domain"]
    assert low < -0.1 < 0.18 < high
    zero = spec["datasets"][spec["layer"][0]["data"]["name"]]
    assert zero == [{"difference": 0.0}]
