"""Seconds that asking before a cell saves, as if every crash were predicted and for those that are."""

from __future__ import annotations

from collections.abc import Iterator

from crane_core.pipeline.export.exported_statistic import ExportedStatistic, Material
from crane_core.pipeline.results.measures import SEED, VoteRule
from crane_core.pipeline.results.time_saved import time_saved, times_of
from crane_core.pipeline.rows import as_rows

PAGE, SECTION = "Results", "time"
BOOTSTRAP = "BCa bootstrap over crashes"


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Of every experiment whose answers were timed, under every rule for several runs."""
    for judging in material.judgings:
        times = (
            times_of(material.store, judging.benchmark, judging.experiment)
            if judging.is_main
            else None
        )
        if times is None or times.empty:
            continue
        for rule in VoteRule:
            for found in time_saved(judging.rows, times, rule=rule):
                head = judging.head(PAGE, SECTION, rule, None)
                head = head._replace(
                    detector=found.detector_title, input=found.setting, by="counted"
                )
                for row in as_rows(found.accounts):
                    of = head._replace(
                        group=row["account"],
                        n=row["n"],
                        n_cases=found.by_case["case_id"].nunique(),
                    )
                    mean = of._replace(statistic="saved per crash, mean", seed=SEED)
                    yield mean.measured(
                        row["mean"], row["low"], row["high"], unit="s", method=BOOTSTRAP
                    )
                    yield of._replace(statistic="saved in total").measured(
                        row["total"], unit="s"
                    )
                    yield of._replace(statistic="saved per crash, median").measured(
                        row["median"], unit="s"
                    )
                    yield of._replace(statistic="crashes that save time").measured(
                        row["n_saving"], unit="instances"
                    )
                    yield of._replace(
                        statistic="queries that a crash pays for"
                    ).measured(row["pays_for"], unit="queries")
