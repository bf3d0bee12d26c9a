"""`list`: benchmarks, sources, runs and campaigns, with what they hold and since when; with --removed those removed."""

import argparse

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import InventoryAct, Listed
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.maintenance import inventory_list
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give_either, in_columns, one_line, tell

NAME = "list"
HELP = (
    "list benchmarks, sources, runs and campaigns with counts and dates, or with --removed those that were removed;"
    " `answer`: those that were invalidated"
)
ONLY_READS = True
EXAMPLE = "python -m crane_core list run --removed"
SHOWN_LETTERS = 60


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the kind that is listed, and whether what was removed is listed instead."""
    add(
        verb,
        option(
            "kind KIND",
            f"one of {', '.join(Listed)}",
            nargs="?",
            choices=[str(kind) for kind in Listed],
        ),
        flag("--removed", "what was removed, by whom, and when"),
        flag("--json", "print everything as JSON to stdout"),
    )


def add_thing(verb: argparse.ArgumentParser) -> None:
    """Which one a verb is about, and who does it."""
    add(
        verb,
        option(
            "kind KIND",
            ", ".join(kind for kind in Listed if kind != Listed.ANSWER),
            # A single answer is taken out by `invalidate`, which asks why.
            choices=[str(kind) for kind in Listed if kind != Listed.ANSWER],
        ),
        option(
            "name NAME",
            "as `list` shows it in its second column",
            arguments.name,
        ),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Print what is loaded (or was removed), one line each with what it holds and since when; returns 0."""
    # Answers are too many to list; those that were invalidated are few.
    if chosen.removed or chosen.kind == Listed.ANSWER:
        found = inventory_list.removed(folder)
    else:
        store = prepare_or_read(folder, tell)
        found = inventory_list.entries(store, folder)
        store.close()
    found = [entry for entry in found if chosen.kind in (None, str(entry.kind))]
    document = [_as_json(entry) for entry in found]
    give_either(document, in_words(found), as_json=chosen.json)
    return 0


def _as_json(entry: inventory_list.InventoryEntry) -> dict[str, str]:
    told = {
        "kind": str(entry.kind),
        "name": entry.name,
        "title": entry.title,
        "held": entry.held,
        "since": entry.since,
    }
    if entry.removal:
        told["removed_by"] = entry.removal.acted_by
        if entry.removal.reason is not None:
            told["reason"] = entry.removal.reason
    return told


def removal_words(act: InventoryAct) -> str:
    """Who removed it; who invalidated an answer, and why."""
    by = one_line(act.acted_by, SHOWN_LETTERS)
    if act.reason is None:
        return f"removed by {by}"
    return f"invalidated by {by}: {one_line(act.reason)}"


def in_words(found: list[inventory_list.InventoryEntry]) -> str:
    """One line per thing, in columns."""
    rows = [
        (
            str(entry.kind),
            one_line(entry.name, SHOWN_LETTERS),
            one_line(entry.title, SHOWN_LETTERS),
            entry.held,
            entry.since.replace("T", " ")[:16] or "ships with the app",
            removal_words(entry.removal) if entry.removal else "",
        )
        for entry in found
    ]
    return "\n".join(in_columns(rows)) if rows else "none"
