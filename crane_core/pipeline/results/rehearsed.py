"""What rehearsed targets did, crashing and fixed notebooks apart: how many crashed, ran through, or gave no verdict."""

import pandas as pd

from crane_core.pipeline.results.measures import Credit, VoteRule, rate_table

BY = ["detector_title", "experiment", "version"]


def rehearsed(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per detector, experiment and version of the notebook; frame: rows of `evaluate.verdict_frame`.

    Columns: BY, n_crashed, n_through, n_open (no verdict), and of `measures.rate_table` value, low and high (the share
    that did what the notebook claims, of n with a verdict) and n_cases.
    """
    counted = frame.assign(
        n_crashed=frame["n_crash"] > 0,
        n_through=frame["n_safe"] > 0,
        n_open=frame["n_crash"] + frame["n_safe"] == 0,
    )
    counts = (
        counted.groupby(BY, sort=False)[["n_crashed", "n_through", "n_open"]]
        .sum()
        .reset_index()
    )
    rates = rate_table(
        frame,
        by=BY,
        rate="Accuracy",
        rule=VoteRule.MAJORITY,
        credit=Credit.DETECTION,
    )
    return counts.merge(
        rates[[*BY, "n", "n_cases", "value", "low", "high"]], on=BY
    )
