"""Accuracy on copies of a benchmark with other names and numbers, against that on the originals."""

from collections.abc import Iterator
from typing import Any

from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.results.known_notebooks import (
    SIDES,
    KnownNotebooks,
    copied_benchmarks,
    known_notebooks,
)
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.results.run_list import run_list
from crane_core.pipeline.rows import as_rows
from crane_core.storage.cases import varied_benchmarks


def compared_copies(
    material: exported_statistic.Material,
) -> Iterator[tuple[KnownNotebooks, str | None]]:
    """Every benchmark with its copies: by detection, then by each annotator with labels of both."""
    varied = varied_benchmarks(material.store.cursor())
    if not varied:
        return
    runs = run_list(material.store, material.verdicts)
    for of in copied_benchmarks(varied):
        yield known_notebooks(material.verdicts, runs, of), None
        judges = dict.fromkeys(
            one.judge for one in material.judgings if one.benchmark in of
        )
        for judge in judges:
            frame = material.judged_by(judge)
            found = known_notebooks(frame, runs, of, Credit.STRICT)
            if len(found.table):
                yield found, judge


def varied_copies(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of each detector and input both accuracies, the difference once per test, and who is right alone."""
    for found, judge in compared_copies(material):
        head = exported_statistic.ExportedStatistic(
            "Results",
            "copies",
            "",
            benchmark=found.of.copies,
            by="original",
            group=found.of.original,
            runs=str(VoteRule.MAJORITY),
            credit=str(found.credit),
            judged_by=judge,
        )
        n_of = found.table["detector_kind"].value_counts()
        for row in as_rows(found.table):
            family = f"detectors of this kind and inputs on the copies ({n_of[row['detector_kind']]})"
            yield from _of_row(head, row, family)


def _of_row(
    head: exported_statistic.ExportedStatistic, row: dict[str, Any], family: str
) -> Iterator[exported_statistic.ExportedStatistic]:
    original, copy = SIDES
    of = head._replace(
        experiment=row[copy],
        detector=row["detector_title"],
        input=row["setting"],
        note=f"against experiment {row[original]}",
    )
    for side, name in zip(SIDES, ("originals", "copies"), strict=True):
        ends = {end: row[f"{side}_{end}"] for end in ("value", "low", "high")}
        counts = {"n": row["n"], "n_cases": row["n_cases"]}
        rate = of._replace(statistic=f"accuracy on the {name}")
        yield rate.rated(ends | counts)
    difference = of._replace(statistic="difference of accuracy")
    yield from difference.compared(row).tested(
        row, exported_statistic.HOLM, family
    )
    yield from of.discordant(row)


KINDS = {"varied_copies": varied_copies}
