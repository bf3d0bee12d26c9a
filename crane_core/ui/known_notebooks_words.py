"""The words about accuracy on copies of a benchmark, on the page and on the site."""

from collections import Counter
from typing import Any

import pandas as pd

from crane_core.pipeline.results.known_notebooks import SIDES, KnownNotebooks
from crane_core.pipeline.results.measures import Credit
from crane_core.pipeline.rows import as_rows
from crane_core.stats.outcome import Outcome
from crane_core.ui import words
from crane_core.ui.outcome_words import comparison_cells, of_comparisons

TITLE = "Does it know the notebooks?"
ABOUT = (
    "A copy has other names and numbers than its original and crashes alike. Lower accuracy on the copies is what a "
    "memorised benchmark would look like, but does not prove it: copies may also be harder. Rules and analyzers "
    "memorise nothing, so where they lose on the copies too, the copies are harder. Majority vote, over the instances "
    "with an outcome in both; 95% intervals by case; p by instance (exact McNemar) and by case (sign flips), "
    "Holm-adjusted over the rows of one kind of detector."
)
NONE = (
    "No detector has answers to both the originals and the copies with the same input, so nothing can be compared. "
    "Run the same detector on both benchmarks."
)
_CHANGES = {Outcome.GAIN: "gains", Outcome.LOSS: "loses"}


def heading_of(found: KnownNotebooks, titles: dict[str, str]) -> str:
    """What is compared, and how a detected crash counts; titles: of benchmarks, by id."""
    original, copies = (titles.get(name, name) for name in found.of)
    credit = "" if found.credit is Credit.DETECTION else f", {found.credit}"
    return f"{copies} against {original}{credit}"


def lead(found: KnownNotebooks) -> str:
    """How many rows are what, in Markdown; no name of anybody is in it."""
    outcomes = found.table["outcome"].tolist()
    return f"**Copies against originals: {of_comparisons(outcomes)}.**"


def findings(found: KnownNotebooks) -> list[str]:
    """A sentence per row: "gpt-5 +RT loses 12.0 pp on the copies (95% ...)"."""
    rows = as_rows(found.table)
    return [
        _finding(name, row)
        for name, row in zip(_names(rows), rows, strict=True)
    ]


def unlike(found: KnownNotebooks) -> str:
    """How many runs were not compared, and why; empty where all were."""
    if not found.n_unlike:
        return ""
    pairs = words.quantity(found.n_unlike, "pair")
    return (
        f"{pairs} of runs of one detector and input left out: their options differ, so that not only the names and "
        "numbers would."
    )


def readable_known(found: KnownNotebooks) -> pd.DataFrame:
    """A row per detector and input as people read it."""
    rows = as_rows(found.table)
    return pd.DataFrame(
        {
            "Detector": name,
            "Originals": _rate(row, SIDES[0]),
            "Copies": _rate(row, SIDES[1]),
            **comparison_cells(
                row, gained="Only copy right", lost="Only original right"
            ),
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for name, row in zip(_names(rows), rows, strict=True)
    )


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """Detector and input; the experiments too where a detector has several with that input."""
    names = [
        f"{row['detector_title']} {words.setting_short(row['setting'])}"
        for row in rows
    ]
    n_of = Counter(names)
    return [
        name
        if n_of[name] == 1
        else f"{name} ({' against '.join(words.experiment_words(row[side]) for side in reversed(SIDES))})"
        for name, row in zip(names, rows, strict=True)
    ]


def _rate(row: dict[str, Any], side: str) -> str:
    value = words.percent(row[f"{side}_value"])
    return (
        f"{value} ({words.interval(row[f'{side}_low'], row[f'{side}_high'])})"
    )


def _finding(name: str, row: dict[str, Any]) -> str:
    found = Outcome(row["outcome"])
    if found is Outcome.NOTHING:
        return f"{name}: {row['outcome']}"
    where = words.points_interval(row["low"], row["high"])
    change = f"{words.points(row['difference'])}, 95% {where}"
    over = f"{words.quantity(row['n'], 'instance')} of {words.quantity(row['n_cases'], 'case')}"
    if found in _CHANGES:
        size = words.points(abs(row["difference"])).removeprefix("+")
        # The larger of both decides, see `stats.outcome`.
        p = max(row["p_holm"], row["p_by_case_holm"])
        return f"{name} {_CHANGES[found]} {size} on the copies (95% {where}, p {words.p_words(p)}; {over})"
    if found is Outcome.SMALLER:
        return f"{name}: a change {row['outcome']} on the copies ({change}; {over})"
    said = {
        Outcome.NO_EVIDENCE: "no evidence of a change on the copies",
        Outcome.NOT_TESTED: "not tested, because the labels of a sample stand for others",
    }
    return f"{name}: {said[found]} ({change}; {over})"
