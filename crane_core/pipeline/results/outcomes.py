"""The outcome of every row of a table of comparisons, from the adjusted p-values that its columns hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from crane_core.stats import multiplicity
from crane_core.stats.outcome import outcome

TESTS = ("p_value", "p_by_case")
"""Columns of the tests that are planned for a comparison."""
BY_HOLM = ("p_holm", "p_by_case_holm")
"""The same after Holm over the rows, one planned family."""
BY_BH = ("p_bh", "p_by_case_bh")
"""The same after Benjamini-Hochberg over the rows, an exploratory grid."""


def one_family(table: pd.DataFrame) -> pd.DataFrame:
    """The rows as one planned family: adds p_holm and p_by_case_holm, and the `outcome` that both decide."""
    return _decided(table, multiplicity.holm, BY_HOLM)


def one_grid(table: pd.DataFrame) -> pd.DataFrame:
    """The rows as one exploratory grid: adds p_bh and p_by_case_bh, and the `outcome` that both decide."""
    return _decided(table, multiplicity.benjamini_hochberg, BY_BH)


def _decided(
    table: pd.DataFrame,
    adjust: Callable[[ArrayLike], NDArray[np.float64]],
    names: tuple[str, ...],
) -> pd.DataFrame:
    adjusted = {
        name: adjust(table[test].astype(float))
        for test, name in zip(TESTS, names, strict=True)
    }
    of_each = zip(table["difference"], *adjusted.values(), strict=True)
    decided = [str(outcome(difference, p)) for difference, *p in of_each]
    return table.assign(**adjusted, outcome=decided)
