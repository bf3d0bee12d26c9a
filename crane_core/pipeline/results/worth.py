"""What a detector's alarms are worth in a working day: precision at a share of cells that crash, and net benefit.

A benchmark has as many crashes as fixed notebooks. How many cells crash in a day, and what a crash, a look at an alarm
and a query cost, are assumptions of the reader; nothing here measures them. An instance without an answer and a tie
raise no alarm, as a user would see it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results import exported_statistic
from crane_core.pipeline.results.measures import VoteRule, detected
from crane_core.pipeline.rows import as_rows
from crane_core.stats import prevalence

BASE_RATES = (0.05, 0.01, 0.02, 0.1, 0.2, 0.5)
"""Shares of cells that crash, the usual one first."""
THRESHOLDS = (0.01, 0.02, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
ALL, NONE = "every cell", "no cell"
LIBRARY = "library_group"


class Day(NamedTuple):
    """What a reader assumes: cells run in a day, the share that crashes, and what a crash and a look cost, in s."""

    cells: int = 100
    base_rate: float = BASE_RATES[0]
    crash_s: float = 600.0
    look_s: float = 30.0

    @property
    def threshold(self) -> float:
        """The lowest chance of a crash at which a look pays."""
        return self.look_s / self.crash_s


def worth(
    frame: pd.DataFrame,
    day: Day,
    *,
    rule: VoteRule,
    query_s: pd.Series[float] | None = None,
) -> pd.DataFrame:
    """A row per detector and setting of a verdict frame.

    Columns: detector_title, setting, precision with low and high, alarms and false_alarms in a day, net_benefit with
    net_low and net_high per cell, saved (seconds a day: those of prevented crashes less looks and, where its time is
    known, queries), query_s, n, n_cases. query_s: mean seconds of a query, by (detector, setting).
    """
    rows = []
    for (detector, setting), alarms, mine in _conditions(frame, rule):
        ratio = prevalence.likelihood_ratio(alarms)
        precise = prevalence.precision_at(ratio, day.base_rate)
        raised = alarms.contrast(day.base_rate, 1 - day.base_rate).value
        false = alarms.contrast(0, 1 - day.base_rate).value
        net = prevalence.net_benefit(alarms, day.base_rate, day.threshold)
        query = np.nan
        if query_s is not None:
            query = query_s.get((detector, setting), np.nan)
        per_cell = net.value * (day.crash_s - day.look_s)
        rows.append(
            {
                "detector_title": mine["detector_title"].iloc[0],
                "setting": setting,
                "precision": precise.value,
                "low": precise.low,
                "high": precise.high,
                "alarms": day.cells * raised,
                "false_alarms": day.cells * false,
                "net_benefit": net.value,
                "net_low": net.low,
                "net_high": net.high,
                "query_s": query,
                "saved": day.cells * (per_cell - np.nan_to_num(query)),
                "n": len(mine),
                "n_cases": mine["case_id"].nunique(),
            }
        )
    return pd.DataFrame(rows)


def decision_curve(
    frame: pd.DataFrame, base_rate: float, *, rule: VoteRule
) -> pd.DataFrame:
    """Net benefit by threshold: a row per detector, setting and threshold, and for a look at every cell and at none.

    Columns: detector_title (ALL and NONE for those two), setting, threshold, value, low, high, n, n_cases.
    """
    rows: list[dict[str, Any]] = []
    for (_, setting), alarms, mine in _conditions(frame, rule):
        for threshold in THRESHOLDS:
            net = prevalence.net_benefit(alarms, base_rate, threshold)
            rows.append(
                {
                    "detector_title": mine["detector_title"].iloc[0],
                    "setting": setting,
                    "threshold": threshold,
                    "value": net.value,
                    "low": net.low,
                    "high": net.high,
                    "n": len(mine),
                    "n_cases": mine["case_id"].nunique(),
                }
            )
    for name in (ALL, NONE):
        rows += [
            {
                "detector_title": name,
                "setting": "",
                "threshold": threshold,
                "value": prevalence.check_all(base_rate, threshold)
                if name == ALL
                else 0.0,
            }
            for threshold in THRESHOLDS
        ]
    return pd.DataFrame(rows)


def _conditions(
    frame: pd.DataFrame, rule: VoteRule
) -> Iterator[tuple[tuple[str, str], prevalence.Alarms, pd.DataFrame]]:
    """Detectors and settings that answered about crashes and about instances without one."""
    for (detector, setting), rows in frame.groupby(
        ["detector", "setting"], sort=False
    ):
        if rows["truth"].nunique() < 2:
            continue
        raised = np.nan_to_num(detected(rows, rule))
        truth = rows["truth"].to_numpy(dtype=bool)
        name = (str(detector), str(setting))
        yield name, prevalence.Alarms(raised, truth, rows["case_id"]), rows


BY_FIELLER = "Fieller's interval of the likelihood ratio, by case"
BY_CASE = "linearised by case, with one imaginary case, Student's quantile"
UNIT = "prevented crashes per cell"


def exported_worth(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every experiment, detection alone, the majority of answers."""
    for judging in material.judgings:
        if not judging.is_main:
            continue
        head = judging.head("Results", "worth", VoteRule.MAJORITY, None)
        yield from _exported_rows(judging, head)
        for group, rows in judging.rows.groupby(LIBRARY, sort=True):
            of = head._replace(by=LIBRARY, group=str(group))
            yield from _exported_rows(judging._replace(rows=rows), of)


def _exported_rows(
    judging: exported_statistic.Judging,
    head: exported_statistic.ExportedStatistic,
) -> Iterator[exported_statistic.ExportedStatistic]:
    for base_rate in BASE_RATES:
        day = Day(base_rate=base_rate)
        for row in as_rows(worth(judging.rows, day, rule=VoteRule.MAJORITY)):
            of = head._replace(
                detector=row["detector_title"],
                input=row["setting"],
                n=row["n"],
                n_cases=row["n_cases"],
                note=f"{base_rate:.0%} of cells crash; a look costs {day.threshold:.0%} of a crash",
            )
            precise = of._replace(statistic="precision at a base rate")
            yield precise.measured_row(
                row, "precision", unit="share", method=BY_FIELLER
            )
            net = of._replace(statistic="net benefit at a base rate")
            yield net.measured(
                row["net_benefit"],
                row["net_low"],
                row["net_high"],
                unit=UNIT,
                method=BY_CASE,
            )
