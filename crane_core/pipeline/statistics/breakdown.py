"""Rates and changes by library, root cause, crash type and stage, under every policy, by the labels shown first."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.results import measures
from crane_core.pipeline.results.comparisons import comparisons
from crane_core.pipeline.results.group_power import with_needed
from crane_core.pipeline.results.pooled_groups import with_pooled
from crane_core.pipeline.rows import as_rows

PAGE, SECTION = "Results", "breakdown"
POOLED_INTERVAL = (
    "empirical Bayes over the groups, Morris's variance, Student's quantile"
)
GROUPINGS = ("library_group", "root_cause", "crash_type", "stage")
RATES = ("Accuracy", "Recall", "Precision", "F1")
NEEDED = [
    "benchmark", "case_id", "instance_id", "truth", "detector", "detector_title", "setting", "n_crash", "n_safe",
    "human", "label_stratum",
]  # fmt: skip
"""Columns that rates depend on; a frame is cut into hundreds of groups, and each column costs."""


def breakdown(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every experiment and kind of detector, by every grouping and rate."""
    for judging in material.judgings:
        if judging.is_main:
            compared = dict.fromkeys(
                [measures.WITH_STATE, *comparisons(judging.rows)]
            )
            for (rule, credit), by in product(judging.policies(), GROUPINGS):
                yield from _rates(judging, rule, credit, by)
                for inputs in compared:
                    yield from _changes(judging, rule, credit, by, inputs)


def _rates(
    judging: exported_statistic.Judging,
    rule: measures.VoteRule,
    credit: measures.Credit,
    by: str,
) -> Iterator[exported_statistic.ExportedStatistic]:
    rows = judging.rows.loc[judging.rows[by].notna(), [*NEEDED, by]]
    rows = measures.paired_rows(rows, rule=rule, credit=credit)
    head = judging.head(PAGE, SECTION, rule, credit)._replace(by=by)
    # One table for all groups: a call per group would look each label up again.
    names = [by, "detector_title", "setting"]
    for rate in RATES:
        table = measures.rate_table(
            rows, by=names, rate=rate, rule=rule, credit=credit
        )
        for row in as_rows(table):
            note = None
            if row["left_out"]:
                note = f"{row['left_out']} left out: not answered or not judged"
            of = head._replace(
                statistic=exported_statistic.rate_word(rate),
                group=row[by],
                detector=row["detector_title"],
                input=row["setting"],
                note=note,
            )
            yield of.rated(row)


def _changes(
    judging: exported_statistic.Judging,
    rule: measures.VoteRule,
    credit: measures.Credit,
    by: str,
    inputs: measures.Inputs,
) -> Iterator[exported_statistic.ExportedStatistic]:
    rows = judging.rows.loc[judging.rows[by].notna(), [*NEEDED, by]]
    rows = measures.paired_rows(rows, rule=rule, credit=credit, inputs=inputs)
    head = judging.head(PAGE, SECTION, rule, credit)._replace(
        by=by, input=exported_statistic.inputs_text(inputs)
    )
    counted: dict[str, Any] = {"rule": rule, "credit": credit, "inputs": inputs}
    for rate in RATES:
        changes = with_needed(
            with_pooled(
                measures.change_table(rows, by=by, rate=rate, **counted)
            )
        )
        family = f"all groups and detectors ({len(changes)})"
        for row in as_rows(changes):
            of = head._replace(
                group=row[by],
                detector=row["detector_title"],
                n=row["n"],
                n_cases=row["n_cases"],
            )
            name = f"difference of {exported_statistic.rate_word(rate)}"
            difference = of._replace(statistic=name).compared(row)
            yield from difference.tested(
                row, exported_statistic.BENJAMINI_HOCHBERG, family
            )
            yield from of.discordant(row)
            if row["power_now"] is not None:
                power = of._replace(
                    statistic="power of a test by cases",
                    bound=row["bound"],
                    note="exact McNemar test for the bound with these cases, if as large a share differs",
                )
                yield power.measured(row["power_now"], unit="share")
            if row["cases_needed"] is not None:
                needed = of._replace(
                    statistic="cases needed",
                    bound=row["bound"],
                    note="80% power of the exact McNemar test for the bound, if as large a share differs",
                )
                yield needed.measured(row["cases_needed"], unit="cases")
            if row["pooled"] is not None:
                pooled = of._replace(
                    statistic=f"pooled {name}",
                    note=f"weight of the group {row['pooled_weight']:.4f}",
                )
                yield pooled.measured(
                    row["pooled"],
                    row["pooled_low"],
                    row["pooled_high"],
                    unit="difference of shares",
                    method=POOLED_INTERVAL,
                )


KINDS = {"breakdown": breakdown}
