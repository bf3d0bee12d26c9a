"""The caption of a chart: what it shows, n, the test with adjusted p, whose labels count, and what to cite.

It goes under a figure in a paper and is what a screen reader says of the chart. Knows the columns of comparisons;
each chart's own words come from the file of its words. Knows no page.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from crane_core import __version__
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.ui.outcome_words import MOST_NAMED, of_comparisons
from crane_core.ui.paper import PAPER_CITED
from crane_core.ui.words import count, experiment_words, is_imported, p_words

MADE_BY = f"Crane Workbench {__version__}"
LABEL_FREE = "Detection only: no label of a diagnosis counts."
ADJUSTED = (
    ("p_holm", "p_by_case_holm", "Holm"),
    ("p_bh", "p_by_case_bh", "Benjamini-Hochberg"),
)
"""Columns of adjusted p-values, of those by case, and the adjustment."""
_CLICK = re.compile(r"\s*Click [^.]*\.")
_TAG = re.compile(r"<[^>]+>")
_MARKS = re.compile(r"\\([\\`*_{}\[\]()<>#+\-.!|~:$^=])|\*\*")


class Caption(NamedTuple):
    """Plain text: the finding or the question without a full stop, sentences about it, and the source.

    table: sentences about columns that the table of the chart has and the chart has not.
    """

    title: str
    sentences: str
    source: str
    table: str = ""

    @property
    def text(self) -> str:
        """The whole caption of the figure."""
        return self._whole(self.sentences)

    @property
    def of_table(self) -> str:
        """The whole caption of its table."""
        return self._whole(self.sentences, self.table)

    def _whole(self, *sentences: str) -> str:
        parts = (_sentence(self.title), *sentences, self.source)
        return " ".join(filter(None, parts))


def captioned(
    title: str,
    sentences: Iterable[str],
    *,
    source: str = f"{MADE_BY}.",
    table: str = "",
) -> Caption:
    """A caption of texts that may be Markdown; what asks for a click on the page is left out."""
    said = [_CLICK.sub("", plain(one)).strip() for one in sentences]
    text = " ".join(filter(None, said))
    return Caption(plain(title).rstrip("."), text, source, plain(table))


def plain(markdown: str) -> str:
    """The text without marks of Markdown and tags of HTML, on one line."""
    bare = _MARKS.sub(lambda mark: mark[1] or "", _TAG.sub("", markdown))
    return " ".join(html.unescape(bare).split())


def sampled(rows: pd.DataFrame) -> str:
    """How many instances and cases; ranges where the rows of the table have different numbers."""
    if rows.empty or "n" not in rows:
        return ""
    said = f"n: {_range(rows['n'])} instances"
    cases = f" of {_range(rows['n_cases'])} cases" if "n_cases" in rows else ""
    return f"{said}{cases}."


def p_sentence(
    rows: pd.DataFrame, *, by: str = "", with_outcomes: bool = True
) -> str:
    """The test of comparisons with its adjusted p-values, or the smallest of many; that there is none.

    rows: with outcome, test, and p-values by Holm or Benjamini-Hochberg; `by` names a column that tells rows of one
    detector apart. with_outcomes: how many of many comparisons have which outcome, where no other sentence says so.
    """
    if rows.empty or "outcome" not in rows:
        return ""
    found = next((one for one in ADJUSTED if one[0] in rows), None)
    if found is None or rows[found[0]].isna().all():
        return "Not tested."
    p, p_by_case, method = found
    with_p = rows[rows[p].notna()]
    names = ", ".join(dict.fromkeys(map(str, with_p["test"].dropna())))
    head = f"Test: {names}, {method}-adjusted over {_comparisons(len(with_p))}"
    if len(rows) > MOST_NAMED:
        said = f"{head}; smallest p {p_words(float(with_p[p].min()))}."
        if not with_outcomes:
            return said
        return f"{said} {_sentence(of_comparisons(rows['outcome'].tolist()).capitalize())}"
    each = []
    for row in as_rows(rows):
        name = row["detector_title"] + (f", {row[by]}" if by else "")
        cases = row.get(p_by_case)
        beside = "" if cases is None else f" (by case p {p_words(cases)})"
        value = "" if row[p] is None else f"p {p_words(row[p])}{beside}, "
        each.append(f"{name}: {value}{row['outcome']}")
    return f"{head}; {'; '.join(each)}."


def counted(rule: str, credit: str, annotator: str) -> str:
    """How answers become right or wrong, and whose labels say so."""
    if credit == Credit.DETECTION:
        return f"Counted by {_rule(rule)}. {LABEL_FREE}"
    return f"Counted by {_rule(rule)}, {credit}; labels: {annotator}."


def source_words(benchmark: str, *experiments: str) -> str:
    """Where the data come from, what to cite for a published study, and what made the figure."""
    named = ", ".join(dict.fromkeys(map(experiment_words, experiments)))
    is_study = any(
        is_imported(one) and one.startswith("crane-llm") for one in experiments
    )
    cited = f" ({PAPER_CITED})" if is_study else ""
    return f"Data: {', '.join(filter(None, (benchmark, named)))}{cited}. {MADE_BY}."


def _rule(rule: str) -> str:
    return "majority of answers" if rule == VoteRule.MAJORITY else rule


def _range(numbers: pd.Series[float]) -> str:
    least, most = int(numbers.min()), int(numbers.max())
    return count(least) if least == most else f"{count(least)} to {count(most)}"


def _comparisons(n: int) -> str:
    return f"{count(n)} comparisons" if n != 1 else "1 comparison"


def _sentence(words: str) -> str:
    return words if words.endswith((".", "?", "!")) else f"{words}."
