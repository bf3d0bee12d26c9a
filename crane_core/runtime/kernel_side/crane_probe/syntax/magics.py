"""Cells as Python: what IPython adds to the language is replaced line by line, so that line numbers stay.

Knows the spelling of magics, shell lines and help. Refuses to run or expand them.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

_CELL_MAGIC = re.compile(r"^\s*%%(\w+)")
_PYTHON_CELLS = (
    "time",
    "timeit",
    "capture",
    "prun",
    "python",
    "python3",
    "px",
    "memray_flamegraph",
    "mprun",
)
"""Cell magics whose body is Python run in this kernel; the body of any other (bash, html, writefile...) is not."""
# These run their body in a new process, which has none of the notebook's names.
_OTHER_PROCESS = ("python", "python3")
# Assignments too: `files = !ls` and `x = %timeit -o f()`.
_LINE = re.compile(
    r"^(?P<indent>\s*)(?P<assigned>[\w\s,.\[\]\"']+=\s*)?(?P<mark>%|!)(?P<rest>.*)$"
)
# `?name`, `name??`: help, which evaluates nothing.
_HELP = re.compile(r"^(?P<indent>\s*)(\?{1,2}[\w.*%]+|[\w.]+\?{1,2})\s*;?$")
_TIMED = re.compile(r"^(?:time|timeit|prun|mprun|memit|lprun)\b(?P<code>.*)$")
_OPTION = re.compile(r"^\s*-\w+(?:\s+\d+)?")
# Braces that are doubled are the shell's own.
_NAME_IN_SHELL = re.compile(
    r"(?<!\{)\{(?P<braced>[^{}]+)\}|\$(?P<bare>[A-Za-z_]\w*)"
)
_PROMPTS = (
    (re.compile(r"^>>>( |$)"), re.compile(r"^(?:>>>|\.\.\.)(?: |$)")),
    (
        re.compile(r"^In \[\d+\]: "),
        re.compile(r"^(?:In \[\d+\]: |\s*\.{3,}: ?)"),
    ),
)
"""By what a pasted session of Python and of IPython begins, and what begins its lines."""


class Parsed(NamedTuple):
    """The syntax tree of a cell; where it is not Python, an empty tree with the line and the message of the error."""

    tree: ast.Module
    error: str = ""
    line: int = 0


def parsed(code: str) -> Parsed:
    """The cell's tree. Plain Python is parsed as it is; else with magics replaced."""
    # Plain Python first: `a %b` at the start of a line is an expression, not a magic.
    try:
        return Parsed(ast.parse(code))
    # ValueError: a cell may hold a null byte.
    except (SyntaxError, ValueError):
        return _parsed_without_magics(code)
    # A cell of thousands of brackets: the parser gives up, the look does not.
    except (RecursionError, MemoryError) as error:
        return Parsed(ast.Module([], []), type(error).__name__, 0)


def _parsed_without_magics(code: str) -> Parsed:
    try:
        return Parsed(ast.parse(python_of(code)))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 0
        return Parsed(
            ast.Module([], []), str(getattr(error, "msg", error)), line
        )
    except (RecursionError, MemoryError) as error:
        return Parsed(ast.Module([], []), type(error).__name__, 0)


def python_of(code: str) -> str:
    """The cell with its magics replaced by the Python that they run, or by nothing; one line stays one line."""
    # In IPython's own order: indent, then prompts, then magics.
    lines = _without_prompts(_without_indent(code.split("\n")))
    first = next(
        (number for number, line in enumerate(lines) if line.strip()), 0
    )
    cell_magic = _CELL_MAGIC.match(lines[first])
    if cell_magic:
        name = cell_magic.group(1)
        if name not in _PYTHON_CELLS or name in _OTHER_PROCESS:
            # As many lines as before, so that a line number stays that of the cell.
            return "\n" * (len(lines) - 1)
        lines[first] = ""
    return "\n".join(_python_line(line) for line in lines)


def _without_indent(lines: list[str]) -> list[str]:
    """As IPython does, the indent of the first line is taken from all that have it."""
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    return [
        line[len(indent) :] if line.startswith(indent) else line
        for line in lines
    ]


def _without_prompts(lines: list[str]) -> list[str]:
    """Without the prompts of a session that was pasted."""
    first = next((line for line in lines if line.strip()), "")
    for begins, each in _PROMPTS:
        if begins.match(first):
            return [each.sub("", line, count=1) for line in lines]
    return lines


def _python_line(line: str) -> str:
    helped = _HELP.match(line)
    if helped:
        # `pass` keeps the block in which the line is.
        return helped.group("indent") + "pass"
    found = _LINE.match(line)
    if not found:
        return line
    indent, assigned, rest = (
        found.group("indent"),
        found.group("assigned") or "",
        found.group("rest"),
    )
    # `%time x = f()` runs its line as Python; `!time x` does not.
    timed = _TIMED.match(rest) if found.group("mark") == "%" else None
    code = without_options(timed.group("code")) if timed else _shell_names(rest)
    if assigned:
        # What a shell line gives is a list of texts: unknown, but bound.
        return f"{indent}{assigned}{code or None}"
    return f"{indent}{code or 'pass'}"


def without_options(code: str) -> str:
    """The code of a magic that times it, without the options before it: `%timeit -n 10 -r 3 f(x)`."""
    while _OPTION.match(code):
        code = _OPTION.sub("", code, count=1)
    return code.strip()


def _shell_names(rest: str) -> str:
    """What a shell line or a magic takes from the namespace: `{expression}` and `$name`, as a tuple."""
    codes = [
        found.group("braced") or found.group("bare")
        for found in _NAME_IN_SHELL.finditer(rest)
    ]
    return (
        # A tuple, so that each name is loaded and nothing is called.
        "(" + ", ".join(code for code in codes if _is_expression(code)) + ",)"
        if any(map(_is_expression, codes))
        else ""
    )


def _is_expression(code: str) -> bool:
    try:
        ast.parse(code.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True
