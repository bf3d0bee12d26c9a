"""Rates and changes by library, root cause, crash type and stage, under every policy, by the labels shown first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from crane_core.pipeline.export.exported_statistic import (
    DIFFERENCE_INTERVAL,
    RATE_INTERVAL,
    ExportedStatistic,
    Judging,
    Material,
    inputs_text,
)
from crane_core.pipeline.results.comparisons import comparisons
from crane_core.pipeline.results.measures import (
    SEED,
    WITH_STATE,
    Credit,
    Inputs,
    PairedTest,
    VoteRule,
    change_table,
    paired_rows,
    rate_table,
)
from crane_core.pipeline.rows import as_rows

PAGE, SECTION = "Results", "breakdown"
GROUPINGS = ("library_group", "root_cause", "crash_type", "stage")
RATES = ("Accuracy", "Recall", "Precision", "F1")
BENJAMINI_HOCHBERG = "Benjamini-Hochberg"
NEEDED = [
    "benchmark", "case_id", "instance_id", "truth", "detector", "detector_title", "setting", "n_crash", "n_safe",
    "human", "label_stratum",
]  # fmt: skip
"""Columns that rates depend on; a frame is cut into hundreds of groups, and each column costs."""


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Of every experiment and kind of detector, by every grouping and rate."""
    for judging in material.judgings:
        if judging.is_main:
            others = [
                inputs for inputs in comparisons(judging.rows) if inputs != WITH_STATE
            ]
            for (rule, credit), by in product(judging.policies(), GROUPINGS):
                yield from _by(judging, rule, credit, by)
                for inputs in others:
                    yield from _changes(judging, rule, credit, by, inputs)


def _by(
    judging: Judging, rule: VoteRule, credit: Credit, by: str
) -> Iterator[ExportedStatistic]:
    rows = judging.rows.loc[judging.rows[by].notna(), [*NEEDED, by]]
    rows = paired_rows(rows, rule=rule, credit=credit)
    head = judging.head(PAGE, SECTION, rule, credit)._replace(by=by)
    for rate in RATES:
        table = rate_table(
            rows,
            by=[by, "detector_title", "setting"],
            rate=rate,
            rule=rule,
            credit=credit,
        )
        for row in as_rows(table):
            yield _rate(
                head._replace(statistic=rate.lower() if rate != "F1" else rate), row, by
            )
    yield from _changes(judging, rule, credit, by, WITH_STATE)


def _changes(
    judging: Judging, rule: VoteRule, credit: Credit, by: str, inputs: Inputs
) -> Iterator[ExportedStatistic]:
    rows = judging.rows.loc[judging.rows[by].notna(), [*NEEDED, by]]
    rows = paired_rows(rows, rule=rule, credit=credit, inputs=inputs)
    head = judging.head(PAGE, SECTION, rule, credit)._replace(
        by=by, input=inputs_text(inputs)
    )
    for rate in RATES:
        changes = change_table(
            rows, by=by, rate=rate, rule=rule, credit=credit, inputs=inputs
        )
        for row in as_rows(changes):
            yield from _change(head, row, by, rate, len(changes))


def _rate(head: ExportedStatistic, row: dict[str, Any], by: str) -> ExportedStatistic:
    note = (
        f"{row['left_out']} left out: not answered or not judged"
        if row["left_out"]
        else None
    )
    of = head._replace(
        group=row[by], detector=row["detector_title"], input=row["setting"], note=note
    )
    return of.measured(
        row["value"],
        row["low"],
        row["high"],
        unit="share",
        method=RATE_INTERVAL,
        n=row["n"],
        n_cases=row["n_cases"],
    )


def _change(
    head: ExportedStatistic, row: dict[str, Any], by: str, rate: str, n: int
) -> Iterator[ExportedStatistic]:
    of = head._replace(
        group=row[by],
        detector=row["detector_title"],
        n=row["n"],
        n_cases=row["n_cases"],
    )
    name = rate.lower() if rate != "F1" else rate
    difference = of._replace(statistic=f"difference of {name}").measured(
        row["difference"],
        row["low"],
        row["high"],
        unit="difference of shares",
        method=DIFFERENCE_INTERVAL,
    )
    difference = difference._replace(outcome=row["outcome"])
    if row["test"] is None:
        yield difference
        return
    difference = difference._replace(
        adjustment=BENJAMINI_HOCHBERG, family=f"all groups and detectors ({n})"
    )
    is_mcnemar = row["test"] == PairedTest.MCNEMAR
    seed = None if is_mcnemar else SEED
    yield difference._replace(
        test=row["test"], p=row["p_value"], p_adjusted=row["p_bh"], seed=seed
    )
    if is_mcnemar:
        by_case = {
            "p": row["p_by_case"],
            "p_adjusted": row["p_by_case_bh"],
            "seed": SEED,
        }
        yield difference._replace(test=str(PairedTest.SIGN_FLIP), **by_case)
        for name in ("gained", "lost"):
            yield of._replace(statistic=name).measured(row[name], unit="instances")
