"""The words about models' dates and about accuracy before and after them, on the page and on the site."""

from html import escape
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from crane_core.pipeline.results.by_date import GAIN, SIDES, ByDate
from crane_core.pipeline.rows import as_rows
from crane_core.ui import words
from crane_core.ui.outcome_words import of_comparisons

TITLE = "What is known of each model"
ABOUT = (
    "The training data of a model end at its cut-off; where its maker states none, its release is taken, which came "
    "later. A case is after that date if all days that its own date may mean are. Lower accuracy after it is what a "
    "memorised benchmark would look like, but does not prove it: newer notebooks may also be harder. 95% intervals "
    "by case; p of a permutation test by case, in which the dates are shuffled, Holm-adjusted over the rows."
)
NOT_STATED = "not stated"
NOTHING_ON_BOTH_SIDES = (
    "No model has cases on both sides of its date, so nothing can be compared"
)
STATED_AT = "Stated at"
OF_DATED_CASES = ("Cases before", "Cases after", "Without a date")
"""Columns that say the same of every model where no case has a date."""


def title(found: ByDate, benchmark: str) -> str:
    """The answer in a sentence, or why there is none; benchmark: its title."""
    if not found.models["dated"].any():
        return f"No case of {benchmark} has a date, so accuracy before and after a cut-off cannot be compared"
    if found.table.empty:
        return NOTHING_ON_BOTH_SIDES
    return _said(found)


def missing(found: ByDate, benchmark: str) -> list[str]:
    """What is missing for the comparison, and what to do about it; benchmark: its title."""
    models = found.models
    is_unknown = models["released"].isna() & models["cutoff"].isna()
    unknown = list(dict.fromkeys(models.loc[is_unknown, "detector_title"]))
    no_cutoff = models["cutoff"].isna() & ~is_unknown
    released = list(dict.fromkeys(models.loc[no_cutoff, "detector_title"]))
    sentences = []
    n_dated = models["dated"].max()
    if not n_dated:
        sentences.append(
            f"{title(found, benchmark)}. If you know when the notebooks were written, state it in the column “created” "
            "of cases.csv, and import the folder again."
        )
    elif models["undated"].any():
        most = int(models["undated"].max())
        sentences.append(f"Cases without a date are left out: {most}.")
    if unknown:
        sentences.append(
            f"Neither release nor cut-off is known of {words.listed(unknown)}. If you know one, add it to "
            "models.toml in the data folder."
        )
    if released:
        sentences.append(
            f"The maker states no cut-off of {words.listed(released)}; the release is taken in its place."
        )
    if n_dated and found.table.empty:
        sentences.append(f"{NOTHING_ON_BOTH_SIDES}.")
    return sentences


def lead(found: ByDate) -> str:
    """How many rows are what, in Markdown; no name of anybody is in it."""
    return f"**{_said(found)}.**"


def _said(found: ByDate) -> str:
    outcomes = found.table["outcome"].tolist()
    return f"After the cut-off against before: {of_comparisons(outcomes)}"


def readable_models(found: ByDate) -> pd.DataFrame:
    """A row per model as people read it."""
    table = pd.DataFrame(
        {
            "Model": row["detector_title"],
            "Released": row["released"] or NOT_STATED,
            "Cut-off": row["cutoff"] or NOT_STATED,
            "Cases before": _count(row["before"]),
            "Cases after": _count(row["after"]),
            "Without a date": _count(row["undated"]),
            STATED_AT: row["source"] or words.NOTHING,
        }
        for row in as_rows(found.models)
    )
    is_dated = found.models["dated"].any()
    return table if is_dated else table.drop(columns=list(OF_DATED_CASES))


def source_html(source: str) -> str:
    """Where a date is stated: an https address as a link that shows its host, anything else as escaped text."""
    try:
        parts = urlsplit(source)
        host = parts.hostname if parts.scheme == "https" else None
    except ValueError:  # such as an open bracket in the host
        host = None
    if not host:
        return escape(source)
    return f'<a href="{escape(source)}" rel="noreferrer" target="_blank">{escape(host)}</a>'


def readable_by_date(found: ByDate) -> pd.DataFrame:
    """A row per model and measure as people read it."""
    return pd.DataFrame(
        {
            "Model": row["detector_title"],
            "Measure": "gain"
            if row["measure"] == GAIN
            else f"accuracy {words.setting_short(row['measure'])}",
            "Before": _side(row, SIDES[0]),
            "After": _side(row, SIDES[1]),
            "After − before": words.points(row["difference"]),
            "95% interval": words.points_interval(row["low"], row["high"]),
            "p (Holm)": words.p_value(row["p_holm"]),
            "Outcome": row["outcome"],
            "Cases before": row["before_n_cases"],
            "Cases after": row["after_n_cases"],
        }
        for row in as_rows(found.table)
    )


def _count(n: float | None) -> str:
    return words.NOTHING if n is None else str(int(n))


def _side(row: dict[str, Any], side: str) -> str:
    value, low, high = (
        row[f"{side}_{end}"] for end in ("value", "low", "high")
    )
    if row["measure"] == GAIN:
        return f"{words.points(value)} ({words.points_interval(low, high)})"
    return f"{words.percent(value)} ({words.interval(low, high)})"
