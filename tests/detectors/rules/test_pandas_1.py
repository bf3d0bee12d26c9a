"""States of older pandas, whose classes tell the module they are made in."""

from __future__ import annotations

import pytest

from crane_core.detectors.rules.predict import findings
from crane_core.domain import KernelState, Setting
from tests.detectors.asked import cells

FRAMES = ("pandas.DataFrame", "pandas.core.frame.DataFrame")
SERIES = ("pandas.Series", "pandas.core.series.Series")


def foreseen(type_text: str, target: str) -> str | None:
    """The exception that is foretold of a target with `df` of this type."""
    document = {
        "schema_version": 2,
        "captured": {"python": "3.10.13", "packages": {"pandas": "1.5.3"}},
        "variables": {"df": {"type": type_text}},
        "accesses": {},
    }
    state = KernelState.from_json(
        document, benchmark="b", instance_id="i_fixed", setting=Setting.RUNTIME_PLUS, origin="capture"
    )
    report = findings(cells("import pandas as pd\ndf = load()", target), state, Setting.RUNTIME_PLUS)
    assert not report.errors
    return report.findings[0].exception if report.findings else None


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_is_a_frame_by_either_name(frame: str) -> None:
    assert foreseen(frame, "df.plot(kind='scatter', x='a', y='b')") is None
    assert foreseen(frame, "df.plot(kind='scater', x='a', y='b')") == "ValueError"


@pytest.mark.parametrize("series", SERIES)
def test_a_series_is_a_series_by_either_name(series: str) -> None:
    assert foreseen(series, "df.plot(kind='scatter', x='a', y='b')") == "ValueError"
    assert foreseen(series, "df.plot(kind='hist')") is None
