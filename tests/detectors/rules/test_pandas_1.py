"""States of older pandas, whose classes tell the module they are made in."""

from __future__ import annotations

import pytest

from tests.detectors.asked import predicted

FRAMES = ("pandas.DataFrame", "pandas.core.frame.DataFrame")
SERIES = ("pandas.Series", "pandas.core.series.Series")


def of_type(type_text: str, target: str) -> str | None:
    """The exception that is predicted of a target with `df` of this type."""
    return predicted(
        {"pandas": "1.5.3"},
        {"df": {"type": type_text}},
        "import pandas as pd\ndf = load()",
        target,
    )


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_is_a_frame_by_either_name(frame: str) -> None:
    assert of_type(frame, "if df.empty: pass") is None
    assert of_type(frame, "if df: pass") == "ValueError"


@pytest.mark.parametrize("series", SERIES)
def test_a_series_is_a_series_by_either_name(series: str) -> None:
    assert of_type(series, "if df.empty: pass") is None
    assert of_type(series, "if df: pass") == "ValueError"
