"""What the rules check, as tables of the page on the live notebook: written from the rules themselves.

python -m tools.checked_operations [--check]

The tables stand between two marks of docs/engineer/live-notebook.md. Without --check they are written again; with it,
nothing is written, and the exit code is 1 if they differ.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from crane_core.detectors.rules import families  # noqa: E402 - from the checkout, wherever this is started
from crane_core.detectors.rules.family import EVERY_NAME, Family, Key  # noqa: E402
from crane_core.runtime.kernel_side.crane_surrogates.operations import (  # noqa: E402
    CALLS,
    METHODS,
)

PAGE = ROOT / "docs" / "engineer" / "live-notebook.md"
BEGIN, END = (
    "<!-- written by tools/checked_operations.py -->",
    "<!-- end of what is written -->",
)
ASKED = """The library itself is asked about these operations, in a separate sealed process, with stand-ins that have
the same types, shapes and columns and other values. What it raises for every value of that form is certain, so the
exception and its message are the library's own, of the version that the kernel has."""
_EXCEPTION = re.compile(
    r"[A-Z]\w*(?:Error|StopIteration|Exception)|StopIteration"
)
_IN = "\0"
"""Between a class and one of its names."""
_STEPS = {
    "attribute": "attributes",
    "set_attribute": "attributes that are set",
    "item": "`x[...]`",
    "set_item": "`x[...] = y`",
    "del_item": "`del x[...]`",
    "element": "iteration",
    "elements": "iteration",
    "truth": "truth of a value",
    "key": "keys of dicts and sets",
    "format": "formatting",
    "missing": "what is missing",
}
"""Kinds of steps in words; calls, methods and operators are named one by one."""


def page_with_tables(text: str) -> str:
    """The page with what stands between the marks written again. Raises ValueError if it lacks them."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} lacks its marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}"


def tables() -> str:
    """Both tables, as Markdown."""
    rules = ["| library | operations | exceptions |", "|---|---|---|"]
    for family, module in _families():
        operations = "; ".join(_operations(family))
        rules.append(
            f"| {family.name} | {operations} | {', '.join(sorted(_exceptions(module))) or 'as the library names it'} |"
        )
    methods = _methods_by_library()
    asked = [
        f"| {library} | {len(CALLS.get(library, ())):,} | {len(methods.get(library, ())):,} |"
        for library in sorted(set(CALLS) | set(methods))
    ]
    head = [
        "| library | functions and classes | methods of its objects |",
        "|---|--:|--:|",
    ]
    return "\n".join([*rules, "", ASKED, "", *head, *asked])


def _families() -> Iterator[tuple[Family, ModuleType]]:
    found = []
    for entry in pkgutil.iter_modules(families.__path__):
        module = importlib.import_module(f"{families.__name__}.{entry.name}")
        if isinstance(rules := getattr(module, "RULES", None), Family):
            found.append((rules, module))
    return iter(sorted(found, key=lambda pair: pair[0].name.lower()))


def _operations(family: Family) -> Iterator[str]:
    named: dict[str, list[str]] = defaultdict(list)
    for key in family.rules:
        named[_kind(key)].append(_name(key))
    for kind, names in named.items():
        listed = ", ".join(
            _by_class(dict.fromkeys(name for name in names if name))
        )
        yield f"{kind}: {listed}" if listed else kind


def _by_class(names: Iterable[str]) -> Iterator[str]:
    """`numpy.ndarray (dot, astype)`: the names of a class behind it; what has none stands alone."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        of, _, last = name.partition(_IN)
        found[of] += [last] if last else []
    return (
        f"`{of}`" + (f" (`{', '.join(members)}`)" if members else "")
        for of, members in found.items()
    )


def _kind(key: Key) -> str:
    if key.step in ("call", "method", "operator"):
        return {"call": "calls", "method": "methods", "operator": "operators"}[
            key.step
        ]
    return _STEPS[key.step]


def _name(key: Key) -> str:
    of = (
        ""
        if key.of == "*"
        else key.of.removeprefix("builtins.").replace("|", "\\|")
    )
    name = key.name.replace("|", "\\|")
    match key.step:
        case "call" | "missing":
            return of
        case "operator":
            return "" if name == EVERY_NAME else name
        case "method" | "attribute" if name != EVERY_NAME:
            return f"{of or 'any value'}{_IN}{name}"
    return of


def _exceptions(module: ModuleType) -> set[str]:
    """Names of exceptions that a family's rules say: in its own code, and in what it takes from its neighbours."""
    tree = ast.parse(inspect.getsource(module))
    found = _said(tree)
    for name, taken in _taken(tree).items():
        neighbour = ast.parse(inspect.getsource(importlib.import_module(name)))
        for part in neighbour.body:
            if isinstance(part, ast.FunctionDef) and part.name in taken:
                found |= _said(part)
    return found


def _taken(tree: ast.Module) -> dict[str, set[str]]:
    """Neighbours by their full names, each with what is taken of it: imported by name, or reached by the module's."""
    package = families.__name__
    taken: dict[str, set[str]] = defaultdict(set)
    neighbours: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        names = {alias.name for alias in node.names}
        if node.module == package:
            neighbours |= names
        elif (node.module or "").startswith(f"{package}."):
            taken[str(node.module)] |= names
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name(name), member) if name in neighbours:
                taken[f"{package}.{name}"].add(member)
    return taken


def _said(tree: ast.AST) -> set[str]:
    """Exceptions that are told to crash; where the name is computed, all that the code spells."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if not (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", getattr(node.func, "id", ""))
            in _CRASHES
        ):
            continue
        spelled = _spelled(node.args[0]) if node.args else set()
        found |= spelled or _spelled(tree)
    return found


_CRASHES = ("crash", "Crash")


def _spelled(tree: ast.AST) -> set[str]:
    texts = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return {text for text in texts if _EXCEPTION.fullmatch(text)}


def _methods_by_library() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for of, names in METHODS.items():
        found[of.partition(".")[0]] |= {f"{of}.{name}" for name in names}
    return found


def main() -> int:
    """Write the tables, or say that they are not current."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit 1 if the page is not current",
    )
    written = PAGE.read_text("utf-8")
    current = page_with_tables(written)
    if options.parse_args().check:
        if written != current:
            print(
                f"{PAGE.relative_to(ROOT)} is not current: run python -m tools.checked_operations",
                file=sys.stderr,
            )
        return int(written != current)
    PAGE.write_text(current, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
