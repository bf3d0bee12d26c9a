"""A function of Python that a variable of the notebook hides: call Python's own."""

import ast
import builtins
import re
from collections.abc import Iterator

from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix

_NOT_CALLABLE = re.compile(r"'(?P<kind>\w+)' object is not callable")


def propose(site: CrashSite) -> Iterator[Fix]:
    """At the call of a variable that hides a function of Python: Python's own."""
    refused = _NOT_CALLABLE.match(site.message)
    if site.exception != "TypeError" or refused is None:
        return
    names = {
        node.id
        for node in _called_names(site.here(ast.Call))
        if _is_hidden(site, node, refused["kind"])
    }
    if len(names) == 1:
        yield _with_own(site, names.pop())


def _with_own(site: CrashSite, name: str) -> Fix:
    """The target with Python's own function of the name."""
    edits = [
        site.replaced(node, f"builtins.{name}")
        for node in _called_names(site.anywhere(ast.Call))
        if node.id == name
    ]
    where = ""
    for cell in site.ran:
        if cell.binds(name):
            where = f" in {cell.called}"
    return site.with_import(
        "import builtins",
        f"Call Python's own {name}: builtins.{name}; the name was given another value{where}.",
        *edits,
    )


def _called_names(calls: list[ast.Call]) -> list[ast.Name]:
    return [call.func for call in calls if isinstance(call.func, ast.Name)]


def _is_hidden(site: CrashSite, node: ast.Name, kind: str) -> bool:
    """Whether it is a function of Python by name, and a value of this class in the kernel."""
    variable = site.variable(node)
    own = getattr(builtins, node.id, None)
    if variable is None or not callable(own):
        return False
    _, _, class_name = variable.type.rpartition(".")
    return class_name.strip("'<>") == kind
