"""Rates and changes by library, root cause, crash type and stage, under every policy, by the labels shown first.

Beside each change of a group (`measures.change_table`) stands what it is after partial pooling (`stats.shrinkage`), and
what its number of cases can reveal at all. That is prospective: for the smallest effect of interest, not for the change
that was observed, whose power says no more than its p-value does.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from crane_core.pipeline.results import exported_statistic, measures
from crane_core.pipeline.results.comparisons import comparisons
from crane_core.pipeline.rows import as_rows
from crane_core.stats.power import mcnemar_power, pairs_needed
from crane_core.stats.shrinkage import shrunken, standard_errors

POOLED = ("pooled", "pooled_low", "pooled_high", "pooled_weight")
"""The change of a group after pooling with its 95% interval, and how much the group's own estimate counts, in 0..1."""


def with_pooled(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes with the columns POOLED; nan where a detector has too few groups (`shrinkage.LEAST_GROUPS`).

    changes: difference, low, high, n_cases and detector, a row per group and detector.
    """
    if changes.empty:
        return changes
    tables = [_of_detector(rows) for _, rows in changes.groupby("detector")]
    return pd.concat(tables).loc[changes.index]


def _of_detector(rows: pd.DataFrame) -> pd.DataFrame:
    columns = (
        rows[name].astype(float)
        for name in ("difference", "low", "high", "n_cases")
    )
    found = shrunken(
        rows["difference"].astype(float), standard_errors(*columns)
    )
    named = dict(
        zip(
            POOLED,
            (found.value, found.low, found.high, found.weight),
            strict=True,
        )
    )
    return rows.assign(**named)


def with_needed(changes: pd.DataFrame) -> pd.DataFrame:
    """The changes with cases_needed, for the exact McNemar test to reveal `bound` with 80% power at the 5% level.

    Adds power_now too: the power of that test with the n_cases of the group.

    changes: of `measures.change_table`, with n, n_cases, gained, lost and bound. The share of cases that differ is
    taken from the instances; cases are counted and not instances, since the two of a case are alike. nan where an
    instance is not right or wrong, and where fewer differ than the bound needs.
    """
    if changes.empty:
        return changes
    rows = as_rows(changes)
    return changes.assign(
        cases_needed=[*map(_needed, rows)], power_now=[*map(_power, rows)]
    )


def _needed(row: dict[str, Any]) -> float:
    return pairs_needed(_differing(row), row["bound"])


def _power(row: dict[str, Any]) -> float:
    differing = _differing(row)
    # Fewer cases differ than the bound needs, so that no test could reveal it.
    if not row["bound"] <= differing:
        return np.nan
    return _power_of(int(row["n_cases"]), differing, row["bound"])


# The same group stands under several readings, rates and pages.
_power_of = lru_cache(maxsize=4096)(mcnemar_power)


def _differing(row: dict[str, Any]) -> float:
    if row["gained"] is None or not row["n"]:
        return np.nan
    return float((row["gained"] + row["lost"]) / row["n"])


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


def exported_breakdown(
    material: exported_statistic.JudgedAnswers,
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
