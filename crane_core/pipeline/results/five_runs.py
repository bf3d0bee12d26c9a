"""How stable are the runs of one question? From answers to tidy frames: each run, pass@k, variance, and votes.

Detection alone: labels are of the majority's diagnosis, not of a run. Of each detector and setting the instances count
that all of its runs answered; the others are counted as left out.

The same tables come from counts per case (`stability`): the database counts, so runs by the million cost no row here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from crane_core.domain import Setting
from crane_core.pipeline.results import exported_statistic
from crane_core.pipeline.results.measures import ESTIMATED, SEED, estimate_row
from crane_core.pipeline.rows import as_rows
from crane_core.stats import five_runs, intervals
from crane_core.storage import run_counts
from crane_core.storage import verdicts as stored
from crane_core.storage.run_counts import KindOfCase
from crane_core.storage.store import Store

WHO = ["detector", "detector_title", "setting"]
RUN_COLUMNS = [*WHO, "n_runs", "measure", "k", *ESTIMATED, "left_out"]
VOTE_COLUMNS = [
    "detector",
    "detector_title",
    "n_runs",
    "votes",
    "n_real",
    *ESTIMATED,
]


class Measure(StrEnum):
    """The measures of the runs of a detector in a setting."""

    RUN = "accuracy of one answer"
    PASS = "pass@k"
    ALL = "all answers right"
    BETWEEN = "share of variance between instances"


def answers_by_run(
    store: Store,
    benchmark: str,
    experiment: str,
) -> pd.DataFrame:
    """Every answer of an experiment; see `storage.verdicts.answers_by_run`."""
    return stored.answers_by_run(store.cursor(), benchmark, experiment)


def complete(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of the verdict frame whose runs all answered, with n_runs and n_right; of two runs and more.

    n_runs is the largest number of answers that the detector gave to an instance in the setting.
    """
    answered = frame["n_crash"] + frame["n_safe"]
    n_runs = answered.groupby([frame["detector"], frame["setting"]]).transform(
        "max"
    )
    n_right = frame["n_crash"].where(frame["truth"], frame["n_safe"])
    return frame.assign(n_runs=n_runs, n_right=n_right)[
        (answered == n_runs) & (n_runs > 1)
    ]


def run_table(frame: pd.DataFrame, by_run: pd.DataFrame) -> pd.DataFrame:
    """One row per detector, setting and measure: RUN (k the run's number), PASS (k of n_runs), ALL, BETWEEN (k 0).

    frame: rows of the verdict frame of one experiment. by_run: `answers_by_run` of it. Columns RUN_COLUMNS: value with
    its 95% interval by case, n instances of n_cases cases; left_out, instances that lack an answer. PASS with k =
    n_runs is the share of instances that any run has right.
    """
    rows = []
    # Cases by number: the intervals and draws compare them often, and numbers compare faster than names.
    frame = frame.assign(case=pd.factorize(frame["case_id"], sort=True)[0])
    answered = _Answers.of(by_run)
    n_asked = frame.groupby(WHO, sort=False).size().to_dict()
    for who, mine in complete(frame).groupby(WHO, sort=False):
        same = dict(zip(WHO, who, strict=True))
        same["n_runs"] = int(mine["n_runs"].iloc[0])
        # An instance that one run did not answer would make the runs' rates be over different instances.
        same["left_out"] = int(n_asked[who]) - len(mine)
        found = [*answered.of_each_run(mine), *_of_all_runs(mine)]
        rows += [same | row for row in found]
    return pd.DataFrame(rows, columns=RUN_COLUMNS)


class _Answers(NamedTuple):
    """Every answer of an experiment: its run, whether it is right (nan without an answer), of which instance and case.

    where: the rows of each detector and setting.
    """

    run: NDArray[np.int64]
    right: NDArray[np.float64]
    instance: NDArray[np.intp]
    instances: pd.Index
    case: NDArray[np.intp]
    where: dict[Hashable, Any]

    @classmethod
    def of(cls, by_run: pd.DataFrame) -> _Answers:
        """The columns of `answers_by_run` as arrays, so that each detector's rows are found without a frame."""
        instance, instances = pd.factorize(by_run["instance_id"])
        said = by_run["crashes"].to_numpy(dtype=np.float64, na_value=np.nan)
        truth = by_run["truth"].to_numpy(dtype=np.float64)
        return cls(
            run=by_run["run_index"].to_numpy(),
            right=np.where(np.isnan(said), np.nan, said == truth),
            instance=instance,
            instances=pd.Index(instances),
            case=pd.factorize(by_run["case_id"], sort=True)[0],
            where=by_run.groupby(["detector", "setting"]).indices,
        )

    def of_each_run(self, mine: pd.DataFrame) -> Iterator[dict[str, Any]]:
        """The rate of each run over the instances of `mine`, rows of one detector in one setting."""
        is_mine = np.zeros(len(self.instances), dtype=bool)
        is_mine[self.instances.get_indexer(pd.Index(mine["instance_id"]))] = (
            True
        )
        rows = self.where[mine["detector"].iloc[0], mine["setting"].iloc[0]]
        rows = rows[is_mine[self.instance[rows]] & ~np.isnan(self.right[rows])]
        for run in np.unique(self.run[rows]):
            of_run = rows[self.run[rows] == run]
            yield _rate(
                Measure.RUN,
                int(run),
                self.right[of_run],
                self.case[of_run],
            )


def _of_all_runs(mine: pd.DataFrame) -> Iterator[dict[str, Any]]:
    n_runs = int(mine["n_runs"].iloc[0])
    n_right = mine["n_right"].to_numpy()
    case = mine["case"].to_numpy()
    for k in range(1, n_runs + 1):
        yield _rate(
            Measure.PASS,
            k,
            five_runs.pass_at_k(n_right, n_runs, k),
            case,
        )
    yield _rate(
        Measure.ALL,
        n_runs,
        (n_right == n_runs).astype(np.float64),
        case,
    )
    found = five_runs.variance_share(
        n_right,
        n_runs,
        case,
        seed=SEED,
    )
    yield {"measure": Measure.BETWEEN, "k": 0} | estimate_row(found)


def _rate(
    measure: Measure,
    k: int,
    part: np.ndarray,
    case: NDArray[np.intp],
) -> dict[str, Any]:
    found = intervals.clustered_rate(part, np.ones(len(part)), case)
    return {"measure": measure, "k": k} | estimate_row(found)


def vote_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Of the instances with `votes` of n_runs crash votes, the share that crash: one row per detector and votes.

    frame: rows of the verdict frame of one experiment; those of several settings count together. Columns VOTE_COLUMNS:
    value with its 95% interval by case, n_real of n instances, n_cases. No row where no instance has so many votes.
    """
    rows = []
    by = ["detector", "detector_title", "n_runs", "n_crash"]
    frame = frame.assign(case=pd.factorize(frame["case_id"], sort=True)[0])
    for (detector, title, n_runs, votes), of in complete(frame).groupby(
        by, sort=True
    ):
        # Here the truth is the outcome: how often a crash is real where so many runs predict it.
        real = of["truth"].to_numpy(dtype=np.float64)
        found = intervals.clustered_rate(
            real, np.ones(len(of)), of["case"].to_numpy()
        )
        rows.append((detector, title, n_runs, votes, int(real.sum()), *found))
    return pd.DataFrame(rows, columns=VOTE_COLUMNS)


PAGE, SECTION = "Results", "runs"
ALL_INPUTS = "all inputs"
BOOTSTRAP = "percentile bootstrap over cases"


def exported_five_runs(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every experiment whose instances have more than one run."""
    for judging in material.judgings:
        if judging.is_main:
            by_run = answers_by_run(
                material.store, judging.benchmark, judging.experiment
            )
            yield from _runs(judging, by_run)
            yield from _votes(judging)


def _runs(
    judging: exported_statistic.Judging, by_run: pd.DataFrame
) -> Iterator[exported_statistic.ExportedStatistic]:
    head = judging.head(PAGE, SECTION, None, None)
    for row in as_rows(run_table(judging.rows, by_run)):
        note = None
        if row["left_out"]:
            note = (
                f"{row['left_out']} instances lack an answer and are left out"
            )
        is_drawn = row["measure"] == Measure.BETWEEN
        of = head._replace(
            statistic=_name(row["measure"], row["k"], row["n_runs"]),
            detector=row["detector_title"],
            input=row["setting"],
            seed=SEED if is_drawn else None,
            note=note,
        )
        method = BOOTSTRAP if is_drawn else exported_statistic.RATE_INTERVAL
        yield of.measured_row(row, unit="share", method=method)


def _name(measure: str, k: int, n_runs: int) -> str:
    names = {
        Measure.RUN: f"accuracy of run {k}",
        Measure.PASS: f"any of {k} runs right (pass@{k} of {n_runs})",
    }
    return names.get(Measure(measure), str(measure))


def _votes(
    judging: exported_statistic.Judging,
) -> Iterator[exported_statistic.ExportedStatistic]:
    rows = judging.rows
    present = set(rows["setting"].unique())
    slices = {
        str(setting): rows[rows["setting"] == setting]
        for setting in Setting
        if setting in present
    }
    # With one input, all inputs would be the same rows again.
    if len(slices) > 1:
        slices = {ALL_INPUTS: rows} | slices
    head = judging.head(PAGE, SECTION, None, None)
    for name, mine in slices.items():
        for row in as_rows(vote_table(mine)):
            of = head._replace(
                statistic=f"real crashes among {row['votes']} of {row['n_runs']} crash votes",
                detector=row["detector_title"],
                input=name,
            )
            yield of.rated(row)


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
    counts = run_counts.run_counts(
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
            same | row
            for row in (*_cases_of_each_run(alike), *_cases_of_all_runs(alike))
        ]
    setting_of = counts.votes["setting"]
    votes: dict[str | None, pd.DataFrame] = {
        None: _case_votes(counts.votes[setting_of.isna()], titles)
    }
    for setting in setting_of.dropna().unique():
        votes[setting] = _case_votes(
            counts.votes[setting_of == setting], titles
        )
    return Stability(pd.DataFrame(rows, columns=RUN_COLUMNS), votes)


def _condition_of(kind: KindOfCase) -> tuple[str, str]:
    return kind.detector, kind.setting


def _cases_of_each_run(alike: list[KindOfCase]) -> Iterator[dict[str, Any]]:
    """The rate of each run over the instances."""
    n_cases = np.array([kind.n_cases for kind in alike])
    runs: set[int] = set()
    for kind in alike:
        runs.update(*kind.answered)
    for run in sorted(runs):
        right = [sum(run in of for of in kind.right) for kind in alike]
        asked = [sum(run in of for of in kind.answered) for kind in alike]
        yield _cases_rate(
            Measure.RUN,
            run,
            right,
            asked,
            n_cases,
        )


def _cases_of_all_runs(alike: list[KindOfCase]) -> Iterator[dict[str, Any]]:
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
        yield _cases_rate(
            Measure.PASS,
            k,
            passed,
            n,
            n_cases,
        )
    yield _cases_rate(
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


def _cases_rate(
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


def _case_votes(votes: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    rows = []
    by = ["detector", "n_runs", "n_crash"]
    for (detector, n_runs, n_crash), of in votes.groupby(by, sort=True):
        each_case = of.loc[of.index.repeat(of["n_cases"])]
        found = intervals.rate_of_cases(each_case["n_real"], each_case["n"])
        title, n_real = titles[str(detector)], int(each_case["n_real"].sum())
        rows.append((detector, title, n_runs, n_crash, n_real, *found))
    return pd.DataFrame(rows, columns=VOTE_COLUMNS)
