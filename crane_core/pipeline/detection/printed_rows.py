"""The paper's printed values for a setting whose answers are not loaded: its cells of tables 4(a) and 4(b), as text.

Refuses to compute: there is no interval, and the cells are over all notebooks of the study, whatever a job covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.detection.score import ScoreRow
from crane_core.pipeline.results.evaluate import printed_numbers
from crane_core.pipeline.study.printed_counts import COLUMN_SIGNS, PAPER
from crane_core.pipeline.study.table_scores import BENCHMARK
from crane_core.pipeline.tables import table_4a, table_4b
from crane_core.stats.rates import RATES
from crane_core.storage.store import Store

TABLES = (table_4a.TABLE_ID, table_4b.TABLE_ID)


class PrintedRow(NamedTuple):
    """A row of a printed table in one setting; `cells` has the printed text of the rates that the table has."""

    title: str
    setting: str
    table: str
    cells: dict[str, str]


def printed_beside(
    store: Store, benchmark: str, rows: Sequence[ScoreRow]
) -> list[PrintedRow]:
    """Of the setting of the first of `rows`, what is printed of detectors that have no published row among them."""
    if benchmark != BENCHMARK or not rows:
        return []
    measured = {row.title for row in rows if row.is_published}
    found = printed_rows(printed_numbers(store), Setting(rows[0].setting))
    return [row for row in found if row.title not in measured]


def printed_rows(numbers: pd.DataFrame, setting: Setting) -> list[PrintedRow]:
    """One row per detector of the first table that prints the setting; numbers: the fields of PublishedNumber."""
    columns = {f"{rate} {COLUMN_SIGNS.get(setting)}": rate for rate in RATES}
    known = numbers[(numbers["publication"] == PAPER) & numbers["column"].isin(columns)]
    table = next((name for name in TABLES if name in set(known["table_id"])), None)
    return [
        PrintedRow(
            str(title),
            str(setting),
            str(table),
            dict(zip(of["column"].map(columns), of["printed"], strict=True)),
        )
        for title, of in known[known["table_id"] == table].groupby("row", sort=False)
    ]
