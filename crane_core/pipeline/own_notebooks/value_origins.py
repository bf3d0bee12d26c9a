"""Where the values that a finding is about come from: the cell that assigned a name last, and those that changed it.

Reads the code of the cells alone. Refuses to say where a value comes from that a function changed out of sight.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from crane_core.domain import JsonObject
from crane_core.notebooks import CodeCell
from crane_core.pipeline.own_notebooks.check import CheckedNotebook
from crane_core.repair.changed_names import assigns, changes

_UNDEFINED = re.compile(r"name '(?P<name>\w+)' is not defined")
_ASKING = re.compile(r"\A\s*%%crane\b.*\n")
MOST_NAMES = 3
MOST_CHANGES = 5


def with_origins(
    found: Sequence[Mapping[str, Any]],
    checked: CheckedNotebook,
    *,
    is_live: bool,
) -> list[JsonObject]:
    """The findings, each with `origin`: a sentence part per name, empty where no cell names it.

    Where the cells of an open notebook tell how a missing name gets its value, that is the remedy.
    With `is_live` cells are called as an open notebook shows them, `In [3]`, else by their number from 0.
    """
    plan = checked.plan
    later = [
        cell
        for cell in plan.cells
        if cell not in plan.executed and cell is not plan.target
    ]
    told = [
        {
            **finding,
            "origin": _origin(finding, plan.executed, later, is_live=is_live),
        }
        for finding in found
    ]
    return (
        [{**finding, "remedy": _remedy(finding, checked)} for finding in told]
        if is_live
        else told
    )


def _remedy(finding: Mapping[str, Any], checked: CheckedNotebook) -> str:
    """Of a name that is not defined: the cell to run first, of those that have not run or whose value is gone."""
    undefined = _UNDEFINED.fullmatch(str(finding["message"]))
    usual = str(finding["remedy"])
    if finding["exception"] != "NameError" or undefined is None:
        return usual
    name = undefined["name"]
    for cell in checked.not_run:
        if assigns(cell.source, name):
            return f"Run code cell {cell.index} of the saved notebook first (counted from 0): it assigns {name}."
    for cell in reversed(checked.plan.executed):
        if assigns(cell.source, name):
            return (
                f"Run {_called(cell, is_live=True)} again: it assigns {name}."
            )
    return usual


def not_run(
    cells: Sequence[CodeCell], ran: Sequence[str], target: str
) -> tuple[CodeCell, ...]:
    """The cells of a notebook file that are neither the target nor among the sources that its kernel has run."""
    known = {source.strip() for source in (*ran, target)}
    return tuple(
        cell for cell in cells if without_magic(cell.source) not in known
    )


def without_magic(source: str) -> str:
    """A cell's source below a `%%crane` above it, without blanks around it."""
    return _ASKING.sub("", source).strip()


def evidence(finding: Mapping[str, Any]) -> str:
    """The fact and the origin, as every face shows them."""
    return "; ".join(
        filter(None, (str(finding["fact"]), finding.get("origin")))
    )


def _origin(
    finding: Mapping[str, Any],
    ran: Sequence[CodeCell],
    others: Sequence[CodeCell],
    *,
    is_live: bool,
) -> str:
    told = [
        _of_name(name, ran, others, is_live=is_live)
        for name in _names(str(finding["expression"]))[:MOST_NAMES]
    ]
    return "; ".join(filter(None, told))


def _names(expression: str) -> list[str]:
    """The names of an expression, in their order."""
    try:
        tree = ast.parse(expression.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    found.sort(key=lambda node: (node.lineno, node.col_offset))
    return list(dict.fromkeys(node.id for node in found))


def _of_name(
    name: str,
    ran: Sequence[CodeCell],
    others: Sequence[CodeCell],
    *,
    is_live: bool,
) -> str:
    assigning = [
        place for place, cell in enumerate(ran) if assigns(cell.source, name)
    ]
    if not assigning:
        unrun = [
            _called(cell, is_live=is_live)
            for cell in others
            if assigns(cell.source, name)
        ][:MOST_CHANGES]
        return (
            f"{name} is assigned in {', '.join(unrun)}, not run before this cell"
            if unrun
            else ""
        )
    changed = [
        _called(cell, is_live=is_live)
        for cell in ran[assigning[-1] + 1 :]
        if changes(cell.source, name)
    ]
    later = (
        f", changed in {', '.join(changed[-MOST_CHANGES:])}" if changed else ""
    )
    return f"{name} was assigned in {_called(ran[assigning[-1]], is_live=is_live)}{later}"


def _called(cell: CodeCell, *, is_live: bool) -> str:
    return (
        f"In [{cell.execution_count}]" if is_live else f"code cell {cell.index}"
    )
