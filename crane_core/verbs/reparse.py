"""`reparse`: the raw replies of a run read again by the current rules; the verdicts that change are listed."""

import argparse
from dataclasses import asdict

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import Reread
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.loading.reread import changes, take
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give_either, tell

NAME = "reparse"
HELP = "read the stored replies of a run by the current rules and list the verdicts that change; nothing is asked"
EXAMPLE = """python -m crane_core reparse gpt-5-runtime-junobench-0a1b2c3d
         python -m crane_core reparse gpt-5-runtime-junobench-0a1b2c3d --dry-run"""
WORDS = {True: "crash", False: "no crash", None: "no answer"}
SHOWN = 300
"""Characters of a reason."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the run whose replies are read again, and whether the changes are only listed."""
    add(
        verb,
        option(
            "job RUN",
            "name of the run, as the page Runs shows it",
            arguments.name,
        ),
        flag("--dry-run", "list the changes; change nothing"),
        flag("--json", "print the changes as JSON to stdout"),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Read the stored replies of a run by the current rules and list each verdict that changes; returns 0.

    What was read before stays in the ledger. Raises DetectorError if there is no such run, StoreHeldError while
    the app holds the database.
    """
    store = prepare(folder, tell)
    try:
        n_replies, changed = changes(store, folder, chosen.job)
        if not chosen.dry_run:
            take(store, folder, chosen.job, changed)
    finally:
        store.close()
    taken = "would change" if chosen.dry_run else "changed"
    lines = [
        *map(_words, changed),
        f"{len(changed):,} of {n_replies:,} verdicts {taken}",
    ]
    document = {
        "replies": n_replies,
        "changed": [asdict(each) for each in changed],
    }
    give_either(document, "\n".join(lines), as_json=chosen.json)
    return 0


def _words(change: Reread) -> str:
    before, after = (
        f"{WORDS[crashes]} ({why[:SHOWN]})" if why else WORDS[crashes]
        for crashes, why in (
            (change.crashes_before, change.unanswered_before),
            (change.crashes_after, change.unanswered_after),
        )
    )
    return (
        f"{change.instance_id}, answer {change.run_index}: {before} -> {after}"
    )
