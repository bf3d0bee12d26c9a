"""The published tables beside ours. Knows how cells meet; each table knows its own numbers (pipeline/tables)."""

import pkgutil
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Protocol, cast

import pandas as pd

from crane_core.pipeline import tables
from crane_core.pipeline.study import table_cells

_COMPARED = ("benchmark", "experiment", "detector", "setting", "instance_id")
"""Columns of which the tables ask some three hundred times which rows hold a name: as categories, that costs little."""


class TableModule(Protocol):
    """What a file of pipeline/tables holds; `measure` computes our cells from the verdict frame."""

    TABLE_ID: str
    TITLE: str
    SOURCE: str

    def measure(self, verdicts: pd.DataFrame) -> table_cells.Measures:
        """Our value of each cell of the table; verdicts: as of `study_tables`."""


def table_modules() -> list[TableModule]:
    """Every table of the study, by id; the folder is the list."""
    modules = [
        cast("TableModule", import_module(f"{tables.__name__}.{found.name}"))
        for found in pkgutil.iter_modules(tables.__path__)
    ]
    return sorted(modules, key=lambda module: module.TABLE_ID)


def study_tables(
    verdicts: pd.DataFrame, numbers: pd.DataFrame
) -> dict[str, table_cells.StudyTable]:
    """All tables by id, each cell with the printed text, our exact value and the status.

    verdicts: `pipeline.results.evaluate`'s frame, one row per benchmark, instance, detector, setting and experiment.
    numbers: the fields of PublishedNumber, one row per printed cell, in the order of the page.
    """
    coded = verdicts.astype(dict.fromkeys(_COMPARED, "category"))
    return {
        module.TABLE_ID: _table(module, coded, numbers)
        for module in table_modules()
    }


def _table(
    module: TableModule,
    verdicts: pd.DataFrame,
    numbers: pd.DataFrame,
) -> table_cells.StudyTable:
    mine = numbers[numbers["table_id"] == module.TABLE_ID]
    places = zip(mine["row"], mine["column"], strict=True)
    texts = zip(mine["printed"], mine["unit"], strict=True)
    printed = dict(zip(places, texts, strict=True))
    cells = _cells(printed, module.measure(verdicts))
    return table_cells.StudyTable(
        module.TABLE_ID,
        module.TITLE,
        module.SOURCE,
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
