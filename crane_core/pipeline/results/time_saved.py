"""Does it save time to ask before a cell runs? The cells that a crash would make a user run again, less the queries.

Paper, section 6.4. A crash that is predicted saves the time of the cells before it; every query costs its own. The
times of the published study are facts of ours (data/published/times.csv); of own runs, the captures timed the cells
and the replies the queries. Left out, because nothing here knows it: a restart of the kernel, the target cell's own
time until it crashes, the look at the kernel, what a false alarm costs, and how many cells are run that do not crash.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.places import embedded
from crane_core.pipeline.results import exported_statistic
from crane_core.pipeline.results.measures import SEED, VoteRule, detected
from crane_core.pipeline.rows import as_rows
from crane_core.stats.mean import mean
from crane_core.storage import answers
from crane_core.storage.store import Store

FILE = "times.csv"
PUBLISHED_TIMES = ("junobench", "crane-llm-2025-10", "gpt-5", Setting.RUNTIME)
"""What the published times are of (benchmark, experiment, detector, setting); paper, section 6.4."""
COLUMNS = [
    "account",
    "total",
    "mean",
    "low",
    "high",
    "median",
    "n_saving",
    "n",
    "pays_for",
]
OF_CASE = [
    "case_id",
    "instance_id",
    "seconds_before",
    "seconds_of_query",
    "is_predicted",
]


class Account(StrEnum):
    """Which times count."""

    EVERY_CRASH = "if every crash were predicted"
    PREDICTED = "predicted crashes"


class TimeSaved(NamedTuple):
    """Seconds saved by a detector in a setting.

    by_case: a row per crashing instance that was timed: case_id, instance_id, seconds_before, seconds_of_query,
    is_predicted. accounts: a row per Account, columns COLUMNS: seconds saved in total, their mean per crash with its
    95% interval, their median, n_saving of n crashes that save time, and pays_for, how many queries about cells that
    do not crash a crash pays for on average, until nothing is saved.
    """

    detector: str
    detector_title: str
    setting: str
    by_case: pd.DataFrame
    accounts: pd.DataFrame


def published_times() -> pd.DataFrame:
    """instance_id, detector, setting, seconds_before (missing for fixed notebooks) and seconds_of_query."""
    _, _, detector, setting = PUBLISHED_TIMES
    times = pd.read_csv(embedded()["published"] / FILE).rename(
        columns={"instance": "instance_id"}
    )
    return times.assign(detector=detector, setting=str(setting))


def times_of(
    store: Store,
    benchmark: str,
    experiment: str,
) -> pd.DataFrame:
    """Times of an experiment, with the columns of `published_times`; empty if nothing was timed."""
    if (benchmark, experiment) == PUBLISHED_TIMES[:2]:
        return published_times()
    return answers.query_times(store.cursor(), benchmark, experiment)


def time_saved(
    frame: pd.DataFrame,
    times: pd.DataFrame,
    *,
    rule: VoteRule,
) -> list[TimeSaved]:
    """One per detector and setting that was timed; `frame` is the verdict frame of the experiment.

    Where the rule is the mean of answers, an instance is predicted by the share of runs that predict it.
    """
    found = []
    timed = frame.merge(times, on=["instance_id", "detector", "setting"])
    for (detector, setting), rows in timed.groupby(
        ["detector", "setting"], sort=False
    ):
        crashes = rows[rows["truth"] & rows["seconds_before"].notna()]
        if crashes.empty:
            continue
        # A tie and a missing answer predict nothing and save nothing.
        predicted = np.nan_to_num(detected(crashes, rule))
        by_case = crashes.assign(is_predicted=predicted)[OF_CASE]
        query = float(rows["seconds_of_query"].mean())
        accounts = [_account(by_case, account, query) for account in Account]
        one = TimeSaved(
            detector=str(detector),
            detector_title=str(rows["detector_title"].iloc[0]),
            setting=str(setting),
            by_case=by_case.reset_index(drop=True),
            accounts=pd.DataFrame(accounts, columns=COLUMNS),
        )
        found.append(one)
    return found


def _account(
    by_case: pd.DataFrame,
    account: Account,
    query: float,
) -> dict[str, float | str]:
    counts = 1.0 if account is Account.EVERY_CRASH else by_case["is_predicted"]
    saved = (
        # A query costs its time whether or not it predicts the crash.
        by_case["seconds_before"] * counts - by_case["seconds_of_query"]
    ).to_numpy()
    on_average = mean(saved, seed=SEED)
    return {
        "account": str(account),
        "total": float(saved.sum()),
        "mean": on_average.value,
        "low": on_average.low,
        "high": on_average.high,
        "median": float(np.median(saved)),
        "n_saving": int((saved > 0).sum()),
        "n": len(saved),
        "pays_for": max(on_average.value, 0.0) / query,
    }


BOOTSTRAP = "BCa bootstrap over crashes"
PLAIN = {
    "total": ("saved in total", "s"),
    "median": ("saved per crash, median", "s"),
    "n_saving": ("crashes that save time", "instances"),
    "pays_for": ("queries that a crash pays for", "queries"),
}
"""Numbers without an interval, with their unit."""


def exported_times(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every experiment whose answers were timed, under every rule for several runs."""
    for judging in material.judgings:
        if not judging.is_main:
            continue
        times = times_of(material.store, judging.benchmark, judging.experiment)
        if times.empty:
            continue
        for rule in VoteRule:
            for found in time_saved(judging.rows, times, rule=rule):
                head = judging.head("Results", "time", rule, None)._replace(
                    detector=found.detector_title,
                    input=found.setting,
                    by="counted",
                    n_cases=found.by_case["case_id"].nunique(),
                )
                for row in as_rows(found.accounts):
                    yield from _exported_account(
                        head._replace(group=row["account"], n=row["n"]), row
                    )


def _exported_account(
    of: exported_statistic.ExportedStatistic, row: dict[str, Any]
) -> Iterator[exported_statistic.ExportedStatistic]:
    mean = of._replace(statistic="saved per crash, mean", seed=SEED)
    yield mean.measured_row(row, "mean", unit="s", method=BOOTSTRAP)
    for key, (name, unit) in PLAIN.items():
        yield of._replace(statistic=name).measured(row[key], unit=unit)
