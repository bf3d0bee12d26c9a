"""What a change by group is after partial pooling: the groups of one detector drawn towards their mean.

Takes the table of changes per group and detector (`measures.change_table`); the statistic is `stats.shrinkage`.
"""

import pandas as pd

from crane_core.stats.shrinkage import shrunken, standard_errors

POOLED = ("pooled", "pooled_low", "pooled_high", "pooled_weight")
"""The change of a group after pooling with its 95% interval, and how much the group's own estimate counts, in 0..1."""


def with_pooled(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes with the columns POOLED; nan where a detector has too few groups (`shrinkage.LEAST_GROUPS`).

    changes: difference, low, high, n_cases and detector, a row per group and detector.
    """
    if changes.empty:
        return changes
    tables = [_of_detector(rows) for _, rows in changes.groupby("detector")]
    return pd.concat(tables).loc[changes.index]


def _of_detector(rows: pd.DataFrame) -> pd.DataFrame:
    columns = (
        rows[name].astype(float)
        for name in ("difference", "low", "high", "n_cases")
    )
    found = shrunken(
        rows["difference"].astype(float), standard_errors(*columns)
    )
    named = dict(
        zip(
            POOLED,
            (found.value, found.low, found.high, found.weight),
            strict=True,
        )
    )
    return rows.assign(**named)
