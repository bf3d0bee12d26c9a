"""Coefficients and annotators in words: one formatter for every table and chart of the Agreement page.

It also says why kappa and AC1 of two annotators are far apart, and that a negative kappa is disagreement. Kappa is
below 0 exactly where the two agree less often than chance at their own frequencies of the labels would have it.
Skewed labels alone bring kappa near 0, not clearly below it (Feinstein and Cicchetti 1990, J Clin Epidemiol 43, the
first paradox).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.agreement.agreement import PERCENT
from crane_core.ui.words import (
    coefficient,
    coefficient_interval,
    count,
    interval,
    listed,
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
        return (
            f"not defined, {row['why']}"
            if row["value"] is None
            else str(row["why"])
        )
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
        f"{names(subjects)}: {said}."
        for said, subjects in about.items()
        if said
    )


def names(annotators: list[str] | tuple[str, ...]) -> str:
    """Annotators as a list in a sentence, for Markdown."""
    return listed([literal(name) for name in annotators])


def readable(
    rows: list[dict[str, Any]],
    first: dict[str, str],
    *,
    with_remarks: bool = True,
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


FAR_APART = 0.3
"""From this difference of AC1 and kappa on, the page explains where it comes from."""
SKEWED = 2 / 3
"""Labels are called skewed where one label is more than this share of the labels of both annotators."""


class PairAgreement(NamedTuple):
    """Coefficients of two annotators: kappa with its 95% interval (None without one), AC1, and the share agreed on."""

    kappa: float
    low: float | None
    high: float | None
    ac1: float
    agreed: float


def kappa_words(found: PairAgreement, counts: pd.DataFrame) -> str:
    """A sentence or two, for Markdown; empty where kappa is not negative and AC1 not far above it.

    counts: items by the label of the first (rows) and the second annotator (columns), named as people read them.
    """
    matrix = counts.to_numpy(dtype=np.float64)
    first, second = (matrix.sum(axis=axis) / matrix.sum() for axis in (1, 0))
    by_chance = float(first @ second)
    most = int((first + second).argmax())
    is_skewed = min(first[most], second[most]) > SKEWED
    if _is_disagreement(found, is_skewed=is_skewed):
        return _disagreement(found, by_chance)
    if found.ac1 - found.kappa < FAR_APART:
        return ""
    if not is_skewed:
        return (
            f"Kappa ({coefficient(found.kappa)}) and AC1 ({coefficient(found.ac1)}) are far apart because they expect "
            f"different agreement by chance; kappa expects {percent(by_chance)}. No label is more than two thirds "
            "of the labels of both annotators, so skewed labels are not the reason. "
            f"They agree on {percent(found.agreed)}."
        )
    return (
        f"Kappa is low ({coefficient(found.kappa)}) beside AC1 ({coefficient(found.ac1)}) because the labels are "
        f"skewed: “{literal(str(counts.index[most]))}” is {percent(float(first[most]))} of one annotator's labels and "
        f"{percent(float(second[most]))} of the other's, so kappa expects {percent(by_chance)} agreement by chance and "
        f"counts only what exceeds it. They agree on {percent(found.agreed)}."
    )


def _is_disagreement(found: PairAgreement, *, is_skewed: bool) -> bool:
    """A negative kappa is one of skewed labels only where its interval, or the lack of one, leaves 0 open."""
    is_clearly_negative = found.high is not None and found.high < 0
    return found.kappa < 0 and (is_clearly_negative or not is_skewed)


def _disagreement(found: PairAgreement, by_chance: float) -> str:
    bounds = (
        ""
        if found.high is None
        else f", 95% {coefficient_interval(found.low, found.high)}"
    )
    is_open = found.high is None or found.high >= 0
    doubt = (
        " The interval includes 0, so it may be chance."
        if is_open and found.high is not None
        else ""
    )
    return (
        f"Kappa is negative ({coefficient(found.kappa)}{bounds}): they agree on {percent(found.agreed)}, less than the "
        f"{percent(by_chance)} that is expected by chance from how often each uses each label. This is disagreement, "
        f"not an effect of skewed labels.{doubt}"
    )
