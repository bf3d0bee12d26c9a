"""Every cell of the study's tables, the ablations among them: ours where data give it, and what is printed."""

from __future__ import annotations

from collections.abc import Iterator

from crane_core.pipeline.export.exported_statistic import ExportedStatistic, Material
from crane_core.pipeline.study.study_tables import study_tables

ABLATIONS = {"4a": "categories", "4b": "documentation", "5": "tokens"}
"""Tables that the page Ablations shows, by its sections."""


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """One per cell; statistic is its column, group its row, in the unit that the table prints."""
    for table in study_tables(material.verdicts, material.numbers).values():
        page, section = (
            ("Ablations", ABLATIONS[table.id])
            if table.id in ABLATIONS
            else ("Results", "tables")
        )
        for cell in table.cells:
            yield ExportedStatistic(
                page,
                section,
                cell.column,
                by=f"table {table.id}",
                group=cell.row,
                stated=cell.printed,
                note=str(cell.status),
                n=cell.n,
            ).measured(None if cell.ours is None else float(cell.ours), unit=cell.unit)
