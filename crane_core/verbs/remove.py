"""`remove`: a benchmark, source, run or campaign taken out of every view; nothing is deleted."""

import argparse
import getpass

from crane_core import arguments
from crane_core.arguments import add, option
from crane_core.domain import Listed
from crane_core.errors import CraneError
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.maintenance.inventory_list import remove
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import as_typed, give, one_line, tell, tell_refusal
from crane_core.verbs.list_ import add_thing

NAME = "remove"
HELP = "take a benchmark, source, run or campaign out of every page, statistic and export; `restore` brings it back"
EXAMPLE = "python -m crane_core remove run fake-model-code-minibench-1a2b3c4d"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the kind and name of what is removed, and who removes it."""
    add_thing(verb)
    add_by(verb)


def add_by(verb: argparse.ArgumentParser) -> None:
    """Who does it, for the ledger."""
    add(
        verb,
        option(
            "--by NAME", "who does it (default: your user name)", arguments.name
        ),
    )


def who(chosen: argparse.Namespace) -> str:
    """The person who acts, for the ledger: the name that was given, else the user's login name."""
    return str(chosen.by or getpass.getuser())


def said_and_loaded(folder: DataFolder, done: str) -> int:
    """Say what was done, which is in the ledger by now, then bring the database up to it; the exit code."""
    give(as_typed(one_line(done)))
    try:
        prepare_or_read(folder, tell).close()
    except CraneError as error:
        tell_refusal(
            f"That is saved, but the database does not show it yet: {error.args[0]}",
            "Free some space, or fix what it names; the next command or start of the app loads everything again.",
        )
        return 1
    return 0


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Take a benchmark, source, run or campaign out of every view, by an act in the ledger that `restore` undoes.

    Returns 0, or 1 if that is saved but the database cannot show it yet. Raises StoreError if there is no such
    thing.
    """
    store = prepare_or_read(folder, tell)
    try:
        entry = remove(
            store, folder, Listed(chosen.kind), chosen.name, by=who(chosen)
        )
    finally:
        store.close()
    undo = f"`restore {entry.kind} {entry.name}` undoes it"
    return said_and_loaded(
        folder, f"removed: {entry.kind} {entry.name} ({entry.held}). {undo}"
    )
