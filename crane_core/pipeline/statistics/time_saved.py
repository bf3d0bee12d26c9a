"""Seconds that asking before a cell saves, as if every crash were predicted and for those that are."""

from collections.abc import Iterator
from typing import Any

from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.results.measures import SEED, VoteRule
from crane_core.pipeline.results.time_saved import time_saved, times_of
from crane_core.pipeline.rows import as_rows

BOOTSTRAP = "BCa bootstrap over crashes"
PLAIN = {
    "total": ("saved in total", "s"),
    "median": ("saved per crash, median", "s"),
    "n_saving": ("crashes that save time", "instances"),
    "pays_for": ("queries that a crash pays for", "queries"),
}
"""Numbers without an interval, with their unit."""


def seconds_saved(
    material: exported_statistic.Material,
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
                    yield from _account(
                        head._replace(group=row["account"], n=row["n"]), row
                    )


def _account(
    of: exported_statistic.ExportedStatistic, row: dict[str, Any]
) -> Iterator[exported_statistic.ExportedStatistic]:
    mean = of._replace(statistic="saved per crash, mean", seed=SEED)
    yield mean.measured_row(row, "mean", unit="s", method=BOOTSTRAP)
    for key, (name, unit) in PLAIN.items():
        yield of._replace(statistic=name).measured(row[key], unit=unit)


KINDS = {"time_saved": seconds_saved}
