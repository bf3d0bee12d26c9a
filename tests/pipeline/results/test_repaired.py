"""Outcomes of repair jobs: what is counted of how many, and what is in no rate."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from crane_core.domain import EXECUTED_KINDS
from crane_core.notebooks import CodeCell
from crane_core.pipeline.detection.repairs import changed_cells
from crane_core.pipeline.results.repaired import repaired
from crane_core.ui.executed_view import readable, repair_title

GOOD = {
    "runs_through": True,
    "has_same_cells": True,
    "has_same_state": True,
}
OTHER_STATE = GOOD | {"has_same_state": False}
NO_NAMES = GOOD | {"has_same_cells": False, "has_same_state": None}
CRASHES = GOOD | {"runs_through": False, "has_same_state": None}
CRASHING = [
    [GOOD, OTHER_STATE],
    [CRASHES, GOOD],
    [NO_NAMES],
    [OTHER_STATE],
    [],
]


def run(
    case: str, version: str, fixes: list[dict[str, object]], *, crashed: bool
) -> dict[str, object]:
    details = {
        "crashed_in_a_copy": crashed,
        "fixes": fixes,
        "requests": 2,
        "input_tokens": 10,
        "output_tokens": 5,
    }
    return {
        "benchmark": "b",
        "case_id": case,
        "version": version,
        "detector_title": "Repair by rules",
        "experiment": "e",
        "crashes": bool(crashed and not fixes),
        "diagnostics": json.dumps([details]),
    }


def frame() -> pd.DataFrame:
    rows = [
        run(f"c_{number}", "reproduced", fixes, crashed=True)
        for number, fixes in enumerate(CRASHING)
    ]
    rows.append(run("c_6", "reproduced", [], crashed=False))
    rows.append(run("c_0", "fixed", [], crashed=False))
    rows.append(run("c_1", "fixed", [GOOD], crashed=True))
    open_ = run("c_7", "reproduced", [], crashed=True)
    rows.append(open_ | {"crashes": None, "diagnostics": None})
    # An imported run states no details.
    rows.append(open_ | {"case_id": "c_8", "diagnostics": "[]"})
    return pd.DataFrame(rows)


def test_everything_is_counted_once() -> None:
    [row] = repaired(frame()).to_dict("records")
    expected = {
        "n": 5,
        "n_not_crashed": 1,
        "n_open": 2,
        "n_fixed_1": 3,
        "n_fixed_k": 4,
        "n_shown": 6,
        "n_crash": 1,
        "n_first": 4,
        "n_same_cells": 3,
        "n_compared": 2,
        "n_same_state": 1,
        "n_fixed": 2,
        "n_regressions": 1,
        "n_requests": 16,
        "n_tokens": 120,
    }
    assert {key: row[key] for key in expected} == expected


def test_shares_have_wilsons_interval() -> None:
    cases = pd.concat(
        [frame().head(5).assign(case_id=f"c{part}") for part in range(200)]
    )
    [row] = repaired(cases).to_dict("records")
    low, high = proportion_confint(600, 1000, method="wilson")
    assert row["value_1"] == 0.6
    assert (row["low_1"], row["high_1"]) == pytest.approx((low, high), abs=1e-3)


def test_of_no_notebook_nothing_is_known() -> None:
    [row] = repaired(frame().tail(1)).to_dict("records")
    assert (row["n"], row["n_open"]) == (0, 1)
    assert row["value_1"] is None or math.isnan(row["value_1"])
    assert repaired(frame().head(0)).empty


def test_the_section_shows_each_number_with_what_it_is_of() -> None:
    found = repaired(frame())
    [shown] = readable(found).to_dict("records")
    assert shown["Fixed at 1"] == "60.0%"
    assert (shown["Same state"], shown["Shown, but crash"]) == (
        "1 of 2",
        "1 of 6",
    )
    assert repair_title(found).startswith("3 of 5 crashing notebooks")
    assert "repair" in EXECUTED_KINDS


def cells(*sources: str) -> list[CodeCell]:
    return [
        CodeCell(index=place, source=source, execution_count=None, crash=None)
        for place, source in enumerate(sources)
    ]


def test_cells_that_only_one_notebook_has_are_changed() -> None:
    ours = cells("a", "b", "c")
    assert changed_cells(ours, cells("a", "x", "c")) == {1}
    assert changed_cells(ours, cells("a", "b")) == {2}
    assert changed_cells(ours, ours) == set()
