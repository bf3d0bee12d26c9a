"""What the breakdown by group says in words: its finding, the change beside each row, and how to read the panels."""

from __future__ import annotations

from typing import Any

import pandas as pd

from crane_core.charts.drops import FEW_CASES
from crane_core.pipeline.results.measures import Inputs
from crane_core.pipeline.rows import as_rows
from crane_core.rounding import digits
from crane_core.stats.power import ALPHA
from crane_core.ui.words import count, interval, literal, points, setting_short, setting_words

GROUPINGS = {
    "library_group": "library",
    "root_cause": "root cause",
    "crash_type": "crash type",
    "stage": "pipeline stage",
}
MOST_NAMED = 4
FEW_FOR_A_TEST = 20
"""Cases from which on a group is no longer called small; see `benchmarks.interval_coverage`, FROM_CASES."""


def rate_words(rate: str) -> str:
    """A rate within a sentence: "accuracy", but "F1"."""
    return rate if rate == "F1" else rate.lower()


def is_sure(change: dict[str, Any]) -> bool:
    """Whether the change is significant after adjustment for all groups and detectors."""
    return change["p_bh"] is not None and change["p_bh"] < ALPHA


def change_words(change: dict[str, Any]) -> str:
    """A change in whole percentage points with its interval: "+20 (−1 to 38)"."""
    if change["difference"] is None:
        return ""
    value = digits(change["difference"] * 100, 0, sign=True).replace("-", "−")
    value = "0" if value in {"+0", "−0"} else value
    return f"{value} ({interval(change['low'], change['high'], 0).removesuffix('%')})"


def finding(changes: pd.DataFrame, by: str, rate: str, inputs: Inputs) -> str:
    """Where the other input changes the rate beyond chance, adjusted for all groups and detectors."""
    if changes.empty:
        return f"No detector was asked with both {setting_short(inputs.base)} and {setting_short(inputs.other)}."
    rows = as_rows(changes)
    up = sum((row["difference"] or 0) > 0 for row in rows)
    said = (
        f"{setting_short(inputs.other)} raises {rate_words(rate)} in {count(up)} of {count(len(rows))} combinations of "
        f"{GROUPINGS[by]} and detector"
    )
    if not any(row["p_bh"] is not None for row in rows):
        return f"**{said}.**"
    sure = sorted((row for row in rows if is_sure(row)), key=lambda row: -abs(row["difference"]))
    if not sure:
        return (
            f"**{said}; none of the changes is significant by itself** after adjustment for all {count(len(rows))} "
            f"of them{_few_cases(rows)}."
        )
    named = [f"{literal(str(row[by]))} with {row['detector_title']} ({points(row['difference'], 0)})" for row in sure]
    others = f" and {count(len(named) - MOST_NAMED)} others" if len(named) > MOST_NAMED else ""
    verb = "is significant" if len(sure) == 1 else "are significant"
    return f"**{said}; {count(len(sure))} {verb}** after adjustment: {', '.join(named[:MOST_NAMED])}{others}."


def _few_cases(rows: list[dict[str, Any]]) -> str:
    """That every group is small, where every one is."""
    most = max(row["n_cases"] for row in rows)
    return f": each group has few cases (at most {count(most)})" if most <= FEW_FOR_A_TEST else ""


def about(changes: pd.DataFrame, inputs: Inputs, *, is_any_few: bool) -> str:
    """How to read the panels, which test the p-values are of, and over which family they are adjusted."""
    said = [f"Hollow: {setting_words(inputs.base)}. Filled: {setting_words(inputs.other)}."]
    if len(changes):
        base, other = setting_short(inputs.base), setting_short(inputs.other)
        said.append(f"At the right: the change from {base} to {other} in percentage points, with its 95% interval.")
    tests: list[str] = changes["test"].dropna().unique().tolist() if len(changes) else []
    if len(tests):
        said.append(f"Bold: significant ({tests[0]}, Benjamini-Hochberg over all {len(changes)} groups and detectors).")
    if is_any_few:
        said.append(f"Faded: {FEW_CASES} cases or fewer.")
    return " ".join([*said, "Click a mark to see its cases."])
