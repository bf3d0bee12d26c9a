"""Coefficients and annotators in words: one formatter for every table and chart of the Agreement page."""

from __future__ import annotations

from typing import Any

import pandas as pd

from crane_core.pipeline.agreement.agreement import PERCENT
from crane_core.ui.words import (
    coefficient,
    coefficient_interval,
    count,
    interval,
    literal,
    percent,
)

NO_INTERVAL = "too little data for an interval"


def value(row: dict[str, Any]) -> str:
    """The value of a row of an agreement table: a share in percent, everything else as a coefficient."""
    return (
        percent(row["value"])
        if row["coefficient"] == PERCENT
        else coefficient(row["value"])
    )


def bounds(row: dict[str, Any]) -> str:
    """The interval of the row."""
    words = interval if row["coefficient"] == PERCENT else coefficient_interval
    return words(row["low"], row["high"])


def interval_method(coefficient_name: str) -> str:
    """How the 95% intervals of a coefficient are made, within a sentence."""
    is_rate = coefficient_name == PERCENT
    return (
        "Wilson with the effective sample size by case"
        if is_rate
        else "BCa bootstrap over cases"
    )


def remark(row: dict[str, Any]) -> str:
    """Why the value or its interval is missing; empty otherwise."""
    if row["why"]:
        return f"not defined, {row['why']}" if row["value"] is None else str(row["why"])
    if row["n_undefined"]:
        return f"{count(row['n_undefined'])} of 2,000 resamples of the cases have no value and are left out"
    return ""


def beside(row: dict[str, Any]) -> str:
    """The text beside the row's mark in a chart, or in place of it."""
    if row["value"] is None:
        return f"not defined: {row['why']}"
    return value(row) + (", no interval" if row["low"] is None else "")


def remarks(rows: list[dict[str, Any]], of: str) -> str:
    """Every remark once, for Markdown, with the rows (by their member `of`) that it is about."""
    about: dict[str, list[str]] = {}
    for row in rows:
        about.setdefault(remark(row), []).append(str(row[of]))
    return "  \n".join(
        f"{names(subjects)}: {said}." for said, subjects in about.items() if said
    )


def names(annotators: list[str] | tuple[str, ...]) -> str:
    """Annotators as a list in a sentence, for Markdown."""
    shown = [literal(name) for name in annotators]
    return ", ".join(shown[:-1]) + (" and " if len(shown) > 1 else "") + shown[-1]


def readable(
    rows: list[dict[str, Any]], first: dict[str, str], *, with_remarks: bool = True
) -> pd.DataFrame:
    """Rows of an agreement table as people read them, with the columns `first` (title to name) before the others."""
    return pd.DataFrame(
        {title: row[name] for title, name in first.items()}
        | {
            "Value": value(row),
            "95% interval": bounds(row),
            "n": count(row["n"]),
            "Cases": count(row["n_cases"]),
        }
        | ({"Remark": remark(row)} if with_remarks else {})
        for row in rows
    )
