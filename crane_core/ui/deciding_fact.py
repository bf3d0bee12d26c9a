"""The fact of a kernel's state that decides a crash, where it is one of a missing name: "df has no column 'x'".

Knows the state that was given to a detector and the line that raises.
Refuses to guess: without such a fact it says nothing.
"""

import ast
from collections.abc import Iterator
from html import escape
from typing import Any

from crane_core.prompts.tagged_json import decode
from crane_core.ui.state_columns import column_names
from crane_core.ui.state_facts import absent_facts, documents, entries
from crane_core.ui.words import count, shortened

MOST_COLUMNS = 12
LONGEST_NAME = 40
"""Columns that are named, and letters of a name: the sentence has a third of a row."""


def deciding_fact(code: str, line: int | None, state: str | None) -> str:
    """A sentence in HTML about what the line needs and the state lacks; empty if nothing is known to be missing.

    line: of the target cell, from 1; None searches the whole cell. state: the JSON text of a KernelState.
    """
    document = documents(state)
    known = entries(document)
    for name, column in _columns_read(code, line):
        columns = column_names(known.get(name))
        if _is_whole(known.get(name), columns) and column not in columns:
            return _missing_column(name, column, columns)
    absent = [what for _, what in absent_facts(document)]
    return f"The kernel has no {escape(absent[0])}." if absent else ""


def _columns_read(code: str, line: int | None) -> Iterator[tuple[str, str]]:
    """Each `name["column"]` that the line reads, as name and column."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a magic of IPython, which no missing column explains
        return
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(
                value=ast.Name(id=name),
                slice=ast.Constant(value=str(column)),
                ctx=ast.Load(),
            ) if line in (None, node.lineno):
                yield name, column


def _is_whole(entry: Any, columns: list[str]) -> bool:
    """Whether the entry tells every column: a state may leave out those beyond a limit."""
    if not columns:
        return False
    shape = decode(entry.get("structure", {}).get("shape"))
    return isinstance(shape, tuple) and shape[1:] == (len(columns),)


def _missing_column(name: str, column: str, columns: list[str]) -> str:
    named = ", ".join(
        escape(shortened(one, LONGEST_NAME)) for one in columns[:MOST_COLUMNS]
    )
    more = ", …" if len(columns) > MOST_COLUMNS else ""
    missing = escape(shortened(column, LONGEST_NAME))
    return (
        f"<b><code>{escape(name)}</code> has no column “{missing}”.</b> "
        f"Its {count(len(columns))} columns: {named}{more}."
    )
