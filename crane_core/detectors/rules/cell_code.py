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


_BARE_WORDS = (
    "pip conda mamba uv ls ll la lf lk ldir lx cd pwd cat cp mv rm mkdir rmdir man less more alias who whos time "
    "timeit run load env set_env history hist edit save logstart matplotlib pylab precision reset store unalias"
)
_BARE = frozenset(_BARE_WORDS.split())
_MISPLACED = ("'return' outside function", "'break' outside loop", "'continue' not properly in loop")


class CellCode(NamedTuple):
    """The tree of a cell; `error` says why there is none, `line` where. `is_plain`: it is Python as it stands.

    `is_no_python` is True where every Python says so, not only that our own cannot read it.
    """

    tree: ast.Module
    error: str = ""
    line: int = 0
    is_plain: bool = True
    is_no_python: bool = False


def read_cell(code: str) -> CellCode:
    try:
        return _placed(CellCode(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _without_magics(code)


def _placed(read: CellCode) -> CellCode:
    """A `return` or `break` where none may stand is noticed only when the tree is compiled."""
    if not any(isinstance(node, (ast.Return, ast.Break, ast.Continue)) for node in ast.walk(read.tree)):
        return read
    try:
        compile(read.tree, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        if error.msg.startswith(_MISPLACED):
            return CellCode(ast.Module([], []), error.msg, error.lineno or 0, is_no_python=True)
    return read


def _without_magics(code: str) -> CellCode:
    python = _python_of(code)
    try:
        return CellCode(ast.parse(python), is_plain=python == code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        message = str(getattr(error, "msg", "") or error)
        is_plain = python == code
        is_sure = (
            is_plain and isinstance(error, SyntaxError) and not _is_newer(message, code, line) and not bare_magics(code)
        )
        return CellCode(ast.Module([], []), message or type(error).__name__, line, is_plain, is_sure)


def _is_newer(message: str, code: str, line: int) -> bool:
    """Whether a later Python may read what ours cannot: f-strings, `type` statements, type parameters."""
    lines = code.split("\n")
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    begins = text.startswith(("type ", "except", "def ", "class "))
    return begins or "f-string" in message or "f'" in text or 'f"' in text


def bare_magics(code: str) -> frozenset[str]:
    """Magics that lines may begin with although they have no mark, as IPython takes `pip install x` and `ls -l`."""
    return _BARE & {line.split(None, 1)[0] for line in code.split("\n") if line.strip()}


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
