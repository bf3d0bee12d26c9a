"""`restore`: a backup brought back into an empty data folder, and the database made from it."""

from __future__ import annotations

import argparse

from crane_core import arguments
from crane_core.pipeline.backup import restore
from crane_core.pipeline.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.storage.state import table_counts
from crane_core.terminal import give, tell

NAME = "restore"
HELP = "bring a backup back into an empty data folder, after checking it"
EXAMPLE = "python -m crane_core --data /srv/crane-new restore /mnt/disk/crane-2026-11-22"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("backup", type=arguments.path, metavar="DIR", help="a folder that `backup` made")


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    done = restore(chosen.backup, folder)
    give(f"{folder.path}: {done}")
    store = prepare(folder, tell)
    for table, n_rows in table_counts(store.cursor()).items():
        give(f"{n_rows:>9,} {table.replace('_', ' ')}")
    store.close()
    return 0
