"""The words about the worth of alarms, on the page and on the site: the finding, its table, and the drawn curve."""

import pandas as pd

from crane_core.pipeline.results.worth import NONE, Day
from crane_core.pipeline.rows import as_rows
from crane_core.rounding import digits
from crane_core.stats.prevalence import check_all
from crane_core.ui import words
from crane_core.ui.time_saved_words import seconds

PER_100 = 100
ABOUT = (
    "Dotted: a look at every cell. 0: a look at no cell. Upright: the cost of a look that is chosen here. A detector "
    "is useful where it is above both; lines below the chart cost more than they prevent.\n\n"
    "Precision: the share of alarms that are real if so many cells crash; the detector's rates among crashes and among "
    "other cells are those of the benchmark, and its interval is by case. Net benefit: crashes that are prevented, "
    "less looks at false alarms in the worth of a crash (Vickers and Elkin 2006). Saved: prevented crashes less all "
    "looks and, where they were timed, queries. A tie raises no alarm."
)


def finding(found: pd.DataFrame, day: Day) -> str:
    """Which detector's alarms are worth most in such a day, in Markdown."""
    best = max(as_rows(found), key=lambda row: row["net_benefit"])
    name = f"{best['detector_title']} {words.setting_short(best['setting'])}"
    of_alarms = (
        "raises no alarm"
        if best["precision"] is None
        else f"is right in {words.percent(best['precision'])} of its alarms "
        f"({words.interval(best['low'], best['high'])})"
    )
    net, low, high, everywhere = (
        _per_100(one)
        for one in (
            best["net_benefit"],
            best["net_low"],
            best["net_high"],
            check_all(day.base_rate, day.threshold),
        )
    )
    return (
        f"**If {100 * day.base_rate:g}% of cells crash, {name} {of_alarms}**: of {words.count(day.cells)} cells "
        f"a day it raises {digits(best['alarms'], 1)} alarms, {digits(best['false_alarms'], 1)} of them false. "
        f"Its net benefit is the largest here: {net} crashes per 100 cells ({low} to {high}). A look at every cell has "
        f"{everywhere}."
    )


def readable_worth(found: pd.DataFrame) -> pd.DataFrame:
    """A row per detector and input as people read it."""
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Input": words.setting_short(row["setting"]),
            "Precision": words.percent(row["precision"]),
            "95% interval": words.interval(row["low"], row["high"]),
            "Alarms a day": digits(row["alarms"], 1),
            "False": digits(row["false_alarms"], 1),
            "Net benefit per 100 cells": _per_100(row["net_benefit"]),
            "95% of it": f"{_per_100(row['net_low'])} to {_per_100(row['net_high'])}",
            "Saved a day": seconds(row["saved"]),
            "A query": words.NOTHING
            if row["query_s"] is None
            else seconds(row["query_s"]),
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in as_rows(found)
    )


def _per_100(value: float) -> str:
    return digits(PER_100 * value, 2).replace("-", "−")


def drawn_curve(curve: pd.DataFrame) -> pd.DataFrame:
    """The curve of `pipeline.results.worth.decision_curve` as its chart takes it: per 100 cells, settings in signs."""
    of = ["value", "low", "high"]
    drawn = curve.assign(
        **PER_100 * curve[of],
        setting=[one and words.setting_short(one) for one in curve["setting"]],
    )
    return drawn[drawn["detector_title"] != NONE]
