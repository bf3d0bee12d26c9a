"""Cells as syntax trees: what IPython adds to Python is replaced line by line, so that line numbers stay.

Knows the spelling of magics, shell lines and help, and which of them may do anything to the namespace. Refuses to run
or expand them.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

UNKNOWN_EFFECT = "__crane_anything__"
"""The name that stands for a line of which nobody knows what it does to the namespace."""

_CELL_MAGIC = re.compile(r"^\s*%%(?P<name>\w+)")
_PYTHON_CELLS = ("time", "timeit", "capture", "prun", "memit")
_OTHER_CELLS = ("bash", "sh", "html", "HTML", "javascript", "js", "latex", "markdown", "svg", "writefile", "script")
_LINE = re.compile(r"^(?P<indent>\s*)(?P<assigned>[\w\s,.\[\]\"']+=\s*)?(?P<mark>%|!)(?P<rest>.*)$")
_HELP = re.compile(r"^(?P<indent>\s*)(\?{1,2}[\w.*%]+|%?[\w.]+\?{1,2})\s*;?$")
_TIMED = re.compile(r"^(?:time|timeit|prun|memit)\b(?P<code>.*)$")
_OPTION = re.compile(r"^\s*-\w+(?:\s+\d+)?")
_ANYTHING = re.compile(r"^(?:run|load|loadpy|pylab|store|reset|reset_selective|xdel|recall|rerun|macro|autoreload)\b")


class CellCode(NamedTuple):
    """The tree of a cell; `error` says why there is none, `line` where. `is_plain`: it is Python as it stands."""

    tree: ast.Module
    error: str = ""
    line: int = 0
    is_plain: bool = True


def read_cell(code: str) -> CellCode:
    try:
        return CellCode(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _without_magics(code)


def _without_magics(code: str) -> CellCode:
    python = _python_of(code)
    try:
        return CellCode(ast.parse(python), is_plain=python == code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        message = str(getattr(error, "msg", "") or error)
        return CellCode(ast.Module([], []), message or type(error).__name__, line, is_plain=python == code)


def _python_of(code: str) -> str:
    lines = code.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if found := _CELL_MAGIC.match(lines[first]):
        if found["name"] not in _PYTHON_CELLS:
            return "pass" if found["name"] in _OTHER_CELLS else UNKNOWN_EFFECT
        lines[first] = ""
    return "\n".join(_python_line(line) for line in lines)


def _python_line(line: str) -> str:
    if helped := _HELP.match(line):
        return helped["indent"] + "pass"
    found = _LINE.match(line)
    if not found:
        return line
    timed = _TIMED.match(found["rest"]) if found["mark"] == "%" else None
    if timed and not found["assigned"]:
        return found["indent"] + (_without_options(timed["code"]) or "pass")
    is_known = found["mark"] == "!" or not _ANYTHING.match(found["rest"])
    return (
        f"{found['indent']}{found['assigned'] or ''}{'...' if is_known and not found['assigned'] else UNKNOWN_EFFECT}"
    )


def _without_options(code: str) -> str:
    while _OPTION.match(code):
        code = _OPTION.sub("", code, count=1)
    return code.strip()
