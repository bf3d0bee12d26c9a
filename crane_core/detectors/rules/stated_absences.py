"""What the state says that the target needs and will not find, as far as that still holds where it is needed.

Knows that a statement may itself change what it lacks, and that Python reads a statement from left to right.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any

from crane_core.detectors.rules.memory import Memory
from crane_core.runtime.kernel_side.crane_probe.syntax.names import arguments_of

_WORD = re.compile(r"[A-Za-z_]\w*")
_RUNS_THROUGH = frozenset(
    f"builtins.{name}" for name in ("list", "next", "set", "sorted", "tuple")
)
StatedAbsence = tuple[str, Mapping[str, Any]]
"""A group of what may be missing ("names", "files", "modules"), and the fact about it."""


def absences_at(memory: Memory, node: ast.stmt) -> list[StatedAbsence]:
    """What is missing at this statement, in objects that are as they were.

    Checked before the statement runs, which may change the object after it has needed it.
    """
    # Modules are not installed by a thread, so they are missing beside other code too.
    is_restless_start = memory.is_restless and memory.is_as_begun
    if memory.is_unsure_of_names and not is_restless_start:
        return []
    return [
        (group, fact)
        for group, fact in memory.initial.absent_at(node)
        if _may_last(memory, group) and _is_as_stated(memory, node, fact)
    ]


def _may_last(memory: Memory, group: str) -> bool:
    """Whether no other code may provide what is missing; modules are not installed by a thread."""
    if group == "files" and memory.initial.session.are_files_changing:
        return False
    return group == "modules" or not memory.is_restless


def _is_as_stated(
    memory: Memory, node: ast.stmt, fact: Mapping[str, Any]
) -> bool:
    of = str(fact.get("of", ""))
    asked_by = str(fact.get("asked_by", ""))
    # A part is as stated only while its whole is: `df` of `df.groupby('a').iplot`.
    names = [*_WORD.findall(of)[:1], *_WORD.findall(asked_by)[:1]]
    if not all(map(memory.is_untouched, names)):
        return False
    if any(map(memory.initial.unseen.touches, names)):
        return False
    # A frame that was given another `__getitem__` may find what it has no column for.
    changed = memory.initial.changed
    if changed and any(
        memory.initial.value(name).package in changed for name in names
    ):
        return False
    if of.isidentifier():
        return True
    # Nothing was changed before the first statement.
    is_first = node is memory.initial.target.tree.body[0]
    if any(map(memory.initial.doubled, names)):
        # `rows[0].append(1) or rows[1][0]` changes both rows within one statement.
        return is_first and not _calls_anything(node)
    if is_first:
        return True
    # What a part was taken from says the same of itself after the part was changed, by whatever name.
    if not all(map(memory.is_wholly_untouched, memory.initial.held)):
        return False
    return all(
        memory.are_parts_as_found(name)
        for name in names
        if name in memory.loaded
    )


def _calls_anything(node: ast.stmt) -> bool:
    return any(isinstance(each, ast.Call) for each in ast.walk(node))


def path_of_reader(
    memory: Memory, node: ast.stmt, fact: Mapping[str, Any]
) -> str:
    """The path of the function to which a statement passes the name of a file; "" if it is not known."""
    by = str(fact.get("by", ""))
    if by.endswith(".iterdir") and not _are_listed(memory, node):
        return ""
    if by.startswith("pathlib."):
        return by
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    for call in calls:
        # `open(path)` spells no file: the state says by which call it is opened.
        if by and ast.unparse(call.func) == by:
            known = memory.known_name(call.func)
            return known.path if known is not None else ""
    for call in calls:
        texts = [
            part.value
            for part in arguments_of(call)
            if isinstance(part, ast.Constant)
        ]
        if fact.get("file") in texts:
            known = memory.known_name(call.func)
            return known.path if known is not None else ""
    return ""


def _are_listed(memory: Memory, node: ast.stmt) -> bool:
    """Whether each `path.iterdir()` of a statement is run through at once.

    Until Python 3.13 it makes a generator, which looks for the folder at its first turn.
    """
    run_through: set[ast.AST] = set()
    for part in ast.walk(node):
        match part:
            case ast.For(iter=listed):
                run_through.add(listed)
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                run_through.add(part.generators[0].iter)
            case ast.Call(func=function, args=[listed, *_]):
                known = memory.known_name(function)
                if known is not None and known.path in _RUNS_THROUGH:
                    run_through.add(listed)
    return all(
        part in run_through
        for part in ast.walk(node)
        if isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "iterdir"
    )


def is_met_before(
    node: ast.stmt, fact: Mapping[str, Any], place: ast.AST | None
) -> bool:
    """Whether a dotted name of which the state knows a part to be missing is read before a place in its statement."""
    wanted = f"{fact.get('of')}.{fact.get('attribute')}"
    met = [
        part
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load)
    ]
    return any(
        ast.unparse(part) == wanted and _position(part) < _position(place)
        for part in met
    )


def _position(node: ast.AST | None) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
