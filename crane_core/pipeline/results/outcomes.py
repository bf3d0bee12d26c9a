"""The outcome of every row of a table of comparisons, from the adjusted p-values that its columns hold."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from crane_core.stats import multiplicity, outcome
from crane_core.stats.equivalence import SMALLEST_EFFECT, smaller_p_values

Adjustment = Callable[[ArrayLike], NDArray[np.float64]]

TESTS = ("p_value", "p_by_case")
"""Columns of the tests that are planned for a comparison."""
BY_HOLM = ("p_holm", "p_by_case_holm")
"""The same after Holm over the rows, one planned family."""
BY_BH = ("p_bh", "p_by_case_bh")
"""The same after Benjamini-Hochberg over the rows, an exploratory grid."""
ADJUSTED: dict[tuple[str, str], Adjustment] = {
    BY_HOLM: multiplicity.holm,
    BY_BH: multiplicity.benjamini_hochberg,
}


def one_family(
    table: pd.DataFrame, bound: float = SMALLEST_EFFECT
) -> pd.DataFrame:
    """The rows as one planned family: adds p_holm and p_by_case_holm, and what `under_bound` adds."""
    return _adjusted(table, BY_HOLM, bound)


def one_grid(
    table: pd.DataFrame, bound: float = SMALLEST_EFFECT
) -> pd.DataFrame:
    """The rows as one exploratory grid: adds p_bh and p_by_case_bh, and what `under_bound` adds."""
    return _adjusted(table, BY_BH, bound)


def under_bound(
    table: pd.DataFrame, bound: float = SMALLEST_EFFECT
) -> pd.DataFrame:
    """The rows with the outcomes that they have if the smallest effect of interest is `bound`, a share.

    table: difference, low, high, n_cases, and the adjusted p-values of `one_family` or `one_grid`. Adds bound,
    p_smaller (of the two one-sided tests that the difference is smaller than the bound, adjusted over the rows as the
    other p-values are) and the outcome that all of them decide.
    """
    names = next((one for one in ADJUSTED if set(one) <= set(table)), None)
    if names is None:
        return table
    raw = smaller_p_values(
        *(table[name] for name in ("difference", "low", "high", "n_cases")),
        bound=bound,
    )
    p_smaller = ADJUSTED[names](raw)
    decided = []
    for difference, p, small in zip(
        table["difference"],
        table[list(names)].to_numpy(dtype=float),
        p_smaller,
        strict=True,
    ):
        found = outcome.outcome(difference, p, p_smaller=small)
        decided.append(outcome.outcome_text(found, bound))
    return table.assign(bound=bound, p_smaller=p_smaller, outcome=decided)


def _adjusted(
    table: pd.DataFrame, names: tuple[str, str], bound: float
) -> pd.DataFrame:
    adjusted = {
        name: ADJUSTED[names](table[test].astype(float))
        for test, name in zip(TESTS, names, strict=True)
    }
    return under_bound(table.assign(**adjusted), bound)
