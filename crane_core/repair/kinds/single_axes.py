"""One panel where the code expects several: `subplots` returns an Axes alone, unless it keeps the array."""

import ast
import re
from collections.abc import Iterator

from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix

_ALONE = re.compile(
    r"'Axes(?:Subplot)?' object is not (?:iterable|subscriptable)"
)
_TAKES_ALL = ("zip", "enumerate", "list", "iter")


def propose(site: CrashSite) -> Iterator[Fix]:
    """`squeeze=False` keeps the array also for one panel, and `.flat` its panels in a row, as matplotlib documents."""
    if site.exception != "TypeError" or not _ALONE.match(site.message):
        return
    made = [
        each for node in site.anywhere(ast.Assign) if (each := _panels(node))
    ]
    # Made in an earlier cell, it would have to be changed there.
    if len(made) != 1:
        return
    [(name, call)] = made
    if any(keyword.arg == "squeeze" for keyword in call.keywords):
        return
    yield site.fix(
        "Keep the array of panels: squeeze=False, and .flat.",
        site.with_argument(call, "squeeze=False"),
        *(site.after(node, ".flat") for node in _uses(site, name)),
    )


def _panels(node: ast.Assign) -> tuple[str, ast.Call] | None:
    """`axes` and the call of `fig, axes = plt.subplots(...)`; None for any other statement."""
    match node:
        case ast.Assign(
            targets=[ast.Tuple(elts=[_, ast.Name(id=name)])],
            value=ast.Call(func=ast.Attribute(attr="subplots")) as call,
        ):
            return name, call
    return None


def _uses(site: CrashSite, name: str) -> list[ast.Name]:
    """Where the target takes the panels one by one."""
    takers: list[ast.expr] = [loop.iter for loop in site.anywhere(ast.For)]
    takers += [node.value for node in site.anywhere(ast.Subscript)]
    for call in site.anywhere(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in _TAKES_ALL:
            takers += call.args
    return [node for node in site.named(name) if node in takers]
