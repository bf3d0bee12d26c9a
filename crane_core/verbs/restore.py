"""`restore`: something removed brought back into every view, or a backup into an empty data folder."""

import argparse
from pathlib import Path

from crane_core import arguments
from crane_core.arguments import add, option
from crane_core.domain import Listed
from crane_core.errors import StoreError
from crane_core.pipeline.maintenance import inventory_list
from crane_core.pipeline.maintenance.backup import restore
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give
from crane_core.verbs.rebuild import give_counts
from crane_core.verbs.remove import add_by, said_and_loaded, who

NAME = "restore"
HELP = "bring back what was removed (KIND NAME), or a backup into an empty data folder (DIR), after checking it"
EXAMPLE = """python -m crane_core restore campaign pilot
         python -m crane_core --data /srv/crane-new restore /mnt/disk/crane-2026-11-22"""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what comes back: a backup's folder, or the kind and name of something that was removed."""
    add(
        verb,
        option(
            "backup DIR|KIND",
            f"a folder that `backup` made; or {', '.join(Listed)}, followed by a name",
            arguments.path,
        ),
        option(
            "name NAME",
            "as `list --removed` shows it",
            arguments.name,
            nargs="?",
        ),
    )
    add_by(verb)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Bring back what was removed, or a backup into an empty data folder.

    Returns 0, or 1 if that is saved but the database cannot show it yet. Raises StoreError if there is no such
    thing, SourceError or LedgerError if a backup is not whole or the data folder not empty.
    """
    if chosen.name is None:
        return _backup(chosen.backup, folder)
    if str(chosen.backup) not in set(Listed):
        raise StoreError(
            f"{chosen.backup} is none of {', '.join(Listed)}.",
            remedy="See `list --removed`.",
        )
    entry = inventory_list.restore(
        folder, Listed(str(chosen.backup)), chosen.name, by=who(chosen)
    )
    return said_and_loaded(
        folder, f"restored: {entry.kind} {entry.name} ({entry.held})"
    )


def _backup(backup: Path, folder: DataFolder) -> int:
    done = restore(backup, folder)
    give(f"{folder.path}: {done}")
    give_counts(folder)
    return 0
