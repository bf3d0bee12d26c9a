"""The published tables beside ours. Knows how cells meet; `measured_tables` knows what each table counts."""

from collections import Counter
from collections.abc import Iterable, Mapping

import pandas as pd

from crane_core.pipeline.study import measured_tables, table_cells

_COMPARED = ("benchmark", "experiment", "detector", "setting", "instance_id")
"""Columns of which the tables ask some three hundred times which rows hold a name: as categories, that costs little."""


def study_tables(
    verdicts: pd.DataFrame, numbers: pd.DataFrame
) -> dict[str, table_cells.StudyTable]:
    """All tables by id, each cell with the printed text, our exact value and the status.

    verdicts: `pipeline.results.evaluate`'s frame, one row per benchmark, instance, detector, setting and experiment.
    numbers: the fields of PublishedNumber, one row per printed cell, in the order of the page.
    """
    coded = verdicts.astype(dict.fromkeys(_COMPARED, "category"))
    return {
        table.id: _table(table, coded, numbers)
        for table in measured_tables.MEASURED_TABLES
    }


def _table(
    table: measured_tables.MeasuredTable,
    verdicts: pd.DataFrame,
    numbers: pd.DataFrame,
) -> table_cells.StudyTable:
    mine = numbers[numbers["table_id"] == table.id]
    places = zip(mine["row"], mine["column"], strict=True)
    texts = zip(mine["printed"], mine["unit"], strict=True)
    printed = dict(zip(places, texts, strict=True))
    cells = _cells(printed, table.measure(verdicts))
    return table_cells.StudyTable(
        table.id,
        table.title,
        table.source,
        cells,
    )


def _cells(
    printed: Mapping[tuple[str, str], tuple[str, str]],
    measured: table_cells.Measures,
) -> list[table_cells.TableCell]:
    """Printed places first, then ours that were not printed; rows kept together."""
    places = list(dict.fromkeys([*printed, *measured]))
    rows = list(dict.fromkeys(row for row, _ in places))
    places.sort(key=lambda place: rows.index(place[0]))
    cells = []
    for place in places:
        text, unit = printed.get(place, (None, ""))
        cells.append(
            table_cells.compared(
                *place,
                text,
                unit,
                measured.get(place),
            )
        )
    return cells


def drift(
    found: Iterable[table_cells.StudyTable],
) -> list[tuple[str, table_cells.TableCell]]:
    """Table id and cell wherever our value is not what is printed, in the printed digits."""
    return [
        (table.id, cell)
        for table in found
        for cell in table.cells
        if cell.status is table_cells.CellStatus.DIFFERS
    ]


def status_counts(
    found: Iterable[table_cells.StudyTable],
) -> dict[str, dict[table_cells.CellStatus, int]]:
    """How many cells of each table have which status."""
    counts = {}
    for table in found:
        of_table = Counter(cell.status for cell in table.cells)
        counts[table.id] = {
            status: of_table[status] for status in table_cells.CellStatus
        }
    return counts
