"""Progress of a run: bar, rate, time left and cost as `detect` prints them, and its accuracy so far."""

from __future__ import annotations

import re
from typing import NamedTuple

import streamlit as st

from crane_core.pipeline.results.measures import Credit, VoteRule, rate_table
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data
from crane_core.ui.words import count, interval, literal, percent

_FAR = re.compile(
    r"^(?:job \S+: )?([\d,]+) of ([\d,]+) (?:questions )?answered(?: so far)?(?:, (.*))?$",
    re.MULTILINE,
)
STARTING = "Starting: reading the notebooks and their states"


class Far(NamedTuple):
    """`n_done` of `n_all` questions are answered; `more` is the rest of the line: rate, cost, time left."""

    n_done: int
    n_all: int
    more: str

    @property
    def share(self) -> float:
        return min(1.0, self.n_done / self.n_all) if self.n_all else 1.0

    @property
    def words(self) -> str:
        return ", ".join(
            part
            for part in (
                f"{count(self.n_done)} of {count(self.n_all)} answers",
                self.more,
            )
            if part
        )


def far_in(words: str) -> Far | None:
    """The last progress line of a run; None before the first."""
    found = _FAR.findall(words)
    if not found:
        return None
    n_done, n_all, more = found[-1]
    return Far(int(n_done.replace(",", "")), int(n_all.replace(",", "")), more)


def draw_bar(words: str, job: str | None) -> None:
    """The bar of a running run; `words` is its output so far."""
    far = far_in(words)
    if far is None:
        st.progress(0.0, STARTING)
        return
    st.progress(far.share, literal(far.words))
    if job and (said := accuracy_words(job)):
        st.caption(said)


def accuracy_words(job: str) -> str:
    """Accuracy so far, detection alone: majority of what was answered; empty before anything can be compared."""
    verdicts = data.verdicts()
    mine = verdicts[verdicts["experiment"] == job]
    table = rate_table(
        mine,
        by=["experiment"],
        rate="Accuracy",
        rule=VoteRule.MAJORITY,
        credit=Credit.DETECTION,
    )
    if table.empty or table["value"].isna().all():
        return ""
    [row] = as_rows(table)
    bounds = interval(row["low"], row["high"])
    return f"Accuracy so far {percent(row['value'])} ({bounds}, n {count(row['n'])}), detection only."
