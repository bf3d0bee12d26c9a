"""What a group's number of cases can reveal at all, beside each change by group, and how many it would need.

Prospective: for the smallest effect of interest, not for the change that was observed, whose power says no more than
its p-value does.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from crane_core.pipeline.rows import as_rows
from crane_core.stats.power import mcnemar_power, pairs_needed


def with_needed(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes with cases_needed, for the exact McNemar test to reveal `bound` with 80% power at the 5% level.

    Adds power_now too: the power of that test with the n_cases of the group.

    changes: of `measures.change_table`, with n, n_cases, gained, lost and bound. The share of cases that differ is
    taken from the instances; cases are counted and not instances, since the two of a case are alike. nan where an
    instance is not right or wrong, and where fewer differ than the bound needs.
    """
    if changes.empty:
        return changes
    rows = as_rows(changes)
    return changes.assign(
        cases_needed=[*map(_needed, rows)], power_now=[*map(_power, rows)]
    )


def _needed(row: dict[str, Any]) -> float:
    return pairs_needed(_differing(row), row["bound"])


def _power(row: dict[str, Any]) -> float:
    differing = _differing(row)
    # Fewer cases differ than the bound needs, so that no test could reveal it.
    if not row["bound"] <= differing:
        return np.nan
    return _power_of(int(row["n_cases"]), differing, row["bound"])


# The same group stands under several readings, rates and pages.
_power_of = lru_cache(maxsize=4096)(mcnemar_power)


def _differing(row: dict[str, Any]) -> float:
    if row["gained"] is None or not row["n"]:
        return np.nan
    return float((row["gained"] + row["lost"]) / row["n"])
