"""Charts as data: the marks of a chart in one list, wherever they are nested."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import altair as alt
import pytest

Mark = dict[str, Any]


def units(spec: dict[str, Any]) -> Iterator[Mark]:
    """Every drawn layer with its mark and encoding."""
    if "mark" in spec:
        yield spec
    for part in [
        *spec.get("layer", []),
        *spec.get("hconcat", []),
        *([spec["spec"]] if "spec" in spec else []),
    ]:
        yield from units(part)


@pytest.fixture
def marks_of() -> Callable[..., list[Mark]]:
    """The layers of a chart with the given kind of mark; the chart has passed Vega-Lite's schema then."""

    def find(chart: alt.TopLevelMixin, kind: str) -> list[Mark]:
        return [
            unit
            for unit in units(chart.to_dict())
            if unit["mark"]["type"] == kind
        ]

    return find
