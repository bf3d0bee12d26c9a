"""`report`: the study's tables recomputed from what is loaded, and checked against what was printed."""

from __future__ import annotations

import argparse

from crane_core.pipeline.evaluate import printed_numbers, verdict_frame
from crane_core.pipeline.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.study_tables import drift, status_counts, study_tables, table_modules
from crane_core.pipeline.table_cells import StudyTable
from crane_core.pipeline.table_formats import Format, render
from crane_core.terminal import give, tell

NAME = "report"
HELP = "recompute the study's tables and print them; --check compares every printed cell"
EXAMPLE = "python -m crane_core report --table 2a --format md"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    ids = [module.TABLE_ID for module in table_modules()]
    verb.add_argument("--table", choices=ids, metavar="ID", help=f"one table alone: {' '.join(ids)}")
    verb.add_argument("--format", choices=[str(f) for f in Format], default="md", help="default: md")
    verb.add_argument("--json", action="store_true", help="the same as --format json")
    verb.add_argument("--check", action="store_true", help="exit 1 when a recomputable cell differs as printed")


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    store = prepare_or_read(folder, tell)
    tables = study_tables(verdict_frame(store), printed_numbers(store))
    store.close()
    if chosen.table:
        tables = {chosen.table: tables[chosen.table]}
    give(render(tables.values(), Format.JSON if chosen.json else Format(chosen.format)))
    return _check(tables) if chosen.check else 0


def _check(tables: dict[str, StudyTable]) -> int:
    for name, counts in status_counts(tables.values()).items():
        tell(f"{name:>15}: " + ", ".join(f"{n} {status}" for status, n in counts.items() if n))
    differing = drift(tables.values())
    for name, cell in differing:
        ours = float(cell.ours or 0)
        tell(f"differs: table {name}, {cell.row}, {cell.column}: printed {cell.printed}, ours {ours:.4f}")
    tell(f"check: {len(differing)} cells differ" if differing else "check: every recomputable cell is as printed")
    return 1 if differing else 0
