"""The specification curve as a picture: one panel, choices named below, found changes filled."""

import pandas as pd
import pytest

from crane_core.charts.specification_curve import specification_curve

READINGS = pd.DataFrame(
    {
        "place": [1, 2],
        "reading": ["majority, detection only", "all answers, detection only"],
        "detector_title": ["GPT-5", "GPT-5"],
        "difference": [-0.02, 0.11],
        "low": [-0.08, 0.01],
        "high": [0.04, 0.2],
        "found": ["p = 0.4", "p = 0.01"],
        "is_found": [False, True],
    }
)
CHOICES = pd.DataFrame(
    {
        "place": [1, 2],
        "of": "rule",
        "choice": ["majority", "all answers"],
        "reading": READINGS["reading"].tolist(),
    }
)


def test_choices_stand_below_all_differences_in_one_panel() -> None:
    spec = specification_curve(READINGS, CHOICES).to_dict()
    assert "vconcat" not in spec
    axes = [layer["encoding"]["y"]["axis"] for layer in spec["layer"]]
    assert all(axis == axes[0] for axis in axes)
    values = axes[0]["values"]
    assert values[:6] == pytest.approx([-0.1, -0.05, 0.0, 0.05, 0.1, 0.15])
    assert values[-2:] == sorted(values[-2:], reverse=True)
    assert max(values[-2:]) < -0.1
    assert '[["majority"], ["all answers"]]' in axes[0]["labelExpr"]
    domain = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert domain[0] < min(values)
    assert domain[1] == 0.2


def test_only_found_changes_are_filled() -> None:
    filled = [
        layer
        for layer in specification_curve(READINGS, CHOICES).to_dict()["layer"]
        if "transform" in layer
    ]
    assert [layer["transform"] for layer in filled] == [
        [{"filter": "datum.is_found"}]
    ]
