"""`list`: benchmarks, sources, runs and campaigns, with what they hold and since when; with --removed those removed."""

from __future__ import annotations

import argparse
import json

from crane_core import arguments
from crane_core.domain import Listed
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.maintenance.inventory_list import (
    InventoryEntry,
    entries,
    removed,
)
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give, one_line, tell

NAME = "list"
HELP = "list benchmarks, sources, runs and campaigns with counts and dates, or with --removed those that were removed"
ONLY_READS = True
EXAMPLE = "python -m crane_core list run --removed"
SHOWN_LETTERS = 60


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the kind that is listed, and whether what was removed is listed instead."""
    verb.add_argument(
        "kind",
        nargs="?",
        choices=[str(kind) for kind in Listed],
        metavar="KIND",
        help=f"one of {', '.join(Listed)}",
    )
    verb.add_argument(
        "--removed", action="store_true", help="what was removed, by whom, and when"
    )
    verb.add_argument(
        "--json", action="store_true", help="print everything as JSON to stdout"
    )


def add_thing(verb: argparse.ArgumentParser) -> None:
    """Which one a verb is about, and who does it."""
    verb.add_argument(
        "kind",
        choices=[str(kind) for kind in Listed],
        metavar="KIND",
        help=f"{', '.join(Listed)}",
    )
    verb.add_argument(
        "name",
        type=arguments.name,
        metavar="NAME",
        help="as `list` shows it in its second column",
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Print what is loaded (or was removed), one line each with what it holds and since when; returns 0."""
    if chosen.removed:
        found = removed(folder)
    else:
        store = prepare_or_read(folder, tell)
        found = entries(store, folder)
        store.close()
    found = [entry for entry in found if chosen.kind in (None, str(entry.kind))]
    give(
        json.dumps([_as_json(entry) for entry in found], indent=1)
        if chosen.json
        else in_words(found)
    )
    return 0


def _as_json(entry: InventoryEntry) -> dict[str, str]:
    told = {
        "kind": str(entry.kind),
        "name": entry.name,
        "title": entry.title,
        "held": entry.held,
        "since": entry.since,
    }
    return told | ({"removed_by": entry.removal.acted_by} if entry.removal else {})


def in_words(found: list[InventoryEntry]) -> str:
    """One line per thing, in columns."""
    rows = [
        (
            str(entry.kind),
            one_line(entry.name, SHOWN_LETTERS),
            one_line(entry.title, SHOWN_LETTERS),
            entry.held,
            entry.since.replace("T", " ")[:16] or "ships with the app",
            f"removed by {one_line(entry.removal.acted_by, SHOWN_LETTERS)}"
            if entry.removal
            else "",
        )
        for entry in found
    ]
    if not rows:
        return "none"
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )
