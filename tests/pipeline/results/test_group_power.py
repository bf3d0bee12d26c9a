"""The cases that a group would need for the smallest effect of interest."""

from __future__ import annotations

import numpy as np
import pandas as pd

from crane_core.pipeline.results.breakdown import with_needed
from crane_core.stats.power import mcnemar_power, pairs_needed

ROWS = pd.DataFrame(
    {
        "n": [30, 30, 30, 0],
        "n_cases": [15, 15, 15, 0],
        "gained": [6.0, 0.0, np.nan, 0.0],
        "lost": [3.0, 0.0, np.nan, 0.0],
        "bound": 0.05,
    }
)


def test_cases_needed_follow_from_the_share_that_differs() -> None:
    found = with_needed(ROWS)["cases_needed"]
    assert found[0] == pairs_needed(0.3, 0.05)
    assert mcnemar_power(int(found[0]), 0.3, 0.05) >= 0.8
    # None differs, right is not a yes or no, nothing was answered.
    assert found[1:].isna().all()


def test_a_larger_bound_needs_fewer_cases() -> None:
    wide = with_needed(ROWS.assign(bound=0.1))["cases_needed"]
    assert wide[0] < with_needed(ROWS)["cases_needed"][0]
    assert with_needed(ROWS.head(0)).empty


def test_power_now_is_that_of_the_cases_at_hand() -> None:
    found = with_needed(ROWS)["power_now"]
    assert found[0] == mcnemar_power(15, 0.3, 0.05)
    assert found[1:].isna().all()
    rare = with_needed(ROWS.assign(gained=1.0, lost=0.0).head(1))
    assert np.isnan(rare["power_now"][0])
