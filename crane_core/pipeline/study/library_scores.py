"""Scores per library group, as the published workbook lays them out. Knows its rows and columns."""

from collections.abc import Callable, Iterator
from itertools import product

import pandas as pd

from crane_core.domain import PAPER_GROUPS
from crane_core.pipeline.study import table_scores
from crane_core.pipeline.study.table_cells import Measured, count, share
from crane_core.stats.rates import RATES, Confusion

JUDGED: dict[str, Callable[[pd.DataFrame], Confusion]] = {
    "end-to-end": table_scores.end_to_end_counts,
    "detection": table_scores.detection_counts,
}


def library_cells(
    verdicts: pd.DataFrame, detectors: tuple[str, ...]
) -> dict[tuple[str, str], Measured]:
    """Cells by ("GPT-5, torch", "F1 (+RT), detection"); shares of 1, counts as counts; "total" is all groups."""
    cells: dict[tuple[str, str], Measured] = {}
    for title, setting, rows in table_scores.conditions(verdicts, detectors):
        for (group, members), judged in product(_groups(rows), JUDGED):
            counts = JUDGED[judged](members)
            for column, value in _columns(counts, table_scores.SIGNS[setting]):
                cells[f"{title}, {group}", f"{column}, {judged}"] = value
    return cells


def _groups(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for group in PAPER_GROUPS:
        members = rows[rows["library_group"] == group]
        if len(members):
            yield group, members
    yield "total", rows


def _columns(counts: Confusion, sign: str) -> Iterator[tuple[str, Measured]]:
    n = table_scores.scored(counts)
    yield "Count", count(n, n)
    yield f"FP {sign}", count(float(counts.fp), n)
    yield f"FN {sign}", count(float(counts.fn), n)
    for name, rate in RATES.items():
        ratio = rate(counts)
        if ratio.whole:
            yield (
                f"{name} {sign}",
                share(float(ratio.part), float(ratio.whole), n),
            )
