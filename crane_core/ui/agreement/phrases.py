"""Coefficients and annotators in words: one formatter for every table and chart of the Agreement page."""

from typing import Any

import pandas as pd

from crane_core.pipeline.agreement.agreement import PERCENT
from crane_core.stats import agreement_reading
from crane_core.stats.cohen_kappa import landis_koch
from crane_core.stats.gwet_ac import AC1
from crane_core.stats.krippendorff_alpha import NOMINAL as ALPHA_NOMINAL
from crane_core.stats.krippendorff_alpha import ORDINAL
from crane_core.stats.resampling import N_RESAMPLES
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
        of = f"{count(row['n_undefined'])} of {count(N_RESAMPLES)}"
        return f"{of} resamples of the cases have no value and are left out"
    return ""


def beside(row: dict[str, Any]) -> str:
    """The text beside the row's mark in a chart, or in place of it."""
    if row["value"] is None:
        return f"not defined: {row['why']}"
    return value(row) + (", no interval" if row["low"] is None else "")


NOT_TESTED = "Not tested."
"""In captions: agreement has intervals, and no p-value."""


def in_caption(names_of_rows: list[str], rows: list[dict[str, Any]]) -> str:
    """Each row with its value, interval and n, as a sentence of plain text: who cannot see the chart reads it."""
    said = [
        f"{name} {beside(row)}"
        + ("" if row["low"] is None else f" ({bounds(row)})")
        + f", n {count(row['n'])}"
        for name, row in zip(names_of_rows, rows, strict=True)
    ]
    return "; ".join(said) + "."


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


def kappa_words(
    kappa: float, low: float | None, high: float | None, counts: pd.DataFrame
) -> str:
    """Why kappa is low, in a sentence or two for Markdown, by `stats.agreement_reading`; empty where it is not.

    low, high: its 95% interval, None without one. counts: items by the label of the first (rows) and the second
    annotator (columns), both axes with the annotator's name, labels named as people read them.
    """
    found = agreement_reading.kappa_reading(counts, high)
    agreed, expected = percent(found.agreed), percent(found.expected)
    first, second = (literal(str(axis.name)) for axis in counts.axes)
    match found.why:
        case agreement_reading.LowKappa.LESS_THAN_CHANCE:
            doubt = (
                " The interval of kappa includes 0, so chance may be the reason."
                if high is not None and high >= 0
                else ""
            )
            return (
                f"Kappa is negative ({coefficient(kappa)}): they agree on {agreed}, less than the {expected} that is "
                f"expected by chance from how often each uses each label.{doubt}"
            )
        case agreement_reading.LowKappa.SKEWED:
            return (
                f"Kappa is low ({coefficient(kappa)}) although they agree on {agreed}, because the labels are skewed: "
                f"“{literal(str(counts.index[found.most]))}” is {percent(found.of_first)} of the labels of "
                f"{first} and {percent(found.of_second)} of those of {second}, so {expected} agreement is expected by "
                f"chance. AC1, which a frequent label lowers less, is {coefficient(found.ac1)}."
            )
        case agreement_reading.LowKappa.MORE_EXPECTED:
            return (
                f"Kappa ({coefficient(kappa)}) is far below AC1 ({coefficient(found.ac1)}) because it expects more "
                f"agreement by chance: {expected}. They agree on {agreed}."
            )
    return ""


def reading(row: dict[str, Any]) -> str:
    """What a coefficient of a row of an agreement table is called by convention, or why it has none; plain text."""
    if row["value"] is None:
        return f"not defined, {row['why']}"
    said = f"{landis_koch(row['value'])} (Landis and Koch 1977)"
    if row["coefficient"] in (ORDINAL.name, ALPHA_NOMINAL.name):
        said = f"{agreement_reading.krippendorff_words(row['value'])} (Krippendorff 2004)"
    elif row["coefficient"] == AC1.name:
        # The words were made for kappa: beside one that is slight, "almost perfect" would contradict it.
        said = "high where one label is frequent (Gwet 2008)"
    against = agreement_reading.against_chance(
        row["value"], row["low"], row["high"]
    )
    return f"{AGAINST[against]}; {said}"


AGAINST = {
    agreement_reading.AgainstChance.MORE: "more than chance",
    agreement_reading.AgainstChance.LESS: "less than chance",
    agreement_reading.AgainstChance.NO_EVIDENCE: "no evidence that it differs from chance",
    agreement_reading.AgainstChance.NO_INTERVAL: "too few for an interval",
}
"""Within a sentence; of a value that is defined."""
