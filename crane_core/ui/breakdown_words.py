"""What the breakdown by group says in words: its finding, the change beside each row, and how to read the panels."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from crane_core.charts.drops import FEW_CASES
from crane_core.pipeline.results.measures import Inputs, PairedTest
from crane_core.pipeline.rows import as_rows
from crane_core.rounding import digits
from crane_core.stats.outcome import DIRECTED, Outcome
from crane_core.ui import words
from crane_core.ui.outcome_words import named, of_comparisons, tally

GROUPINGS = {
    "library_group": "library",
    "root_cause": "root cause",
    "crash_type": "crash type",
    "stage": "pipeline stage",
}
FEW_FOR_A_TEST = 20
"""Cases from which on a group is no longer called small; see `benchmarks.interval_coverage`, FROM_CASES."""


def rate_words(rate: str) -> str:
    """A rate within a sentence: "accuracy", but "F1"."""
    return rate if rate == "F1" else rate.lower()


def is_found(change: dict[str, Any]) -> bool:
    """Whether the change is a gain or a loss after adjustment for all groups and detectors."""
    return change["outcome"] in DIRECTED


def change_words(change: dict[str, Any]) -> str:
    """A change in whole percentage points with its interval: "+20 (−1 to 38)"."""
    if change["difference"] is None:
        return ""
    value = digits(change["difference"] * 100, 0, sign=True).replace("-", "−")
    value = "0" if value in {"+0", "−0"} else value
    return f"{value} ({words.interval(change['low'], change['high'], 0).removesuffix('%')})"


def finding(changes: pd.DataFrame, by: str, rate: str, inputs: Inputs) -> str:
    """How many groups rise and fall, and which of the changes are gains or losses after adjustment for all of them."""
    other, base = (
        words.setting_short(inputs.other),
        words.setting_short(inputs.base),
    )
    if changes.empty:
        return f"{words.sentence_case(Outcome.NOTHING)}: no detector was asked with both {base} and {other}."
    rows = as_rows(changes)
    outcomes = [row["outcome"] for row in rows]
    decided = tally(outcomes) if len(rows) > 1 else of_comparisons(outcomes)
    names = named(
        rows,
        lambda row: (
            f"{words.literal(str(row[by]))} with {row['detector_title']} ({_points(row)})"
        ),
    )
    return (
        f"**{other} {_directions(rows, rate_words(rate))} {_combinations(len(rows), by)}. "
        f"After adjustment for all of them, {decided}.** {names or _few_cases(rows)}".rstrip()
    )


def _directions(rows: list[dict[str, Any]], rate: str) -> str:
    """Which way the rate moves, whatever the tests say: "raises F1 in 2, lowers it in 1 and leaves it in none of"."""
    known = [row["difference"] for row in rows if row["difference"] is not None]
    n_up, n_down = sum(d > 0 for d in known), sum(d < 0 for d in known)
    n_same, n_undefined = len(known) - n_up - n_down, len(rows) - len(known)
    said = [
        f"raises {rate} in {words.count(n_up)}",
        f"lowers it in {words.count(n_down)}",
    ]
    said += [f"leaves it unchanged in {words.count(n_same)}"] if n_same else []
    said += (
        [f"has no value in {words.count(n_undefined)}"] if n_undefined else []
    )
    return words.listed(said)


def _combinations(n: int, by: str) -> str:
    kinds = f"{GROUPINGS[by]} and detector"
    return (
        f"of {words.count(n)} combinations of {kinds}"
        if n > 1
        else f"of 1 combination of {kinds}"
    )


def _points(row: Mapping[str, Any]) -> str:
    return words.points(row["difference"], 0)


def _few_cases(rows: list[dict[str, Any]]) -> str:
    """That every group is small, where tests find nothing and every one is."""
    is_without = any(row["outcome"] == Outcome.NO_EVIDENCE for row in rows)
    most = max(row["n_cases"] for row in rows)
    return (
        f"Each group has few cases (at most {words.count(most)})."
        if is_without and most <= FEW_FOR_A_TEST
        else ""
    )


def about(changes: pd.DataFrame, inputs: Inputs, *, is_any_few: bool) -> str:
    """How to read the panels, which test the p-values are of, and over which family they are adjusted."""
    said = [
        f"Hollow: {words.setting_words(inputs.base)}. Filled: {words.setting_words(inputs.other)}."
    ]
    if len(changes):
        base, other = (
            words.setting_short(inputs.base),
            words.setting_short(inputs.other),
        )
        said.append(
            f"At the right: the change from {base} to {other} in percentage points, with its 95% interval."
        )
    tests: list[str] = (
        changes["test"].dropna().unique().tolist() if len(changes) else []
    )
    if len(tests):
        family = (
            f"Benjamini-Hochberg over all {len(changes)} groups and detectors"
        )
        tested = (
            tests[0]
            if tests[0] != PairedTest.MCNEMAR
            else f"{tests[0]} and {PairedTest.SIGN_FLIP}"
        )
        said.append(f"Bold: a gain or a loss ({tested}, {family}).")
    if is_any_few:
        said.append(f"Faded: {FEW_CASES} cases or fewer.")
    method = []
    if "pooled" in changes and changes["pooled"].notna().any():
        method.append(
            "Pooled (in the table): the groups of a detector drawn towards their mean by as much as chance explains."
        )
    if "bound" in changes and changes["gained"].notna().any():
        bound = f"{100 * changes['bound'].iloc[0]:.4g}"
        method.append(
            f"Power now (in the table): of the exact McNemar test to find a change of {bound} pp with these cases, if "
            "as large a share of them differs as here. Cases needed: for 80%."
        )
    said.append("Click a mark to see its cases.")
    return "\n\n".join(filter(None, (" ".join(said), " ".join(method))))
