"""`sessions`: who is logged in, from when and from where; with --end, end one of them."""

import argparse
from dataclasses import asdict
from datetime import UTC, datetime

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import AuditAction
from crane_core.identity import logins
from crane_core.pipeline.audit import at_the_terminal, note
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give_either, tell

NAME = "sessions"
HELP = "list who is logged in, from when and from where, or end one of these sessions"
EXAMPLE = "python -m crane_core sessions --end 3f9a61c2b7d0"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the session to end, if any, and the output form."""
    add(
        verb,
        option(
            "--end ID",
            "end the session with this id, as listed",
            arguments.name,
        ),
        flag("--json", "print the list as JSON to stdout"),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """List who is logged in, or end one session; returns 0. Raises IdentityError if there is no such session."""
    if chosen.end:
        login = logins.end_session(folder.path, chosen.end)
        note(
            folder,
            at_the_terminal(),
            AuditAction.END_SESSION,
            login.email,
            f"open since {moment(login.since)}",
        )
        tell(
            f"The session of {login.email} since {moment(login.since)} has ended; invited again, they can come back."
        )
        return 0
    found = logins.open_sessions(folder.path)
    document = [
        {"id": name[: logins.ID_LETTERS], **asdict(login)}
        for name, login in found.items()
    ]
    lines = [session_line(name, login) for name, login in found.items()]
    words = "\n".join(lines) or "nobody is logged in"
    give_either(document, words, as_json=chosen.json)
    return 0


def session_line(name: str, login: logins.Login) -> str:
    """One session for people to read; the id comes first, for `--end`."""
    id_ = (
        name[: logins.ID_LETTERS] if login.can_end else "-" * logins.ID_LETTERS
    )
    return (
        f"{id_}  {login.email}, by {login.way} from {login.address}, since {moment(login.since)}, "
        f"last seen {moment(login.seen)}"
    )


def moment(at: float) -> str:
    """Seconds since 1970 as people read them."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
