"""Own runs beside a study: verdicts of several experiments in one frame, and no two detectors taken for one."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

OWN = "own"


def beside(verdicts: pd.DataFrame, experiment: str, others: Sequence[str]) -> pd.DataFrame:
    """The rows of `experiment` and of `others`, with the detectors of the others renamed.

    verdicts: rows of `evaluate.verdict_frame`. A detector of another experiment becomes "<detector> (own)", so that
    its runs with and without runtime state stay one detector; where two experiments hold the same detector in the same
    setting, such as repeats, it becomes "<detector> (<experiment>)". Columns detector and detector_title change.
    """
    mine = verdicts[verdicts["experiment"] == experiment]
    added = verdicts[verdicts["experiment"].isin(list(others)) & (verdicts["experiment"] != experiment)]
    if added.empty:
        return mine
    n_of = added.groupby(["detector", "setting"])["experiment"].transform("nunique")
    repeated = set(added.loc[n_of > 1, "detector"])
    tags = [
        str(row_experiment) if detector in repeated else OWN
        for detector, row_experiment in zip(added["detector"], added["experiment"], strict=True)
    ]
    named = {
        name: [f"{value} ({tag})" for value, tag in zip(added[name], tags, strict=True)]
        for name in ("detector", "detector_title")
    }
    return pd.concat([mine, added.assign(**named)], ignore_index=True)


def asked_as(detector: str) -> str:
    """The detector's own name, of one that `beside` renamed."""
    return detector.rpartition(" (")[0] or detector
