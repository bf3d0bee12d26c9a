"""Operators on Python's own values: computed where both are known, judged by their types where those alone decide.

Knows that an operation which a sample of both types refuses is refused for all of them, but where values matter.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue, all_known, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.python_values import (
    LONG_NUMBER,
    SAMPLES,
    changed,
    elements_of,
    known,
    made,
    words_of,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("python: operators")
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "|": operator.or_,
    "^": operator.xor,
    "&": operator.and_,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda item, holder: item in holder,
    "not in": lambda item, holder: item not in holder,
}
_UNARY: dict[str, Callable[[Any], Any]] = {"-x": operator.neg, "+x": operator.pos, "~x": operator.invert}
_NUMBERS = ("int", "float", "bool")
_SIZED_BY_VALUE = ("**", "<<")
_BIGGEST = 300
_COMPARED = ("<", "<=", ">", ">=")
_LONGEST_FORMAT = 40
_FORMATTED = ("int", "float", "str", "NoneType")
_MOST_ITEMS = 1_000


@RULES.operator("*")
def operator_on_own_values(operation: Operation) -> Answer:
    """An operator whose operands are both of Python's own types."""
    operands = [operation.receiver, *operation.arguments.positional]
    if any(value.type not in SAMPLES or value.path and not value.is_literal for value in operands):
        return UNKNOWN
    known: Mapping[str, Callable[..., Any]] = _UNARY if len(operands) == 1 else _BINARY
    symbol = operation.name if operation.name in known else operation.name.removesuffix("=")
    if symbol not in known:
        return UNKNOWN
    if symbol != operation.name:
        return _in_place(operation, operands, symbol)
    return _computed(operation, operands, symbol, known[symbol])


def _computed(operation: Operation, operands: list[AbstractValue], symbol: str, compute: Callable[..., Any]) -> Answer:
    _say_division(operation, operands, symbol)
    if symbol in _OF_CONTAINERS and (found := _OF_CONTAINERS[symbol](*operands)) is not None:
        return found
    values = known(operands)
    if values is not None and _is_bounded(symbol, values):
        try:
            return made(compute(*values))
        except (TypeError, ValueError, ArithmeticError) as error:
            _say(operation, operands, type(error).__name__, str(error))
    return _by_type(operation, operands, symbol, compute)


def _in_dict(key: AbstractValue, held: AbstractValue, *, is_in: bool) -> AbstractValue | None:
    if held.type != "dict" or held.members is None:
        return None
    if not key.is_literal or key.type not in ("str", "int", "float", "bool", "NoneType"):
        return AbstractValue("bool")
    return literal((key.literal in held.members) is is_in)


def _joined(left: AbstractValue, right: AbstractValue) -> AbstractValue | None:
    if left.type != right.type or left.type not in ("list", "tuple"):
        return None
    parts = all_known([left.items, right.items])
    return AbstractValue(left.type, items=None if parts is None else [*parts[0], *parts[1]])


def _repeated(left: AbstractValue, right: AbstractValue) -> AbstractValue | None:
    """A list holds the same objects again, not copies of them."""
    kept, count = (left, right.literal) if left.type in ("list", "tuple") else (right, left.literal)
    if kept.type not in ("list", "tuple") or kept.items is None or type(count) is not int:
        return None
    return (
        AbstractValue(kept.type, items=kept.items * count)
        if len(kept.items) * count <= _MOST_ITEMS
        else AbstractValue(kept.type)
    )


_OF_CONTAINERS: dict[str, Callable[[AbstractValue, AbstractValue], AbstractValue | None]] = {
    "in": partial(_in_dict, is_in=True),
    "not in": partial(_in_dict, is_in=False),
    "+": _joined,
    "*": _repeated,
}
"""What is known of the parts of containers; None of other operands."""


def _is_bounded(symbol: str, values: list[Any]) -> bool:
    """Whether what an operator makes of these values is small, too."""
    if symbol in _SIZED_BY_VALUE:
        return all(isinstance(value, (int, float)) and abs(value) <= _BIGGEST for value in values)
    if symbol == "%" and isinstance(values[0], (str, bytes)):
        return LONG_NUMBER.search(str(values[0])) is None and "*" not in str(values[0])
    return symbol != "*" or _size_repeated(*values) <= _BIGGEST * 10


def _size_repeated(left: Any, right: Any) -> int:
    """The length of a sequence that is repeated; 0 of two numbers."""
    kept, count = (left, right) if isinstance(right, int) else (right, left)
    is_repeated = isinstance(count, int) and isinstance(kept, (str, bytes, list, tuple))
    return len(kept) * abs(count) if is_repeated else 0


def _by_type(operation: Operation, operands: list[AbstractValue], symbol: str, compute: Callable[..., Any]) -> Answer:
    """What the types say: the operation is tried on a sample of each."""
    types = [abstract.type for abstract in operands]
    if symbol == "%" and types[0] in ("str", "bytes"):
        return AbstractValue(types[0])
    try:
        value = compute(*(SAMPLES[name] for name in types))
    except TypeError as error:
        _say(operation, operands, "TypeError", str(error))
    except (ValueError, ArithmeticError):
        return UNCHANGED
    if symbol in _COMPARED and types[0] in ("list", "tuple"):
        return AbstractValue("bool")
    is_certain = symbol not in _SIZED_BY_VALUE and not (symbol == "*" and "bool" in types)
    return AbstractValue(type(value).__name__) if is_certain else UNCHANGED


def _say_division(operation: Operation, operands: list[AbstractValue], symbol: str) -> None:
    if symbol not in ("/", "//", "%") or len(operands) != 2:
        return
    left, right = operands
    is_zero = right.type in _NUMBERS and right.is_literal and right.literal == 0
    if is_zero and left.type in _NUMBERS:
        operation.crash(
            "ZeroDivisionError",
            f"{words_of(left)} is divided by zero",
            fact=f"{words_of(right)} is {right.literal!r}",
            remedy="Handle zero before dividing.",
        )


def _say(operation: Operation, operands: list[AbstractValue], exception: str, why: str) -> None:
    known = " and ".join(f"{words_of(value)} is of type {value.type}" for value in operands)
    remedy = "Convert both to the same type, for example with str(...), int(...) or float(...)."
    operation.crash(exception, why, fact=known, remedy=remedy)


def _in_place(operation: Operation, operands: list[AbstractValue], symbol: str) -> Answer:
    """`x += y`: a list takes in whatever can be iterated; of numbers and texts it is a plain operation."""
    left, right = operands
    if left.type == "list" and symbol == "+":
        items = elements_of(right)
        if right.type in (*_NUMBERS, "NoneType", "function", "complex", "builtin_function_or_method"):
            _say(operation, operands, "TypeError", f"'{right.type}' object is not iterable")
        changed(left, [*left.items, *items] if left.items is not None and items is not None else None)
        return left
    if left.type in ("set", "dict", "list"):
        return UNKNOWN
    return _computed(operation, operands, symbol, _BINARY[symbol])


@RULES.other("format", "*")
def formatted(operation: Operation) -> Answer:
    """f"{x:spec}": the format of a value that is known, or refused by its type."""
    value, spec = operation.receiver, operation.first.literal
    if not _is_short_format(spec) or value.type not in SAMPLES or value.path:
        return UNKNOWN
    values = known([value])
    if values is None:
        # A value of the type shows whether the format fits.
        if value.type in (*_FORMATTED, "list", "tuple", "dict", "set"):
            _format(operation, value, SAMPLES[value.type], spec)
            return AbstractValue("str")
        return UNKNOWN
    if value.type in (*_FORMATTED, "bool", "complex"):
        return literal(_format(operation, value, values[0], spec))
    return _refused(operation, value, spec) if spec else literal(format(values[0]))


def _is_short_format(spec: Any) -> bool:
    return isinstance(spec, str) and len(spec) <= _LONGEST_FORMAT and LONG_NUMBER.search(spec) is None


def _format(operation: Operation, value: AbstractValue, sample: Any, spec: str) -> str:
    """The text. Raises Crash where the format does not fit."""
    try:
        return format(sample, spec)
    except (TypeError, ValueError) as error:
        operation.crash(
            type(error).__name__,
            f"the format {spec!r} does not fit {words_of(value)}: {error}",
            fact=f"{words_of(value)} is of type {value.type}",
            remedy="Use a format for that type, or convert it to a number first.",
        )


def _refused(operation: Operation, value: AbstractValue, spec: str) -> AbstractValue:
    operation.crash(
        "TypeError",
        f"unsupported format string passed to {value.type}.__format__: {spec!r}",
        fact=f"{words_of(value)} is a {value.type}",
        remedy="Format its elements one by one.",
    )
