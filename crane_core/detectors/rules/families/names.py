"""Names that stand for nothing when the target needs them: never defined, deleted, or without a value yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crane_core.detectors.rules.answer import Answer
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("names")


@RULES.missing("names")
def not_defined(operation: Operation) -> Answer:
    name = operation.absent["name"]
    operation.crash(
        "NameError",
        f"name '{name}' is not defined",
        fact=_fact(name, operation.absent),
        remedy=_remedy(name, operation.absent),
    )


@RULES.missing("unset")
def without_value(operation: Operation) -> Answer:
    name, is_local = operation.absent["name"], operation.absent["is_local"]
    where = "the function assigns it only later" if is_local else "the cell deleted it before"
    operation.crash(
        "UnboundLocalError" if is_local else "NameError",
        f"{name} has no value here",
        fact=f"{name}: {where}",
        remedy=f"Assign a value to {name} before this line.",
    )


def _fact(name: str, absent: Mapping[str, Any]) -> str:
    parts = [f"the kernel has no {name}"]
    if places := absent.get("would_be_defined_in"):
        parts.append(f"code cell {_cell(places[0])} defines it but has not run")
    if deleted := absent.get("deleted_in"):
        parts.append(f"code cell {_cell(deleted)} has deleted it")
    if similar := absent.get("similar"):
        parts.append(f"there is {', '.join(map(str, similar[:3]))}")
    return "; ".join(parts)


def _cell(place: Any) -> Any:
    return place.get("cell", "?") if isinstance(place, Mapping) else "?"


def _remedy(name: str, absent: Mapping[str, Any]) -> str:
    if places := absent.get("would_be_defined_in"):
        return f"Run code cell {_cell(places[0])} first."
    if similar := absent.get("similar"):
        return f"Write {similar[0]} instead of {name}."
    return f"Define {name} before this cell."
