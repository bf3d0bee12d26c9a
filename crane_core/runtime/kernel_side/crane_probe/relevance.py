"""What the target needs of the kernel: names, chains, arguments, followed through the notebook's own functions."""

from __future__ import annotations

import ast
from typing import Any, Mapping, NamedTuple

from .asked import Asked, Chain
from .limits import Limits


class Needs(NamedTuple):
    """Names in the order of evaluation, what is asked of each, and why the target cannot be read, where it cannot."""

    names: tuple[str, ...]
    asked: Mapping[str, Asked]
    chains: tuple[Chain, ...] = ()
    syntax_error: dict[str, Any] | None = None


def needs(target: str, namespace: Mapping[str, Any], cells: list[dict[str, Any]], limits: Limits) -> Needs:
    tree = ast.parse(target)
    names = tuple(
        dict.fromkeys(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    )
    return Needs(names, {name: Asked(name) for name in names})
