"""`doctor`: what is installed, loaded, missing and contradictory, with what to do."""

import argparse
from dataclasses import asdict

from crane_core.arguments import add, flag
from crane_core.domain import JsonObject
from crane_core.errors import CraneError, LedgerError, StoreError
from crane_core.ledger.signature import VARIABLE, ledger_key
from crane_core.pipeline.loading.load import catch_up, prepare_or_read
from crane_core.pipeline.loading.losses import SIGN, Loss, losses, sign
from crane_core.pipeline.maintenance import examine
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
from crane_core.terminal import give_either, tell

NAME = "doctor"
HELP = (
    "show what is installed, loaded, missing or contradictory, and what to do"
)
ONLY_READS = True
EXAMPLE = "python -m crane_core doctor"
SHOWN = 30


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the output form, and whether unsigned files of the ledger are signed."""
    add(
        verb,
        flag("--json", "print everything as JSON to stdout"),
        flag(
            "--sign",
            f"sign what is not signed yet, with the key that {VARIABLE} names",
        ),
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
    found = examine.examine(store, folder, lost, unreadable)
    store.close()
    give_either(asdict(found), _in_words(found, folder), as_json=chosen.json)
    is_damaged = any(
        finding.area == examine.DAMAGED for finding in found.findings
    )
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
        raise LedgerError(
            f"Nothing was signed: {others[0]}.", remedy=others[0].remedy
        )
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


def _in_words(found: examine.Examination, folder: DataFolder) -> str:
    sections = {
        "Missing or altered evidence": _findings(found, examine.EVIDENCE),
        "Damaged database": _findings(found, examine.DAMAGED),
        "Installed": [
            f"{name} {version}" for name, version in found.versions.items()
        ],
        f"Loaded in {folder.path}": [
            f"{n:,} {table.replace('_', ' ')}"
            for table, n in found.counts.items()
        ],
        "Sources": [
            f"{s['source_id']}  {s['kind']}  {s['name']}, {s['n_problems']} problems"
            for s in found.sources
        ],
        "Notes": _findings(found, None),
        "Load problems": _limited(
            [
                f"{p['kind']}: {p['path']}, {p['place']}: {p['reason']}"
                for p in found.problems
            ]
        ),
        "Votes that contradict the human outcomes": _limited(
            [_contradiction(votes) for votes in found.contradictions]
        ),
    }
    lines = []
    for title, listed in sections.items():
        lines += [title, *(f"  {line}" for line in listed or ["none"])]
    return "\n".join(lines)


def _findings(found: examine.Examination, area: str | None) -> list[str]:
    """Those of an area, with what to do; None: of those that have no section."""
    of_sections = (examine.EVIDENCE, examine.DAMAGED)
    return [
        f"{finding.what}. {finding.remedy}".rstrip()
        for finding in found.findings
        if finding.area == area
        or (area is None and finding.area not in of_sections)
    ]


def _contradiction(votes: JsonObject) -> str:
    of = f"{votes['instance_id']}, {votes['detector']}, {votes['setting']}"
    n_runs = votes["n_crash"] + votes["n_safe"]
    return (
        f"{of}: {votes['n_crash']} of {n_runs} answers predict a crash, "
        f"the human outcome is {votes['human']} ({votes['why']})"
    )


def _limited(lines: list[str]) -> list[str]:
    if len(lines) <= SHOWN:
        return lines
    rest = f"… and {len(lines) - SHOWN:,} more: see `doctor --json` or the Data page"
    return [*lines[:SHOWN], rest]
