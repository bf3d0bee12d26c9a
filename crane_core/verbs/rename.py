"""`rename`: another name for people; ids, files and links stay."""

import argparse

from crane_core import arguments
from crane_core.arguments import add, option
from crane_core.domain import Listed
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.maintenance.inventory_list import rename
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import tell
from crane_core.verbs.list_ import add_thing
from crane_core.verbs.remove import add_by, said_and_loaded, who

NAME = "rename"
HELP = "show a benchmark, source, run or campaign under another name; its id, files and links stay"
EXAMPLE = 'python -m crane_core rename benchmark lab "Crashes of our lab, 2026"'


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what is renamed, its new title, and who renames it."""
    add_thing(verb)
    add(
        verb,
        option("title TITLE", "its new name", arguments.name),
    )
    add_by(verb)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Show something under another title; its id, files and links stay.

    Returns 0, or 1 if that is saved but the database cannot show it yet. Raises StoreError if there is no such
    thing.
    """
    store = prepare_or_read(folder, tell)
    try:
        entry = rename(
            store,
            folder,
            Listed(chosen.kind),
            chosen.name,
            chosen.title,
            by=who(chosen),
        )
    finally:
        store.close()
    return said_and_loaded(
        folder, f"renamed: {entry.kind} {entry.name} is shown as {chosen.title}"
    )
