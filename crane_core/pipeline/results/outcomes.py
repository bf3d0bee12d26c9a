"""The outcome of every row of a table of comparisons, from the adjusted p-values that its columns hold."""

from __future__ import annotations

import pandas as pd

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
    adjusted = {
        name: multiplicity.holm(table[test].astype(float))
        for test, name in zip(TESTS, BY_HOLM, strict=True)
    }
    return _decided(table.assign(**adjusted), BY_HOLM)


def one_grid(table: pd.DataFrame) -> pd.DataFrame:
    """The rows as one exploratory grid: adds p_bh and p_by_case_bh, and the `outcome` that both decide."""
    adjust = multiplicity.benjamini_hochberg
    adjusted = {
        name: adjust(table[test].astype(float))
        for test, name in zip(TESTS, BY_BH, strict=True)
    }
    return _decided(table.assign(**adjusted), BY_BH)


def _decided(table: pd.DataFrame, tests: tuple[str, ...]) -> pd.DataFrame:
    p_values = table[list(tests)].itertuples(index=False, name=None)
    decided = [
        str(outcome(d, p)) for d, p in zip(table["difference"], p_values, strict=True)
    ]
    return table.assign(outcome=decided)
