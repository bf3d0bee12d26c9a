"""Local runs beside a study: verdicts of several experiments in one frame, with distinct detector names."""

from collections.abc import Sequence

import pandas as pd

from crane_core.importers.published_rules import EXPERIMENT as OUR_RULES
from crane_core.pipeline.study.table_scores import STUDY

OWN = "own"
SHIPPED = {STUDY: (OUR_RULES,)}
"""Local experiments that ship with a study: other detectors on the same instances, in the study's settings."""


def beside(
    verdicts: pd.DataFrame,
    experiment: str,
    others: Sequence[str],
) -> pd.DataFrame:
    """The rows of `experiment`, of those that ship with it and of `others`, with the detectors of the others renamed.

    verdicts: rows of `evaluate.verdict_frame`. A detector of another experiment becomes "<detector> (own)", so that
    its runs with and without runtime state stay one detector; where two experiments hold the same detector in the same
    setting, such as repeats, it becomes "<detector> (<experiment>)". Columns detector and detector_title change.
    """
    is_mine = verdicts["experiment"].isin(with_shipped(experiment))
    mine = verdicts[is_mine]
    added = verdicts[verdicts["experiment"].isin(list(others)) & ~is_mine]
    if added.empty:
        return mine
    n_of = added.groupby(["detector", "setting"])["experiment"].transform(
        "nunique"
    )
    is_repeated = added["detector"].isin(added.loc[n_of > 1, "detector"])
    tag = added["experiment"].astype(str).where(is_repeated, OWN)
    for name in ("detector", "detector_title"):
        named = added[name].astype(str) + " (" + tag + ")"
        added = added.assign(**{name: named})
    return pd.concat([mine, added], ignore_index=True)


def with_shipped(experiment: str) -> list[str]:
    """The experiment, and the local ones that ship with it."""
    return [experiment, *SHIPPED.get(experiment, ())]


def asked_as(detector: str) -> str:
    """The original name of a detector that `beside` renamed."""
    return detector.rpartition(" (")[0] or detector
