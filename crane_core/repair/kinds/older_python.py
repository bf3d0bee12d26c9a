"""Code that Python 3 cannot read, where its own message says what to write: Python 2's print, a missing colon."""

import re
from collections.abc import Iterator

from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix

_PRINT = "Missing parentheses in call to 'print'"
_COLON = "expected ':'"
_STATEMENT = re.compile(
    r"(?P<before>\s*)print[ \t]+(?P<what>[^#;>]+?)(?P<after>\s*(?:#.*)?)"
)
_HEADER = re.compile(
    r"(?P<header>\s*(?:if|elif|else|for|while|def|class|with|try|except|finally)\b[^#:]*?)(?P<after>\s*(?:#.*)?)"
)


def propose(site: CrashSite) -> Iterator[Fix]:
    """At a SyntaxError: brackets for statements of Python 2, or the mark that the message names."""
    if site.exception != "SyntaxError" or site.crash.line is None:
        return
    lines = site.source.split("\n")
    number = site.crash.line - 1
    if number >= len(lines):
        return
    if site.message.startswith(_PRINT):
        # Every line with such a statement: Python names the first alone.
        changed = [_with_brackets(line) for line in lines]
        if changed != lines:
            yield Fix(
                "\n".join(changed),
                "Call print with brackets, as Python 3 does.",
            )
    elif site.message.startswith(_COLON):
        header = _HEADER.fullmatch(lines[number])
        if header:
            lines[number] = f"{header['header']}:{header['after']}"
            yield Fix("\n".join(lines), f"End line {number + 1} with a colon.")


def _with_brackets(line: str) -> str:
    found = _STATEMENT.fullmatch(line)
    # A line that goes on below, or ends in the comma that kept Python 2 on the same line, is left.
    if (
        found is None
        or found["what"].endswith((",", "\\"))
        or found["what"].startswith("(")
    ):
        return line
    before, what, after = found.group("before", "what", "after")
    return f"{before}print({what}){after}"
