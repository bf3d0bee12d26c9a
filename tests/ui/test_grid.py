"""Which columns of a finished table are numbers: those of the pages, and those that only begin with one."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.ui.grid import is_numeric
from crane_core.ui.words import (
    NOTHING,
    count,
    interval,
    p_value,
    percent,
    points,
    points_interval,
)


@pytest.mark.parametrize(
    "cells",
    [
        [percent(0.581), NOTHING],
        [points(0.072), points(-0.1)],
        [points_interval(0.013, 0.13), points_interval(-0.114, -0.002)],
        [f"{percent(0.972)} ({interval(0.941, 0.987)})"],
        [
            "> 0.99 (0.97 to 1.00)",
            "0.99 (0.98 to > 0.99)",
            "0.12 (−0.01 to 0.26)",
            "0.05 to 0.30",
        ],
        [p_value(0.0001), p_value(0.026)],
        [count(1110), "31", "2 of 5", "1,200 / 34", "0.3 MB"],
        [222, 80],
        [0.5, None],
    ],
)
def test_numbers_with_their_units_are_numbers(cells: list[object]) -> None:
    assert is_numeric(pd.Series(cells))


@pytest.mark.parametrize(
    "cells",
    [
        ["5 repetitions, normal order"],
        ["2026-11-23 00:14 UTC", "ships with the app"],
        ["9ac30133b90f"],
        ["−RT", "+RT"],
        [NOTHING, ""],
        [],
        [True, False],
        ["3", "many"],
    ],
)
def test_words_that_hold_numbers_are_words(cells: list[object]) -> None:
    assert not is_numeric(pd.Series(cells, dtype=object if not cells else None))
