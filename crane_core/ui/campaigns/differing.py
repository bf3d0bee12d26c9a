"""On which reasons and cases a campaign's annotators disagree, for its lead."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from crane_core.pipeline.agreement.agreement import MIN_COMMON_WHEN_BLIND
from crane_core.pipeline.campaigns import unlike_reasons
from crane_core.pipeline.campaigns.campaigns import journals_of
from crane_core.pipeline.campaigns.status import CampaignStatus
from crane_core.ui import data
from crane_core.ui.grid import grid
from crane_core.ui.words import count, percent

MOST_ROWS = 50
FEW_ROWS = 12
"""More than these scroll in their table, so that the charts below stay near."""
MOST_HEIGHT = 420
"""Pixels."""


def draw_differing(status: CampaignStatus) -> None:
    """Two tables; nothing where no item has two labels."""
    plan = status.plan
    journals = journals_of(data.folder(), plan)
    cases = unlike_reasons.differing_by_case(plan, journals)
    if not cases:
        return
    is_blind = plan.blind and status.lock is None
    fewest = MIN_COMMON_WHEN_BLIND if is_blind else 1
    st.header("Disagreements", anchor="disagreements")
    reasons = unlike_reasons.differing_by_reason(plan, journals)
    if any(row.n >= fewest for row in (*cases, *reasons)):
        st.caption(
            "Items with labels of two annotators or more. An item counts under each reason that somebody gave it."
        )
    # Without a reason the cases have the whole width.
    with st.container(key="two_tables"):
        with st.container():
            _draw(cases, "Case", {}, fewest)
        if reasons:
            with st.container():
                _draw(reasons, "Reason", plan.labels.reason_words, fewest)


def _draw(
    rows: Sequence[unlike_reasons.DifferingItems],
    head: str,
    words: Mapping[str, str],
    fewest: int,
) -> None:
    shown = [row for row in rows if row.n >= fewest]
    if shown:
        grid(
            pd.DataFrame(
                [cells(row, head, words) for row in shown[:MOST_ROWS]]
            ),
            height="content" if len(shown) <= FEW_ROWS else MOST_HEIGHT,
        )
    if left_out := left_out_words(len(rows), shown, fewest):
        st.caption(f"{head}s: {left_out}")


def cells(
    row: unlike_reasons.DifferingItems, head: str, words: Mapping[str, str]
) -> dict[str, str]:
    """A row of the table; words: of the codes of reasons."""
    return {
        head: words.get(row.name, row.name),
        "Items": count(row.n),
        "Unlike labels": f"{count(row.n_differ)} ({percent(row.n_differ / row.n, 0)})",
    }


def left_out_words(
    n_all: int, shown: Sequence[unlike_reasons.DifferingItems], fewest: int
) -> str:
    """How many rows are not in the table, and why; empty if all are."""
    n_few, n_more = n_all - len(shown), max(len(shown) - MOST_ROWS, 0)
    said = []
    if n_few:
        said.append(
            f"{count(n_few)} of {count(n_all)} are shown after the lock: they have fewer than {fewest} items, which "
            "would reveal single labels."
        )
    if n_more:
        said.append(
            f"{count(n_more)} with as many unlike labels or fewer are left out."
        )
    return " ".join(said)
