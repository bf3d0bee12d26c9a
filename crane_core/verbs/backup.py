"""`backup`: sources and ledger copied while the app runs, checked line by line."""

import argparse
import shlex

from crane_core import arguments
from crane_core.arguments import add, option
from crane_core.pipeline.maintenance.backup import back_up
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give, program_typed

NAME = "backup"
HELP = "copy sources and ledger to a new folder, also while the app runs, and check the copy"
ONLY_READS = True
EXAMPLE = "python -m crane_core backup /mnt/disk/crane-2026-11-22"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the folder that the backup makes."""
    add(
        verb,
        option("out DIR", "a folder that does not exist yet", arguments.path),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Copy sources and ledger, check every line of the copy, and print how to bring it back; returns 0.

    Raises SourceError if the folder exists, LedgerError if the copy differs from the ledger.
    """
    done = back_up(folder, chosen.out)
    give(f"{chosen.out}: {done}")
    give(
        f"Bring it back with: {program_typed()} --data NEW restore {shlex.quote(str(chosen.out))}"
    )
    return 0
