"""How stable the runs are: each run, pass@k, variance between instances, and how often so many votes are right."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.export.exported_statistic import (
    RATE_INTERVAL,
    ExportedStatistic,
    Judging,
    Material,
)
from crane_core.pipeline.results.five_runs import (
    Measure,
    answers_by_run,
    run_table,
    vote_table,
)
from crane_core.pipeline.results.measures import SEED
from crane_core.pipeline.rows import as_rows

PAGE, SECTION = "Results", "runs"
ALL_INPUTS = "all inputs"
BOOTSTRAP = "percentile bootstrap over cases"


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Of every experiment whose instances have more than one run."""
    for judging in material.judgings:
        if judging.is_main:
            by_run = answers_by_run(
                material.store, judging.benchmark, judging.experiment
            )
            yield from _runs(judging, by_run)
            yield from _votes(judging)


def _runs(judging: Judging, by_run: pd.DataFrame) -> Iterator[ExportedStatistic]:
    head = judging.head(PAGE, SECTION, None, None)
    for row in as_rows(run_table(judging.rows, by_run)):
        is_drawn = row["measure"] == Measure.BETWEEN
        note = (
            f"{row['left_out']} instances lack an answer and are left out"
            if row["left_out"]
            else None
        )
        yield head._replace(
            statistic=_name(row["measure"], row["k"], row["n_runs"]),
            detector=row["detector_title"],
            input=row["setting"],
            seed=SEED if is_drawn else None,
            note=note,
        ).measured(
            row["value"],
            row["low"],
            row["high"],
            unit="share",
            method=BOOTSTRAP if is_drawn else RATE_INTERVAL,
            n=row["n"],
            n_cases=row["n_cases"],
        )


def _name(measure: str, k: int, n_runs: int) -> str:
    names = {
        Measure.RUN: f"accuracy of run {k}",
        Measure.PASS: f"any of {k} runs right (pass@{k} of {n_runs})",
    }
    return names.get(Measure(measure), str(measure))


def _votes(judging: Judging) -> Iterator[ExportedStatistic]:
    settings = [
        str(setting) for setting in Setting if setting in set(judging.rows["setting"])
    ]
    slices = {ALL_INPUTS: judging.rows} | {
        s: judging.rows[judging.rows["setting"] == s] for s in settings
    }
    head = judging.head(PAGE, SECTION, None, None)
    for name, rows in (
        slices.items() if len(settings) > 1 else [(settings[0], judging.rows)]
    ):
        for row in as_rows(vote_table(rows)):
            of = head._replace(
                statistic=f"real crashes among {row['votes']} of {row['n_runs']} crash votes",
                detector=row["detector_title"],
                input=name,
            )
            yield of.measured(
                row["value"],
                row["low"],
                row["high"],
                unit="share",
                method=RATE_INTERVAL,
                n=row["n"],
                n_cases=row["n_cases"],
            )
