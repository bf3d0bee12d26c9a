"""What the executed cells leave behind, beside what the state tells.

Of names that the state tells too, the state is right: where both speak of the same and do not agree, nothing is taken
from the cells at all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.executed_cells import (
    Contradiction,
    executed_cells,
)
from crane_core.detectors.rules.initial_state import InitialState
from crane_core.detectors.rules.interpreter import RuleError


@dataclass(frozen=True, slots=True)
class Past:
    """What names stand for after the executed cells, and what went wrong in finding it out."""

    names: dict[str, AbstractValue]
    contradictions: tuple[Contradiction, ...] = ()
    errors: tuple[RuleError, ...] = ()
    n_steps: int = 0
    unsure: tuple[str, ...] = ()


def past_of(initial: InitialState) -> Past:
    """What the executed cells leave, as far as the state does not contradict it."""
    executed = executed_cells(initial.prefix, initial.packages)
    found = list(executed.contradictions)
    return Past(
        names=_compared(executed.names(), initial, found),
        contradictions=tuple(found),
        errors=tuple(executed.interpreter.errors),
        n_steps=executed.interpreter.n_steps,
        unsure=executed.interpreter.asker.unsure,
    )


# Beside the state


def _compared(
    names: dict[str, AbstractValue],
    initial: InitialState,
    found: list[Contradiction],
) -> dict[str, AbstractValue]:
    """The names, with what the state tells of them put into their values; none if the state contradicts one."""
    stated = {name: initial.stated(name) for name in names}
    before = len(found)
    found += [
        Contradiction(-1, what)
        for name in names
        for what in _differences(name, names[name], stated[name])
    ]
    if len(found) > before:
        return {}
    for name, value in names.items():
        _take(value, stated[name])
    return names


def _differences(
    name: str, interpreted: AbstractValue, stated: AbstractValue
) -> Iterator[str]:
    """Where cells and state speak of the same and do not agree."""
    if (
        interpreted.type
        and stated.type
        and (interpreted.package, interpreted.class_name)
        != (stated.package, stated.class_name)
    ):
        yield f"{name} is a {stated.type}, not a {interpreted.type}"
        return
    if (
        interpreted.is_literal
        and stated.is_literal
        and not _is_same(interpreted.literal, stated.literal)
    ):
        yield f"{name} is {stated.literal!r}, not {interpreted.literal!r}"
    # Other facts may be rounded, cut or left out by a state, so they are not compared.
    told = interpreted.facts.keys() & stated.facts.keys()
    for fact in ("shape", "length", "dtype", "columns", "column_labels"):
        if fact in told and not _agree(
            interpreted.facts[fact], stated.facts[fact]
        ):
            yield f"{fact} of {name} is {stated.facts[fact]!r}, not {interpreted.facts[fact]!r}"
    yield from _lengths(name, interpreted, stated)


def _lengths(
    name: str, interpreted: AbstractValue, stated: AbstractValue
) -> Iterator[str]:
    held = (
        interpreted.items
        if interpreted.items is not None
        else interpreted.members
    )
    length = stated.fact("length")
    if (
        held is not None
        and interpreted.type in ("list", "tuple", "dict")
        and type(length) is int
        and length != len(held)
    ):
        yield f"{name} holds {length}, not {len(held)}"
    shape, columns = stated.fact("shape"), interpreted.fact("columns")
    if (
        isinstance(columns, tuple)
        and isinstance(shape, tuple)
        and len(shape) == 2
        and shape[1] != len(columns)
    ):
        yield f"{name} has {shape[1]} columns, not {len(columns)}"


def _is_same(left: Any, right: Any) -> bool:
    # NaN does not equal itself, so values that print alike count as the same.
    return repr(left) == repr(right) or bool(left == right)


def _agree(left: Any, right: Any) -> bool:
    """Whether two values of a fact may be of one object; a length that is not known agrees with any."""
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)):
        return len(left) == len(right) and all(
            _agree(one, other) for one, other in zip(left, right, strict=True)
        )
    return (
        left is None
        or right is None
        or left == right
        # From code the dtype of an array of strings is `str`. The state knows its width: `<U5`.
        or left == "str"
        and str(right).startswith("<U")
    )


def _take(interpreted: AbstractValue, stated: AbstractValue) -> None:
    """Put into a value what the state tells of it; of what both know, the state's stays."""
    if not stated.type and not stated.path and stated.definition is None:
        return
    if stated.facts:
        # What cells computed of an array's values may have been changed in place since.
        _drop_values(interpreted)
    interpreted.type = stated.type or interpreted.type
    interpreted.path = interpreted.path or stated.path
    interpreted.definition = interpreted.definition or stated.definition
    if (
        stated.facts.keys() & interpreted.facts.keys()
        and not harmless.may_share_memory(interpreted)
    ):
        interpreted.facts = dict(stated.facts)
    interpreted.facts |= stated.facts
    _take_parts(interpreted, stated)
    interpreted.attributes = {**interpreted.attributes, **stated.attributes}


def _take_parts(interpreted: AbstractValue, stated: AbstractValue) -> None:
    if stated.items is not None and interpreted.items is None:
        interpreted.items = stated.items
    if stated.members is not None and interpreted.members is None:
        interpreted.members = stated.members
    if (
        stated.is_literal
        and interpreted.items is None
        and interpreted.members is None
    ):
        interpreted.literal = stated.literal


def _drop_values(value: AbstractValue) -> None:
    if harmless.may_share_memory(value):
        value.drop(harmless.VALUE_FACTS)
