"""How much is shown and how long looking may take: one record of numbers that a request may change."""

from __future__ import annotations

from typing import Any, NamedTuple


class LookLimits(NamedTuple):
    """What the target needs is shown beyond these numbers, up to `asked`; the rest is cut, and the cut is stated."""

    columns: int = 20
    """Columns of a frame that the target does not name (the paper's number)."""
    names: int = 400
    """Names of columns, features or keys that are listed without their facts."""
    asked: int = 200
    """Columns, keys or attributes that the target may need of one variable."""
    items: int = 8
    """Items of a container that are looked into, besides those needed."""
    values: int = 10
    """Distinct values that are listed; more are counted."""
    text: int = 200
    """Characters of one string."""
    depth: int = 3
    """Containers inside containers that are looked into."""
    nodes: int = 300
    """Objects that one variable may lead to."""
    variables: int = 200
    """Variables of one state."""
    follow: int = 40
    """Functions of the notebook whose bodies are followed."""
    variable_steps: int = 400_000_000
    """Elementary steps (about a nanosecond each) that one variable may cost; counted, so a cut is the same again."""
    variable_seconds: float = 0.6
    """Of work (budget.Clock), after which a variable is given up although steps are left: a slow object."""
    # Far below KernelLimits.look_s, beyond which the kernel itself would be ended.
    total_seconds: float = 10.0
    variable_chars: int = 24_000
    """JSON text of one variable."""
    state_chars: int = 400_000
    foreign: bool = True
    """Whether code of the notebook may run for facts that it alone can give."""


def limits_from(request: dict[str, Any]) -> LookLimits:
    """The limits with those numbers replaced that the request names. Raises ValueError for an unknown limit."""
    unknown = sorted(set(request) - set(LookLimits._fields))
    if unknown:
        raise ValueError(
            "no such limit: "
            + ", ".join(unknown)
            + "; there are "
            + ", ".join(LookLimits._fields)
        )
    return LookLimits()._replace(**request)
