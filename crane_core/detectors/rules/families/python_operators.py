"""Operators and formats on Python's own values, as Python itself computes or refuses them."""

import operator
from collections.abc import Callable
from typing import Any

from crane_core.detectors.rules.abstract_value import (
    AbstractValue,
    all_known,
    literal,
)
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families import python_values
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("python: operators")
_COMPUTE: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "in": lambda item, holder: item in holder,
    "not in": lambda item, holder: item not in holder, "-x": operator.neg, "+x": operator.pos, "~x": operator.invert,
}  # fmt: skip
_SIZED_BY_VALUE = ("**", "<<")
# 2 ** 10_000_000 would stop this process, and not the notebook.
_BIGGEST = 300
_LONGEST_FORMAT = 40
_MOST_ITEMS = 1_000


@RULES.operator("*")
def operator_on_own_values(operation: Operation) -> Answer:
    """An operator whose operands are both of Python's own types."""
    operands = [operation.receiver, *operation.arguments.positional]
    symbol = (
        operation.name
        if operation.name in _COMPUTE
        else operation.name.removesuffix("=")
    )
    if not all(map(python_values.is_own, operands)) or symbol not in _COMPUTE:
        return UNKNOWN
    left = operands[0]
    # += changes these objects themselves, so every other name of them sees it.
    if symbol != operation.name and left.type in ("list", "set", "dict"):
        python_values.forget_views(operation)
        return (
            _in_place(operation, left, operands[1])
            if left.type == "list" and symbol == "+"
            else UNKNOWN
        )
    if (
        len(operands) == 2
        and (found := _of_containers(symbol, *operands)) is not None
    ):
        return found
    return _computed(operation, symbol, operands)


def _computed(
    operation: Operation, symbol: str, operands: list[AbstractValue]
) -> Answer:
    """What the operator makes of values, or refuses by their types."""
    left, values, compute = (
        operands[0],
        python_values.known(operands),
        _COMPUTE[symbol],
    )
    if (
        values is not None
        and _is_bounded(symbol, values)
        # `a | b` holds the very objects of both dicts, and a computed dict
        # copies.
        and left.type != "dict"
    ):
        return python_values.tried(operation, compute, operands)
    # Whether "%d" % x fails is decided by the string, which is unknown here.
    if symbol == "%" and left.type in ("str", "bytes"):
        return AbstractValue(left.type)
    return python_values.by_types(
        operation, compute, list(map(_little, operands))
    )


def _little(value: AbstractValue) -> AbstractValue:
    """The value, or any of its type if computing with it may take long."""
    is_number = (
        isinstance(value.literal, (int, float))
        and abs(value.literal) <= _BIGGEST
    )
    return (
        value
        if is_number
        else AbstractValue(value.type, words=python_values.words_of(value))
    )


def _of_containers(
    symbol: str, left: AbstractValue, right: AbstractValue
) -> AbstractValue | None:
    """What is known of the parts of containers; None of other operands."""
    if symbol in ("in", "not in"):
        return _is_member(symbol, left, right)
    if (
        symbol == "+"
        and left.type == right.type
        and left.type in ("list", "tuple")
    ):
        # The very elements: `(a + b)[0].append(1)` changes what a holds.
        parts = all_known([left.items, right.items])
        return AbstractValue(
            left.type, items=None if parts is None else [*parts[0], *parts[1]]
        )
    return _repeated(left, right) if symbol == "*" else None


def _is_member(
    symbol: str, left: AbstractValue, right: AbstractValue
) -> AbstractValue | None:
    # An object of the notebook may define __eq__, and be equal to a key.
    if right.members is None or left.type not in (
        "str",
        "int",
        "float",
        "bool",
    ):
        return None
    is_in = left.is_literal and left.literal in right.members
    return (
        literal(is_in is (symbol == "in"))
        if left.is_literal
        else AbstractValue("bool")
    )


def _repeated(
    left: AbstractValue, right: AbstractValue
) -> AbstractValue | None:
    kept, count = (
        (left, right.literal)
        if left.type in ("list", "tuple")
        else (right, left.literal)
    )
    if (
        kept.type in ("list", "tuple")
        and kept.items is not None
        and type(count) is int
    ):
        # `[0] * 10**9` would fill the memory of this process.
        is_short = len(kept.items) * count <= _MOST_ITEMS
        return AbstractValue(
            kept.type, items=kept.items * count if is_short else None
        )  # the same objects again
    return None


def _is_bounded(symbol: str, values: list[Any]) -> bool:
    """Whether what an operator makes of these values is small, too."""
    if symbol in _SIZED_BY_VALUE:
        return all(
            isinstance(value, (int, float)) and abs(value) <= _BIGGEST
            for value in values
        )
    # "%9999d" and "%*d" make long strings of short operands.
    if symbol == "%" and isinstance(values[0], (str, bytes)):
        return python_values.LONG_NUMBER.search(
            str(values[0])
        ) is None and "*" not in str(values[0])
    return symbol != "*" or _is_short_product(values)


def _is_short_product(values: list[Any]) -> bool:
    numbers = [abs(value) for value in values if isinstance(value, int)]
    lengths = [
        len(value)
        for value in values
        if isinstance(value, (str, bytes, list, tuple))
    ]
    return (
        not numbers or not lengths or numbers[0] * lengths[0] <= _BIGGEST * 10
    )


def _in_place(
    operation: Operation, left: AbstractValue, right: AbstractValue
) -> Answer:
    """`x += y`: a list takes in whatever can be iterated."""
    python_values.by_types(operation, iter, [right])
    items = python_values.elements_of(right)
    python_values.changed(
        left,
        [*left.items, *items]
        if left.items is not None and items is not None
        else None,
    )
    return left


@RULES.other("format", "*")
def formatted(operation: Operation) -> Answer:
    """f"{x:spec}": the format of a value that is known, or refused by its type."""
    value, spec = operation.receiver, operation.first.literal
    is_short = (
        isinstance(spec, str)
        and len(spec) <= _LONGEST_FORMAT
        and python_values.LONG_NUMBER.search(spec) is None
    )
    if not is_short or not python_values.is_own(value):
        return UNKNOWN
    if python_values.known([value]) is not None:
        return python_values.tried(operation, format, [value, operation.first])
    # Here a ValueError follows from the type, too: every string refuses the format ".2f".
    return python_values.by_types(
        operation,
        format,
        [value, operation.first],
        refusals=(TypeError, ValueError),
    )
