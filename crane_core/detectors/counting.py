"""Which errors of an analyzer count as the prediction of a crash: what diagnostics.toml says, entry by entry."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("diagnostics.toml")


class Entry(NamedTuple):
    """`rule` "" is what has no rule, None is every other rule; `message` must be found in the message.

    `only_annotated` is for errors that the annotations of the target make, not the notebook.
    """

    rule: str | None
    message: re.Pattern[str] | None
    only_annotated: bool
    counts: bool
    reason: str


@cache
def entries(tool: str) -> tuple[Entry, ...]:
    """The entries of a tool in the order of the file; the first that fits decides."""
    listed = tomllib.loads(FILE.read_text("utf-8"))[tool]
    return tuple(
        Entry(
            entry.get("rule"),
            re.compile(entry["message"]) if "message" in entry else None,
            entry.get("only_annotated", False),
            entry["counts"],
            entry["reason"],
        )
        for entry in listed
    )


def why_not(tool: str, rule: str, message: str, *, is_annotated: bool) -> str | None:
    """Why an error does not count, None if it does."""
    plain = message.replace("\N{NO-BREAK SPACE}", " ")
    for entry in entries(tool):
        if _fits(entry, rule, plain, is_annotated=is_annotated):
            return None if entry.counts else entry.reason
    raise ValueError(f"no entry of {FILE.name} decides about {tool}'s {rule}")


def _fits(entry: Entry, rule: str, message: str, *, is_annotated: bool) -> bool:
    return (
        entry.rule in (None, rule)
        and (entry.message is None or entry.message.search(message) is not None)
        and (is_annotated or not entry.only_annotated)
    )
