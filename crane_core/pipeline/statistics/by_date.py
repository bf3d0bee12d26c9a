"""Accuracy and gain on cases from before and after the end of a model's training data, where dates are known."""

from collections.abc import Iterator
from typing import Any

from crane_core.domain import DetectorKind
from crane_core.llm.model_dates import KnownModels
from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.results.by_date import GAIN, SIDES, ByDate
from crane_core.pipeline.results.by_date import by_date as compared_by_date
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.storage.cases import dated_cases


def compared_dates(
    material: exported_statistic.Material,
) -> Iterator[tuple[exported_statistic.Judging, ByDate]]:
    """Every experiment with language models, as it is counted at first."""
    known = KnownModels(material.folder.path)
    cursor = material.store.cursor()
    for judging in material.judgings:
        if judging.is_main and judging.kind == DetectorKind.LLM:
            created = dated_cases(cursor, judging.benchmark)
            yield (
                judging,
                compared_by_date(
                    judging.rows, created, known, credit=judging.usual_credit
                ),
            )


def by_date(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of each model and measure the value before and after, and the difference with its test."""
    for judging, found in compared_dates(material):
        head = judging.head(
            "Results", "dates", VoteRule.MAJORITY, judging.usual_credit
        )
        family = (
            f"models, inputs and gains before and after ({len(found.table)})"
        )
        for row in as_rows(found.table):
            yield from _of_row(head, row, family)


def _of_row(
    head: exported_statistic.ExportedStatistic, row: dict[str, Any], family: str
) -> Iterator[exported_statistic.ExportedStatistic]:
    is_gain = row["measure"] == GAIN
    what = "gain" if is_gain else "accuracy"
    of = head._replace(
        detector=row["detector_title"],
        input=exported_statistic.BOTH_INPUTS if is_gain else row["measure"],
    )
    for side in SIDES:
        found = {
            name: row[f"{side}_{name}"]
            for name in ("value", "low", "high", "n", "n_cases")
        }
        one = of._replace(statistic=f"{what} {side} the cut-off")
        if is_gain:
            yield one.measured_row(
                found,
                unit="difference of shares",
                method=exported_statistic.DIFFERENCE_INTERVAL,
            )
        else:
            yield one.rated(found)
    difference = of._replace(statistic=f"difference of {what} by date")
    yield from difference.compared(row).tested(
        row, exported_statistic.HOLM, family
    )


KINDS = {"by_date": by_date}
