"""The detector's row of table 2(b), detection alone, beside the published rows of the same setting and instances.

Knows which release holds which setting. The rates, their n and intervals are those of every page (`measures`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.measures import Credit, VoteRule, rate_table
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study.table_scores import BENCHMARK, STUDY, later_releases
from crane_core.stats.rates import RATES
from crane_core.storage.store import Store

_WHO = ["detector_title", "setting", "experiment"]
_BESIDE = {Setting.RUNTIME_PLUS: Setting.RUNTIME}
"""A setting without published rows is compared with the nearest one."""


class Rate(NamedTuple):
    """A share in 0..1 with its 95% interval, over `n` instances of `n_cases` cases; nan if nothing defines it."""

    value: float
    low: float
    high: float
    n: int
    n_cases: int


class ScoreRow(NamedTuple):
    """One detector in one setting. `n` instances had a question, `left_out` of them have no vote."""

    title: str
    setting: str
    experiment: str
    is_published: bool
    n: int
    left_out: int
    rates: dict[str, Rate]


def scores(store: Store, job: str) -> list[ScoreRow]:
    """The job's row first, then those published of the same instances; no row where the job has no answer.

    On a benchmark without published results, it is the only row.
    """
    frame = verdict_frame(store)
    mine = frame[frame["experiment"] == job]
    if mine.empty:
        return []
    return [
        *_rows(mine, is_published=False),
        *_rows(_published(frame, mine), is_published=True),
    ]


def _published(frame: pd.DataFrame, mine: pd.DataFrame) -> pd.DataFrame:
    """The verdicts of the study, or of its later release where the study has none of the setting."""
    setting = Setting(mine["setting"].iloc[0])
    there = frame[
        (frame["benchmark"] == BENCHMARK)
        & (frame["setting"] == _BESIDE.get(setting, setting))
    ]
    there = there[
        (mine["benchmark"].iloc[0] == BENCHMARK)
        & there["instance_id"].isin(mine["instance_id"])
    ]
    releases = (
        [STUDY] if there["experiment"].eq(STUDY).any() else later_releases(there)[:1]
    )
    chosen: pd.DataFrame = there[there["experiment"].isin(releases)]
    return chosen


def _rows(frame: pd.DataFrame, *, is_published: bool) -> list[ScoreRow]:
    if frame.empty:
        return []
    tables = {
        name: as_rows(
            rate_table(
                frame,
                by=_WHO,
                rate=name,
                rule=VoteRule.MAJORITY,
                credit=Credit.DETECTION,
            )
        )
        for name in RATES
    }
    n_instances = frame.groupby(_WHO, sort=False).size().tolist()
    rows = []
    for place, n in enumerate(n_instances):
        found = tables["Accuracy"][place]
        title, setting, experiment = (str(found[name]) for name in _WHO)
        rates = {name: _rate(table[place]) for name, table in tables.items()}
        rows.append(
            ScoreRow(
                title,
                setting,
                experiment,
                is_published,
                int(n),
                int(found["left_out"]),
                rates,
            )
        )
    return rows


def _rate(row: dict[str, Any]) -> Rate:
    value, low, high = (
        math.nan if row[name] is None else float(row[name])
        for name in ("value", "low", "high")
    )
    return Rate(value, low, high, int(row["n"]), int(row["n_cases"]))
