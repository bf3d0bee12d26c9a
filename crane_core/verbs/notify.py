"""`notify`: the channels on which people hear of jobs and campaigns: add, list, try and remove them."""

import argparse
import sys
from typing import TypeAlias

from crane_core import arguments
from crane_core.annotation.plan import NAME as PERSON
from crane_core.arguments import add, flag, option
from crane_core.domain import AuditAction
from crane_core.errors import NotificationError
from crane_core.pipeline.audit import at_the_terminal, note
from crane_core.pipeline.notifications import channels, sending
from crane_core.pipeline.places import DataFolder
from crane_core.spelling import did_you_mean
from crane_core.terminal import as_typed, give_either, in_columns, tell

NAME = "notify"
HELP = "notify people by mail, Slack, Teams or webhook when a job or a campaign is done (add, list, test, remove)"
EXAMPLE = """python -m crane_core notify add team jsons://chat.lab.example/hook --on job-ended,budget-reached
         python -m crane_core notify add ana - --on flag-answered --for ana
         python -m crane_core notify test team
         python -m crane_core notify list"""
MORE = """An address is one of Apprise (`pip install '.[notify]'`) and holds a secret: it is stored in a file of the
data folder that only its owner can open, and is not shown again. With - it is read from the standard input, so that it
stays out of the shell's history."""
FROM_INPUT = "-"
Actions: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the actions of `notify` and what each of them takes."""
    actions = verb.add_subparsers(
        dest="action", required=True, metavar="ACTION"
    )
    named = option("name NAME", "the channel", arguments.name)
    _action(
        actions,
        "add",
        "add a channel, without sending anything",
        option("name NAME", "a name for the channel", arguments.name),
        option("url URL", "its address; -: read it from the standard input"),
        option(
            "--on EVENTS",
            f"events to send to it, with commas (default: all of {','.join(channels.EventKind)})",
            _kinds,
            default=tuple(channels.EventKind),
        ),
        option(
            "--for PERSON",
            "whose channel it is, as campaigns call them: of flags, it hears of theirs only (default: a group's)",
            _person,
            dest="person",
        ),
    )
    _action(
        actions,
        "list",
        "list the channels, their addresses masked",
        flag("--json", "print the list as JSON to stdout"),
    )
    _action(actions, "test", "send a message now, and tell how it went", named)
    _action(actions, "remove", "remove a channel", named)


def _action(
    actions: Actions, name: str, help_: str, *options: arguments.Option
) -> None:
    action = actions.add_parser(name, help=help_, description=help_)
    add(action, arguments.DATA_ANYWHERE, *options)


def _kinds(text: str) -> tuple[channels.EventKind, ...]:
    known = [str(kind) for kind in channels.EventKind]
    wanted = arguments.names(text)
    for name in wanted:
        if name not in known:
            meant = did_you_mean(name, known)
            of_these = f"; choose from {', '.join(known)}"
            raise argparse.ArgumentTypeError(
                f"{name[:40]!r} is not an event{meant or of_these}"
            )
    return tuple(channels.EventKind(name) for name in wanted)


def _person(text: str) -> str:
    if not PERSON.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not a person as campaigns call them: use 1 to 40 of a-z, 0-9, dot, dash and underscore"
        )
    return text


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Add, list, try or remove channels; returns 0. Raises NotificationError."""
    match chosen.action:
        case "add":
            _add(chosen, folder)
        case "list":
            found = list(channels.channels(folder).values())
            give_either(
                [_document(one) for one in found],
                _words(found),
                as_json=chosen.json,
            )
        case "test":
            channel = channels.channel_named(folder, chosen.name)
            sending.send(
                channel,
                sending.Message(
                    "Crane Workbench: test",
                    f"This is a test of the channel {channel.name}.",
                ),
            )
            tell(f"{channel.service} has accepted a message to {channel.name}")
        case "remove":
            removed = channels.remove_channel(folder, chosen.name)
            _note(folder, f"removed channel {removed.name}", removed)
            tell(f"removed {removed.name} ({removed.service})")
    return 0


def _add(chosen: argparse.Namespace, folder: DataFolder) -> None:
    channels.check_channel_name(chosen.name)
    url = _url(chosen.url)
    channel = channels.Channel(
        name=chosen.name,
        url=url,
        service=sending.service_of(url),
        kinds=frozenset(chosen.on),
        person=chosen.person,
    )
    channels.add_channel(folder, channel)
    _note(folder, f"added channel {channel.name}", channel)
    try_it = as_typed(f"`notify test {channel.name}`")
    tell(f"added {channel.name} ({channel.service}); try it: {try_it}")


def _url(given: str) -> str:
    if given != FROM_INPUT:
        return given.strip()
    if sys.stdin.isatty():
        tell("paste the address, then press Enter")
    line = sys.stdin.readline(channels.MOST_LETTERS + 2).strip()
    if not line:
        raise NotificationError(
            "The standard input has no address.",
            remedy="Pass it: `notify add NAME - < address.txt`.",
        )
    return line


def _note(folder: DataFolder, what: str, channel: channels.Channel) -> None:
    detail = f"{channel.service}, {', '.join(channel.listed_kinds)}"
    whose = f", of {channel.person}" if channel.person else ""
    note(folder, at_the_terminal(), AuditAction.NOTIFY, what, detail + whose)


def _document(channel: channels.Channel) -> dict[str, object]:
    return {
        "name": channel.name,
        "address": channel.masked,
        "events": channel.listed_kinds,
        "for": channel.person,
    }


def _words(found: list[channels.Channel]) -> str:
    """A line per channel, in columns."""
    rows = [
        (
            one.name,
            one.masked,
            ",".join(one.listed_kinds) or "no event",
            f"for {one.person}" if one.person else "",
        )
        for one in found
    ]
    return "\n".join(in_columns(rows)) if rows else "no channels"
