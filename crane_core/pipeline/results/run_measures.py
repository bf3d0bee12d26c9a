"""How stable the runs are, from counts per case: the database counts, so runs by the million cost no row here.

The same tables as `five_runs` makes of the verdict frame and of every answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from crane_core.pipeline.results.five_runs import RUN_COLUMNS, VOTE_COLUMNS, Measure
from crane_core.pipeline.results.measures import SEED
from crane_core.stats import five_runs, intervals
from crane_core.storage import run_counts as stored
from crane_core.storage.run_counts import KindOfCase
from crane_core.storage.store import Store


class Stability(NamedTuple):
    """runs: `five_runs.run_table`. votes: `five_runs.vote_table` by setting, None for all settings together."""

    runs: pd.DataFrame
    votes: dict[str | None, pd.DataFrame]


def stability(
    store: Store, benchmark: str, experiment: str, titles: Mapping[str, str]
) -> Stability:
    """The tables of these detectors in one experiment. titles: detector to how it is shown."""
    counts = stored.run_counts(store.cursor(), benchmark, experiment, list(titles))
    rows: list[dict[str, Any]] = []
    # The query orders them so; `groupby` joins neighbours only.
    for (detector, setting), kinds in groupby(
        counts.cases, key=lambda kind: (kind.detector, kind.setting)
    ):
        alike = list(kinds)
        same = {
            "detector": detector,
            "detector_title": titles[detector],
            "setting": setting,
        }
        same |= {
            "n_runs": alike[0].n_runs,
            "left_out": counts.left_out[detector, setting],
        }
        rows += [same | row for row in (*_of_each_run(alike), *_of_all_runs(alike))]
    settings = [None, *counts.votes["setting"].dropna().unique()]
    return Stability(
        pd.DataFrame(rows, columns=RUN_COLUMNS),
        {
            setting: _votes(_with_setting(counts.votes, setting), titles)
            for setting in settings
        },
    )


def _of_each_run(alike: list[KindOfCase]) -> Iterator[dict[str, Any]]:
    """The rate of each run over the instances."""
    n_cases = np.array([kind.n_cases for kind in alike])
    for run in sorted(
        {run for kind in alike for answered in kind.answered for run in answered}
    ):
        right, asked = (
            [sum(run in of for of in lists) for lists in each] for each in _lists(alike)
        )
        yield _rate(Measure.RUN, run, right, asked, n_cases)


def _lists(
    alike: list[KindOfCase],
) -> tuple[list[list[list[int]]], list[list[list[int]]]]:
    return [kind.right for kind in alike], [kind.answered for kind in alike]


def _of_all_runs(alike: list[KindOfCase]) -> Iterator[dict[str, Any]]:
    n_runs, n_cases = alike[0].n_runs, np.array([kind.n_cases for kind in alike])
    having = np.array(
        [
            np.bincount([len(right) for right in kind.right], minlength=n_runs + 1)
            for kind in alike
        ]
    )
    n, possible = (
        having.sum(axis=1),
        np.arange(n_runs + 1),
    )  # having: instances by kind and number of right runs
    for k in range(1, n_runs + 1):
        yield _rate(
            Measure.PASS,
            k,
            having @ five_runs.pass_at_k(possible, n_runs, k),
            n,
            n_cases,
        )
    yield _rate(Measure.ALL, n_runs, having[:, n_runs], n, n_cases)
    sums = np.column_stack([n, having @ possible, having @ possible**2])
    found = five_runs.variance_share_of_cases(sums, n_cases, n_runs, seed=SEED)
    yield {
        "measure": Measure.BETWEEN, "k": 0, "value": found.between, "low": found.low, "high": found.high, "n": found.n,
        "n_cases": found.n_clusters,
    }  # fmt: skip


def _rate(
    measure: Measure,
    k: int,
    right: ArrayLike,
    asked: ArrayLike,
    n_cases: NDArray[np.int64],
) -> dict[str, Any]:
    # Kinds of cases are counted once with how many cases are alike; the interval goes over single cases.
    found = intervals.rate_of_cases(
        np.repeat(right, n_cases), np.repeat(asked, n_cases)
    )
    return {
        "measure": measure, "k": k, "value": found.value, "low": found.low, "high": found.high, "n": found.n,
        "n_cases": found.n_clusters,
    }  # fmt: skip


def _with_setting(votes: pd.DataFrame, setting: str | None) -> pd.DataFrame:
    return votes[
        votes["setting"].isna() if setting is None else votes["setting"] == setting
    ]


def _votes(votes: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    rows = []
    for (detector, n_runs, n_crash), of in votes.groupby(
        ["detector", "n_runs", "n_crash"], sort=True
    ):
        real, n = (
            np.repeat(of[name].to_numpy(), of["n_cases"].to_numpy())
            for name in ("n_real", "n")
        )
        found = intervals.rate_of_cases(real, n)
        rows.append(
            (detector, titles[str(detector)], n_runs, n_crash, int(real.sum()), *found)
        )
    return pd.DataFrame(rows, columns=VOTE_COLUMNS)
