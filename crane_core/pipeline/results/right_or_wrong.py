"""Whether each detector is right on each instance with either input: what a model over all detectors is fitted to.

Knows detectors with both inputs. If labels of a sample represent others, it is unknown which instance is right.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results import measures
from crane_core.stats import rates
from crane_core.stats.gee import Unfit

SAMPLED = "the labels of a sample stand for others"


class RightOrWrong(NamedTuple):
    """Rows of the verdict frame of detectors with both inputs, with `right` in 0..1 and `is_other` (the other input).

    Right is a share where the rule is the mean of answers or partial diagnoses earn half a credit. why_not: why nothing
    can be fitted to them, a `gee.Unfit` or SAMPLED, and the two columns are missing then; else empty.
    """

    rows: pd.DataFrame
    why_not: str = ""


def right_or_wrong(
    frame: pd.DataFrame,
    *,
    rule: measures.VoteRule,
    credit: measures.Credit,
    inputs: measures.Inputs,
) -> RightOrWrong:
    """Of a slice of the verdict frame, over its `measures.paired_rows`."""
    rows = measures.paired_rows(frame, rule=rule, credit=credit, inputs=inputs)
    rows = rows[rows.groupby("detector")["setting"].transform("nunique") == 2]
    if rows.empty:
        return RightOrWrong(rows, str(Unfit.ONE_GROUP))
    parts = None
    if not measures.is_sampled(rows, rule, credit):
        parts = measures.scored(rows, rule, credit).parts
    if parts is None:
        return RightOrWrong(rows, SAMPLED)
    return RightOrWrong(
        rows.assign(
            right=np.asarray(rates.accuracy(parts).part),
            is_other=rows["setting"] == inputs.other,
        )
    )
