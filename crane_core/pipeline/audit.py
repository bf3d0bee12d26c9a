"""The audit log: who changed a role, ended a session, locked, exported, started or stopped what, when, from where.

ledger/audit.jsonl    one line per act, chained and counted as every ledger file; part of backups

It names people and addresses, so that evidence packs leave it out, and the database does not load it. What was removed,
restored or renamed is in the inventory's file, and is listed with the rest.
"""

import getpass
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from crane_core import ledger
from crane_core.domain import AuditAction, AuditEntry
from crane_core.identity.roles import Roles
from crane_core.identity.visitor import Role, Visitor
from crane_core.pipeline.inventory import acts
from crane_core.pipeline.jobs.files import now, sayable
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.sheet_text import csv_text
from crane_core.replica import writer


class Actor(NamedTuple):
    """Who acts, and from where."""

    who: str
    where: str


FILE = "audit.jsonl"
BY, FROM = "CRANE_AUDIT_BY", "CRANE_AUDIT_FROM"
"""Set for a command that the app starts for a visitor: who, and from where."""
THE_FILE = Actor("the roles file", "a file of the server")
"""Who changed a role, where the file was edited."""
NO_ROLE, _TO = "no role", " to "
AT_THE_APP = "somebody at the app"
"""Who did it without logins."""
MOST_CHARACTERS = 300
_ONE_AT_A_TIME = Lock()
_noted: tuple[Path, Roles] | None = None
"""The roles that were compared last: the same file is the same object."""
COLUMNS = ("when", "who", "from", "action", "what", "detail")


VIEWS = "views"
"""The folder of the ledger with all saved views."""
NOTES = "notes.jsonl"
"""The ledger file of tags, comments and corrected diagnoses; an evidence pack leaves out who said what to whom."""


CERTIFICATES = "judge_certificates.jsonl"
"""The ledger file of what is certified about judges."""
PLANS = "plans"
"""The folder of the ledger with registered plans, a file each."""


def is_private(name: str) -> bool:
    """Whether a ledger file, named by its path in the ledger, tells of people and not of what pages compute."""
    return name in (FILE, NOTES) or name.startswith(f"{VIEWS}/")


def is_for_database(name: str) -> bool:
    """Whether the database loads a ledger file; plans are few and are read from their files."""
    is_read_as_it_is = name == CERTIFICATES or name.startswith(f"{PLANS}/")
    return not is_private(name) and not is_read_as_it_is


def audit_file(folder: DataFolder) -> Path:
    """Its ledger file."""
    return folder.ledger / FILE


def note(
    folder: DataFolder,
    actor: Actor,
    action: AuditAction,
    what: str,
    detail: str = "",
) -> None:
    """Write one act to the log and return when it is on the disk. Raises LedgerError.

    A replica writes nothing; what can be done there is to log in and out.
    """
    if not writer():
        ledger.append(audit_file(folder), _entry(actor, action, what, detail))


def _entry(
    actor: Actor, action: AuditAction, what: str, detail: str
) -> AuditEntry:
    who, where, what, detail = (
        _bounded(text) for text in (actor.who, actor.where, what, detail)
    )
    return AuditEntry(now(), who, where, action, what, detail or None)


def note_written(folder: DataFolder, what: str, out: Path) -> None:
    """`note` that a command wrote something for others; out: its file or folder, its name is noted."""
    actor, action = at_the_terminal(), AuditAction.EXPORT
    note(folder, actor, action, what, f"to {out.name}")


def note_roles(folder: DataFolder, roles: Roles, actor: Actor) -> None:
    """Write what differs between the roles and those that the log tells of: people added, changed and removed.

    The file is edited by hand, so that the log names no person: `actor` is who found the change. Raises LedgerError.
    """
    global _noted
    # Two pages that find the change at once would both log it.
    with _ONE_AT_A_TIME:
        if _noted == (folder.path, roles) or writer():
            return
        before, after = _roles_in_log(folder), _roles_of(roles)
        changed = [
            email
            for email in {**before, **after}
            if before.get(email, NO_ROLE) != after.get(email, NO_ROLE)
        ]
        steps = [
            (
                email,
                f"{before.get(email, NO_ROLE)}{_TO}{after.get(email, NO_ROLE)}",
            )
            for email in changed
        ]
        if steps:
            told = [
                _entry(actor, AuditAction.ROLE, email, step)
                for email, step in steps
            ]
            ledger.append(audit_file(folder), *told)
        _noted = (folder.path, roles)


def _roles_of(roles: Roles) -> dict[str, str]:
    of_people = {
        email: str(visitor.role) for email, visitor in roles.people.items()
    }
    return of_people | {
        f"*@{domain}": str(Role.VIEWER) for domain in roles.domains
    }


def _roles_in_log(folder: DataFolder) -> dict[str, str]:
    """Every role as the log leaves it."""
    # Oldest first, so that the last step of a person is the one that counts.
    steps = [
        entry
        for entry in reversed(entries(folder))
        if entry.action is AuditAction.ROLE
    ]
    last = {
        entry.what: (entry.detail or "").rpartition(_TO)[2] for entry in steps
    }
    return {email: role for email, role in last.items() if role != NO_ROLE}


def at_the_terminal() -> Actor:
    """Who runs this command: the user of the machine, or the visitor for whom the app started it."""
    if by := os.environ.get(BY):
        return Actor(by, os.environ.get(FROM, ""))
    try:
        user = getpass.getuser()
    except (
        OSError,
        KeyError,
        ImportError,
    ):  # a container's user may have no name
        user = f"user {os.getuid()}"
    return Actor(user, f"command line of {socket.gethostname()}")


def environment_of(actor: Actor) -> dict[str, str]:
    """What a command gets, so that the log names the visitor for whom it runs."""
    return {BY: actor.who, FROM: actor.where}


def entries(folder: DataFolder) -> list[AuditEntry]:
    """Every act, the newest first. Raises LedgerError if the file was changed, OSError if it cannot be read."""
    file = audit_file(folder)
    noted = ledger.tail(file).records if file.exists() else []
    found = [
        record for record in noted if isinstance(record, AuditEntry)
    ] + list(_of_inventory(folder))
    return sorted(found, key=lambda entry: entry.acted_at, reverse=True)


def _of_inventory(folder: DataFolder) -> Iterator[AuditEntry]:
    for act in acts(folder):
        action = AuditAction(str(act.action))
        yield AuditEntry(
            act.acted_at,
            act.acted_by,
            "",
            action,
            f"{act.kind} {act.name}",
            act.title or act.held,
        )


def rows(found: list[AuditEntry]) -> list[tuple[str, ...]]:
    """The entries as COLUMNS."""
    return [
        (
            entry.acted_at,
            entry.acted_by,
            entry.acted_from,
            str(entry.action),
            entry.what,
            entry.detail or "",
        )
        for entry in found
    ]


def as_csv(found: list[AuditEntry]) -> str:
    """The entries for a spreadsheet, whose cells cannot be formulas."""
    return csv_text([COLUMNS, *rows(found)])


def actor_of(visitor: Visitor, address: str | None) -> Actor:
    """A visitor of the app; without logins visitors have no names."""
    return Actor(visitor.email or AT_THE_APP, address or "this machine")


def _bounded(text: str) -> str:
    return " ".join(sayable(text).split())[:MOST_CHARACTERS]
