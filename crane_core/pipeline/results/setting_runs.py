"""Detectors with runs in several settings: of an imported experiment, or of own jobs, each of which has one setting.

Knows which rows of the verdict frame make up such a detector; the statistics are those of `measures`.
"""

from typing import NamedTuple

import pandas as pd

from crane_core.pipeline.results.beside import OWN, SHIPPED, with_shipped

_SERIES = ["benchmark", "detector", "setting"]


class SettingRuns(NamedTuple):
    """The rows of a choice, and how many own runs are left out because a later or larger one has their setting."""

    rows: pd.DataFrame
    n_left_out: int


def sources(
    verdicts: pd.DataFrame,
    ran: pd.DataFrame,
    benchmark: str,
) -> list[str]:
    """Where detectors with several settings come from: experiments by number of settings, then OWN for own jobs.

    Shipped local experiments are part of the one that they ship with.

    verdicts: the verdict frame; ran: `run_list`, which tells the jobs. Empty where no detector answered an instance in
    two settings: without one there is nothing to compare.
    """
    jobs = set(ran.loc[ran["is_job"], "experiment"])
    other = jobs.union(*SHIPPED.values())
    is_here = verdicts["benchmark"] == benchmark
    of = verdicts[is_here & ~verdicts["experiment"].isin(other)]
    of = of[_is_comparable(of, ["experiment", "detector"])]
    n_settings = of.groupby(["experiment", "detector"])["setting"].nunique()
    most = n_settings.groupby("experiment").max()
    in_order = most.sort_values(ascending=False, kind="stable").index
    found = [str(name) for name in in_order]
    own = runs_of(
        verdicts,
        ran,
        benchmark,
        OWN,
    ).rows
    return found if own.empty else [*found, OWN]


def runs_of(
    verdicts: pd.DataFrame,
    ran: pd.DataFrame,
    benchmark: str,
    source: str,
) -> SettingRuns:
    """The rows of the detectors of one source that answered an instance in two settings or more.

    Of own runs that repeat a detector and setting, the one with the most instances answered counts, of these the last
    that was started.
    """
    of = verdicts[verdicts["benchmark"] == benchmark]
    n_left_out = 0
    experiments = with_shipped(source)
    if source == OWN:
        is_here = ran["benchmark"] == benchmark
        jobs = ran[ran["is_job"] & (ran["n_answers"] > 0) & is_here]
        by_size = jobs.sort_values(
            ["n_answers", "started_at"], ascending=False, kind="stable"
        )
        best = by_size.drop_duplicates(_SERIES)
        n_left_out = len(jobs) - len(best)
        experiments = best["experiment"].tolist()
    rows = of[of["experiment"].isin(experiments)]
    return SettingRuns(rows[_is_comparable(rows, ["detector"])], n_left_out)


def _is_comparable(rows: pd.DataFrame, by: list[str]) -> pd.Series:
    """Whether the detector of each row, named by these columns, answered some instance in two settings."""
    is_answered = rows["n_crash"] + rows["n_safe"] > 0
    n_settings = (
        rows[is_answered].groupby([*by, "instance_id"])["setting"].nunique()
    )
    most = n_settings.groupby(by).max()
    names = (
        pd.MultiIndex.from_frame(rows[by])
        if len(by) > 1
        else pd.Index(rows[by[0]])
    )
    return pd.Series(most.reindex(names).to_numpy() > 1, rows.index)
