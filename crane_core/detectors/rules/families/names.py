"""Names that stand for nothing when the target needs them: never defined, deleted, or without a value yet."""

from collections.abc import Mapping
from typing import Any

from crane_core.detectors.rules.answer import Answer
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("names")


@RULES.missing("names")
def not_defined(operation: Operation) -> Answer:
    """Raises Crash for a name that the kernel lacks; the remedy names a cell, or a similar name."""
    name, absent = operation.absent["name"], operation.absent
    known, remedy = (
        [f"the kernel has no {name}"],
        f"Define {name} before this cell.",
    )
    if similar := absent.get("similar"):
        known.append(f"there is {', '.join(map(str, similar[:3]))}")
        remedy = f"Write {similar[0]} instead of {name}."
    if deleted := absent.get("deleted_in"):
        known.append(f"code cell {_cell(deleted)} has deleted it")
    # Last, so that this remedy wins: a cell that has not run is a surer cause than a similar name.
    if places := absent.get("would_be_defined_in"):
        known.append(f"code cell {_cell(places[0])} defines it but has not run")
        remedy = f"Run code cell {_cell(places[0])} first."
    operation.crash(
        "NameError",
        f"name '{name}' is not defined",
        fact="; ".join(known),
        remedy=remedy,
    )


@RULES.missing("unset")
def without_value(operation: Operation) -> Answer:
    """Raises Crash for a name that this code assigns only later, or has deleted."""
    name, is_local = operation.absent["name"], operation.absent["is_local"]
    where = (
        "the function assigns it only later"
        if is_local
        else "the cell deleted it before"
    )
    # Python has the class UnboundLocalError for names of functions alone.
    exception = "UnboundLocalError" if is_local else "NameError"
    remedy = f"Assign a value to {name} before this line."
    operation.crash(
        exception,
        f"{name} has no value here",
        fact=f"{name}: {where}",
        remedy=remedy,
    )


def _cell(place: Any) -> Any:
    return place.get("cell", "?") if isinstance(place, Mapping) else "?"
