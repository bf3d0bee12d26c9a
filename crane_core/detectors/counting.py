"""Which errors of an analyzer count as the prediction of a crash: what diagnostics.toml says, entry by entry."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("diagnostics.toml")


class CountedRule(NamedTuple):
    """`rule` "" is what has no rule, None is every other rule; `message` must be found in the message.

    `only_annotated` is for errors that the annotations of the target make, not the notebook.
    """

    counts: bool
    reason: str
    rule: str | None = None
    message: str | None = None
    only_annotated: bool = False


@cache
def entries(tool: str) -> tuple[CountedRule, ...]:
    """The entries of a tool in the order of the file; the first that fits decides."""
    return tuple(
        CountedRule(**entry)
        for entry in tomllib.loads(FILE.read_text("utf-8"))[tool]
    )


def why_not(
    tool: str, rule: str, message: str, *, is_annotated: bool
) -> str | None:
    """Why an error does not count, None if it does."""
    # pyright writes no-break spaces into some messages: "Unindent\u00a0not expected".
    plain = message.replace("\N{NO-BREAK SPACE}", " ")
    for entry in entries(tool):
        fits = entry.rule in (None, rule) and (
            entry.message is None or re.search(entry.message, plain)
        )
        if fits and (is_annotated or not entry.only_annotated):
            return None if entry.counts else entry.reason
    raise ValueError(f"no entry of {FILE.name} decides about {tool}'s {rule}")
