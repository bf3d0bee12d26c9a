"""`rebuild`: the database dropped and made again from sources and ledger."""

import argparse

from crane_core.arguments import add, flag
from crane_core.pipeline.loading.load import prepare, rebuild
from crane_core.pipeline.places import DataFolder
from crane_core.storage.state import table_counts
from crane_core.terminal import give, tell

NAME = "rebuild"
HELP = (
    "drop the database and load sources and ledger again, with identical tables"
)
EXAMPLE = "python -m crane_core rebuild"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare whether the database is made again even where sources or ledger lost something."""
    add(
        verb,
        flag(
            "--accept-loss",
            "continue even if source or ledger files are missing or altered",
        ),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Make the database again from sources and ledger, and print how many rows each table has; returns 0.

    Raises LedgerError if there is less than before and --accept-loss is not given.
    """
    rebuild(folder, tell, accept_loss=chosen.accept_loss)
    give_counts(folder)
    return 0


def give_counts(folder: DataFolder) -> None:
    """Print how many rows each table has, after loading what is not loaded yet."""
    store = prepare(folder, tell)
    for table, n_rows in table_counts(store.cursor()).items():
        give(f"{n_rows:>9,} {table.replace('_', ' ')}")
    store.close()
