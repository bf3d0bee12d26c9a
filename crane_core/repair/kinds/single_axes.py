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
    statements = map(_panels, site.anywhere(ast.Assign))
    made = [each for each in statements if each is not None]
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
    takers: list[ast.expr] = []
    for node in site.anywhere(ast.AST):
        match node:
            case ast.For(iter=taken) | ast.Subscript(value=taken):
                takers.append(taken)
            case ast.Call(func=ast.Name(id=function)) as call:
                if function in _TAKES_ALL:
                    takers += call.args
    return [node for node in site.named(name) if node in takers]
