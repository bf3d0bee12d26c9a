"""`audit`: who changed roles, ended sessions, locked, exported, started and stopped what, when and from where."""

import argparse

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import AuditAction
from crane_core.pipeline.audit import COLUMNS, as_csv, entries, rows
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give_either, give_exactly, one_line

NAME = "audit"
HELP = "show the audit log: roles, logins, locks, exports and runs, with who, when and from where; the newest first"
EXAMPLE = "python -m crane_core audit --action lock"
SHOWN = 100
"""Lines for people; CSV and JSON hold all."""
LETTERS = 60


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the filters (kind of act, person) and the output form."""
    add(
        verb,
        option(
            "--action",
            "only this kind of act",
            choices=[str(action) for action in AuditAction],
        ),
        option("--who NAME", "only acts of this person", arguments.name),
    )
    add(
        verb.add_mutually_exclusive_group(),
        flag("--csv", "print all of it as CSV"),
        flag("--json", "print all of it as JSON"),
    )


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
        return 0
    document = [dict(zip(COLUMNS, row, strict=True)) for row in rows(found)]
    lines = [_line(row) for row in rows(found[:SHOWN])] or ["none"]
    if len(found) > SHOWN:
        lines.append(f"and {len(found) - SHOWN:,} more: --csv or --json")
    give_either(document, "\n".join(lines), as_json=chosen.json)
    return 0


def _line(row: tuple[str, ...]) -> str:
    when, who, where, action, what, detail = (
        one_line(cell, LETTERS) for cell in row
    )
    origin = f" from {where}" if where else ""
    return f"{when[:19].replace('T', ' ')}  {action} {what}{f' ({detail})' if detail else ''}, by {who}{origin}"
