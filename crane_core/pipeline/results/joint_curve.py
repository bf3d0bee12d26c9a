"""The specification curve as one question: is it a chance curve, and how large is its largest gain after all?

The statistics are in `stats.joint_curve`. Readings in which labels of a sample
stand for others have no tests and are not in it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results.measures import SEED, Pairs
from crane_core.pipeline.results.specification_curve import readings
from crane_core.pipeline.rows import as_rows
from crane_core.stats.joint_curve import (
    curve_p,
    joint_interval,
    joint_quantile,
)
from crane_core.stats.resampling import Interval

READING = ["rule", "credit", "judged_by"]
COLUMNS = [
    "detector", "detector_title", *READING, "n", "n_cases", "difference", "low", "high", "joint_low", "joint_high",
]  # fmt: skip


class JointCurve(NamedTuple):
    """The curve of all detectors and readings.

    median: difference over the rows of `table`, a share; p_value: that both inputs are alike for every detector and
    reading (`curve_p`). table: a row per detector and reading, COLUMNS; joint_low and joint_high hold for all rows
    together with 95%. n_cases: of all rows.
    """

    median: float
    p_value: float
    n_cases: int
    table: pd.DataFrame

    def largest(self) -> dict[str, Any] | None:
        """The row with the largest gain; None without a gain."""
        if self.table.empty or self.table["difference"].max() <= 0:
            return None
        return max(as_rows(self.table), key=lambda row: row["difference"])


def joint_curve(
    curve: pd.DataFrame, judged: Mapping[str, Pairs]
) -> JointCurve | None:
    """The joint inference over the rows of `specification_curve.curve_of`; None for an empty curve.

    judged: what the curve was made of (`specification_curve.pairs_of`).
    """
    if curve.empty:
        return None
    # A row per test: the tests of one reading have one difference.
    table = curve.drop_duplicates(["detector", *READING])
    shares_of = {
        (shown["rule"], shown["credit"], shown["judged_by"], detector): shares
        for reading in readings(judged)
        for shown in [reading.named()]
        for detector, shares in reading.pairs.case_shares(
            reading.rule, reading.credit
        ).items()
    }
    named = zip(*(table[name] for name in (*READING, "detector")), strict=True)
    # A case without an answer in a reading does not move it.
    shares = pd.concat([shares_of[one] for one in named], axis=1).fillna(0.0)
    moved = shares.to_numpy(dtype=float)
    quantile = joint_quantile(moved, seed=SEED)
    joint = [
        joint_interval(
            Interval(row["low"], row["high"]),
            row["difference"],
            row["n_cases"],
            quantile,
        )
        for row in as_rows(table)
    ]
    table = table.assign(
        joint_low=[one.low for one in joint],
        joint_high=[one.high for one in joint],
    )
    return JointCurve(
        median=float(np.median(table["difference"])),
        p_value=curve_p(moved, seed=SEED),
        n_cases=len(shares),
        table=table[COLUMNS].reset_index(drop=True),
    )
