"""How stable the runs are, from counts per case: the database counts, so runs by the million cost no row here.

The same tables as `five_runs` makes of the verdict frame and of every answer.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from crane_core.pipeline.results.five_runs import (
    RUN_COLUMNS,
    VOTE_COLUMNS,
    Measure,
)
from crane_core.pipeline.results.measures import SEED, estimate_row
from crane_core.stats import five_runs, intervals
from crane_core.storage import run_counts as stored
from crane_core.storage.run_counts import KindOfCase
from crane_core.storage.store import Store


class Stability(NamedTuple):
    """runs: `five_runs.run_table`. votes: `five_runs.vote_table` by setting, None for all settings together."""

    runs: pd.DataFrame
    votes: dict[str | None, pd.DataFrame]


def stability(
    store: Store,
    benchmark: str,
    experiment: str,
    titles: Mapping[str, str],
) -> Stability:
    """The tables of these detectors in one experiment. titles: detector to how it is shown."""
    counts = stored.run_counts(
        store.cursor(),
        benchmark,
        experiment,
        list(titles),
    )
    rows: list[dict[str, Any]] = []
    # The query orders them so; `groupby` joins neighbours only.
    for (detector, setting), kinds in groupby(counts.cases, key=_condition_of):
        alike = list(kinds)
        same = {
            "detector": detector,
            "detector_title": titles[detector],
            "setting": setting,
            "n_runs": alike[0].n_runs,
            "left_out": counts.left_out[detector, setting],
        }
        rows += [
            same | row for row in (*_of_each_run(alike), *_of_all_runs(alike))
        ]
    setting_of = counts.votes["setting"]
    votes: dict[str | None, pd.DataFrame] = {
        None: _votes(counts.votes[setting_of.isna()], titles)
    }
    for setting in setting_of.dropna().unique():
        votes[setting] = _votes(counts.votes[setting_of == setting], titles)
    return Stability(pd.DataFrame(rows, columns=RUN_COLUMNS), votes)


def _condition_of(kind: KindOfCase) -> tuple[str, str]:
    return kind.detector, kind.setting


def _of_each_run(alike: list[KindOfCase]) -> Iterator[dict[str, Any]]:
    """The rate of each run over the instances."""
    n_cases = np.array([kind.n_cases for kind in alike])
    runs: set[int] = set()
    for kind in alike:
        runs.update(*kind.answered)
    for run in sorted(runs):
        right = [sum(run in of for of in kind.right) for kind in alike]
        asked = [sum(run in of for of in kind.answered) for kind in alike]
        yield _rate(
            Measure.RUN,
            run,
            right,
            asked,
            n_cases,
        )


def _of_all_runs(alike: list[KindOfCase]) -> Iterator[dict[str, Any]]:
    n_runs = alike[0].n_runs
    n_cases = np.array([kind.n_cases for kind in alike])
    possible = np.arange(n_runs + 1)
    # Instances by kind and number of right runs.
    having = np.zeros((len(alike), n_runs + 1), dtype=np.int64)
    for place, kind in enumerate(alike):
        having[place] = np.bincount(
            list(map(len, kind.right)), minlength=n_runs + 1
        )
    n = having.sum(axis=1)
    for k in range(1, n_runs + 1):
        passed = having @ five_runs.pass_at_k(possible, n_runs, k)
        yield _rate(
            Measure.PASS,
            k,
            passed,
            n,
            n_cases,
        )
    yield _rate(
        Measure.ALL,
        n_runs,
        having[:, n_runs],
        n,
        n_cases,
    )
    sums = np.column_stack([n, having @ possible, having @ possible**2])
    found = five_runs.variance_share_of_cases(
        sums,
        n_cases,
        n_runs,
        seed=SEED,
    )
    yield {"measure": Measure.BETWEEN, "k": 0} | estimate_row(found)


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
    return {"measure": measure, "k": k} | estimate_row(found)


def _votes(votes: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    rows = []
    by = ["detector", "n_runs", "n_crash"]
    for (detector, n_runs, n_crash), of in votes.groupby(by, sort=True):
        each_case = of.loc[of.index.repeat(of["n_cases"])]
        found = intervals.rate_of_cases(each_case["n_real"], each_case["n"])
        title, n_real = titles[str(detector)], int(each_case["n_real"].sum())
        rows.append((detector, title, n_runs, n_crash, n_real, *found))
    return pd.DataFrame(rows, columns=VOTE_COLUMNS)
