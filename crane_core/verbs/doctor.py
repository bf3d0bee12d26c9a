"""`doctor`: what is installed, loaded, missing and contradictory, with what to do."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from crane_core.errors import CraneError, LedgerError, StoreError
from crane_core.ledger_signature import VARIABLE, ledger_key
from crane_core.pipeline.loading.load import catch_up, prepare_or_read
from crane_core.pipeline.loading.losses import SIGN, Loss, losses, sign
from crane_core.pipeline.maintenance.examine import (
    DAMAGED,
    EVIDENCE,
    Examination,
    examine,
)
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import (
    IN_MEMORY,
    DatabaseError,
    Store,
    StoreHeldError,
    damaged,
    open_store,
    open_to_read,
)
from crane_core.terminal import give, tell

NAME = "doctor"
HELP = "show what is installed, loaded, missing or contradictory, and what to do"
ONLY_READS = True
EXAMPLE = "python -m crane_core doctor"
SHOWN = 30


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the output form, and whether unsigned files of the ledger are signed."""
    verb.add_argument(
        "--json", action="store_true", help="print everything as JSON to stdout"
    )
    verb.add_argument(
        "--sign",
        action="store_true",
        help=f"sign what is not signed yet, with the key that {VARIABLE} names",
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Print versions, what is loaded, and everything missing, damaged or contradictory with its remedy.

    Returns 0, or 1 if evidence is lost or altered or the database is damaged. Raises LedgerError if --sign is
    refused.
    """
    lost = losses(folder)
    if chosen.sign:
        _sign(folder, lost)
        lost = losses(folder)
    store, unreadable = _damaged_store(folder) if lost else _store(folder)
    found = examine(store, folder, lost, unreadable)
    store.close()
    give(
        json.dumps(asdict(found), indent=1, default=str)
        if chosen.json
        else _in_words(found, folder)
    )
    is_damaged = any(finding.area == DAMAGED for finding in found.findings)
    return 1 if lost or is_damaged else 0


def _sign(folder: DataFolder, lost: list[Loss]) -> None:
    """Sign the ledger. Raises LedgerError if something is lost, altered or signed with another key."""
    if ledger_key() is None:
        raise LedgerError(
            "There is no key to sign with.",
            remedy=f"Name the file of one in {VARIABLE}.",
        )
    # A signature would make an alteration look like the true ledger.
    if others := [loss for loss in lost if loss.remedy != SIGN]:
        raise LedgerError(f"Nothing was signed: {others[0]}.", remedy=others[0].remedy)
    for loss in lost:
        tell(f"Signing {loss.file}, which {loss.what}")
    sign(folder)


def _store(folder: DataFolder) -> tuple[Store, str | None]:
    """The store; where the database cannot be opened, what its files give, and why."""
    try:
        return prepare_or_read(folder, tell), None
    except StoreError as error:
        return _of_files(folder), str(error.args[0]).rstrip(".")
    except DatabaseError as error:
        return _of_files(folder), str(damaged(error).args[0]).rstrip(".")


def _damaged_store(folder: DataFolder) -> tuple[Store, str | None]:
    """What can still be read of a folder that lost something, as it is: nothing is loaded into the database."""
    if not folder.database.exists():
        return _of_files(folder), None
    try:
        return open_to_read(folder.database), None
    except StoreHeldError as error:
        tell(error.args[0])
        return _of_files(folder), None
    except StoreError as error:
        return _of_files(folder), str(error.args[0])


def _of_files(folder: DataFolder) -> Store:
    store = open_store(IN_MEMORY)
    try:
        catch_up(store, folder, tell)
    except CraneError as error:
        tell(error.args[0])
    return store


def _in_words(found: Examination, folder: DataFolder) -> str:
    lost = [finding for finding in found.findings if finding.area == EVIDENCE]
    damaged = [finding for finding in found.findings if finding.area == DAMAGED]
    others = [
        finding for finding in found.findings if finding.area not in (EVIDENCE, DAMAGED)
    ]
    parts = [
        ("Missing or altered evidence", [f"{f.what}. {f.remedy}" for f in lost]),
        ("Damaged database", [f"{f.what}. {f.remedy}" for f in damaged]),
        (
            "Installed",
            [f"{name} {version}" for name, version in found.versions.items()],
        ),
        (
            f"Loaded in {folder.path}",
            [f"{n:,} {table.replace('_', ' ')}" for table, n in found.counts.items()],
        ),
        (
            "Sources",
            [
                f"{s['source_id']}  {s['kind']}  {s['name']}, {s['n_problems']} problems"
                for s in found.sources
            ],
        ),
        ("Notes", [f"{f.what}. {f.remedy}".rstrip() for f in others]),
        (
            "Load problems",
            _limited(
                [
                    f"{p['kind']}: {p['path']}, {p['place']}: {p['reason']}"
                    for p in found.problems
                ]
            ),
        ),
        (
            "Votes that contradict the human outcomes",
            _limited(
                [
                    f"{c['instance_id']}, {c['detector']}, {c['setting']}: {c['n_crash']} of "
                    f"{c['n_crash'] + c['n_safe']} runs predict a crash, the human outcome is {c['human']} ({c['why']})"
                    for c in found.contradictions
                ]
            ),
        ),
    ]
    return "\n".join(
        "\n".join([title, *(f"  {line}" for line in lines or ["none"])])
        for title, lines in parts
    )


def _limited(lines: list[str]) -> list[str]:
    rest = len(lines) - SHOWN
    return lines[:SHOWN] + (
        [f"… and {rest:,} more: see `doctor --json` or the Data page"]
        if rest > 0
        else []
    )
