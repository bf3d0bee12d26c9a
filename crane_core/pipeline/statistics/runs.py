"""How far the runs of one detector agree with each other, as the page Runs lists it."""

from __future__ import annotations

from collections.abc import Iterator

from crane_core.pipeline.export.exported_statistic import (
    RATE_INTERVAL,
    ExportedStatistic,
    Material,
)
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.rows import as_rows


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Share of pairs of runs of one instance that say the same, of every detector, input and experiment."""
    for row in as_rows(run_list(material.store, material.verdicts)):
        of = ExportedStatistic(
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
            yield of.measured(
                row["agreement"],
                row["low"],
                row["high"],
                unit="share",
                method=RATE_INTERVAL,
            )
