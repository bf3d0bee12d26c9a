"""`audit`: who changed roles, ended sessions, locked, exported, started and stopped what, when and from where."""

from __future__ import annotations

import argparse
import json

from crane_core import arguments
from crane_core.domain import AuditAction
from crane_core.pipeline.audit import COLUMNS, as_csv, entries, rows
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give, give_exactly, one_line

NAME = "audit"
HELP = "show the audit log: roles, logins, locks, exports and runs, with who, when and from where; the newest first"
EXAMPLE = "python -m crane_core audit --action lock"
SHOWN = 100
"""Lines for people; CSV and JSON hold all."""
LETTERS = 60


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the filters (kind of act, person) and the output form."""
    verb.add_argument(
        "--action",
        choices=[str(action) for action in AuditAction],
        help="only this kind of act",
    )
    verb.add_argument(
        "--who", type=arguments.name, metavar="NAME", help="only acts of this person"
    )
    form = verb.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="print all of it as CSV")
    form.add_argument("--json", action="store_true", help="print all of it as JSON")


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Print the audit log, the newest act first; returns 0."""
    found = [
        entry
        for entry in entries(folder)
        if chosen.action in (None, str(entry.action))
        and chosen.who in (None, entry.acted_by)
    ]
    if chosen.csv:
        give_exactly(as_csv(found))
    elif chosen.json:
        give(
            json.dumps(
                [dict(zip(COLUMNS, row, strict=True)) for row in rows(found)], indent=1
            )
        )
    else:
        give("\n".join(map(_line, rows(found[:SHOWN]))) or "none")
        if len(found) > SHOWN:
            give(f"and {len(found) - SHOWN:,} more: --csv or --json")
    return 0


def _line(row: tuple[str, ...]) -> str:
    when, who, where, action, what, detail = (one_line(cell, LETTERS) for cell in row)
    origin = f" from {where}" if where else ""
    return f"{when[:19].replace('T', ' ')}  {action} {what}{f' ({detail})' if detail else ''}, by {who}{origin}"
