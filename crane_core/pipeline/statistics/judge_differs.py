"""How often each judge labels a detected crash differently from a person, of the labels on the scale and of all."""

from __future__ import annotations

from collections.abc import Iterator

from crane_core.pipeline.agreement.judge_differs import judge_differs
from crane_core.pipeline.campaigns.label_sets import label_sets
from crane_core.pipeline.export.exported_statistic import (
    RATE_INTERVAL,
    ExportedStatistic,
    Material,
)
from crane_core.pipeline.judging.judges import judge_passes, pooled_judges
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.statistics.agreement import person_of


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Two per judge, against the person whom the page Agreement begins with."""
    person = person_of(material.labels, label_sets(material.folder))
    if person is None:
        return
    judges = pooled_judges(judge_passes(material.store))
    for row in as_rows(
        judge_differs(material.labels, material.verdicts, person, judges)
    ):
        of = ExportedStatistic(
            "Agreement",
            "judges",
            "labels that differ",
            by="counted",
            group=row["counted"],
            judged_by=f"{person} and {row['judge']}",
            note=f"{row['n_differ']} differ",
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
