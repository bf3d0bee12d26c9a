"""How stable the runs are: how far they agree, each run alone, pass@k, variance, and how often many votes are right."""

from collections.abc import Iterator

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.results.five_runs import (
    Measure,
    answers_by_run,
    run_table,
    vote_table,
)
from crane_core.pipeline.results.measures import SEED
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.rows import as_rows

PAGE, SECTION = "Results", "runs"
ALL_INPUTS = "all inputs"
BOOTSTRAP = "percentile bootstrap over cases"


def runs(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Share of pairs of runs of one instance that say the same, of every detector, input and experiment."""
    for row in as_rows(run_list(material.store, material.verdicts)):
        of = exported_statistic.ExportedStatistic(
            "Runs",
            "list",
            "pairs of runs that agree",
            benchmark=row["benchmark"],
            experiment=row["experiment"],
            detector=row["detector_title"],
            input=row["setting"],
            n=row["n_instances"],
        )
        if row["agreement"] is not None:
            yield of.rated(row, "agreement")


def five_runs(
    material: exported_statistic.Material,
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
    present = set(rows["setting"])
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


KINDS = {"five_runs": five_runs, "runs": runs}
