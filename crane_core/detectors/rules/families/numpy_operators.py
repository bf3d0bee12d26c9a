"""Operators between arrays, numbers and lists: shapes that meet, kinds of values that an operator takes."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    array,
    crash_on_shape_mismatch,
    describe_all,
    dtype_of,
    is_array,
    is_number,
    kind_of,
    refuse_read_only,
    shape_of,
    values_changed,
)
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape, broadcast, matmul

RULES = Family("numpy: operators")
_ARITHMETIC: Final = ("+", "-", "*", "/", "//", "%", "**")
_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
_BITS: Final = ("&", "|", "^", "<<", ">>")
_ELEMENTWISE: Final = (*_ARITHMETIC, *_BITS, *_COMPARISONS)
_REMEDY: Final = "give both shapes that broadcast: a slice, a reshape, or a new axis (x[:, None])"


@RULES.operator(ARRAY, *_ELEMENTWISE)
def element_by_element(operation: Operation) -> Answer:
    left, right = operation.receiver, operation.first
    if operation.name not in _ELEMENTWISE:
        # A rule for "*" is asked for every operator.
        return UNKNOWN
    if left.is_a("pandas", "Series", "DataFrame") or right.is_a("pandas", "Series", "DataFrame"):
        # An array leaves it to them.
        return UNKNOWN
    if not _is_numpys(left) or not _is_numpys(right):
        return UNKNOWN if not (left.type and right.type) else UNCHANGED
    shape = _common(operation, left, right)
    return (
        array(shape, "bool" if operation.name in _COMPARISONS else None) if shape is not None else AbstractValue(ARRAY)
    )


def _is_numpys(value: AbstractValue) -> bool:
    return is_array(value) or is_number(value) or value.type in ("list", "tuple", "str")


def _common(operation: Operation, left: AbstractValue, right: AbstractValue) -> Shape | None:
    shapes = shape_of(left), shape_of(right)
    if shapes[0] is None or shapes[1] is None:
        return None
    if operation.name in ("==", "!=") and not is_at_least(operation, "numpy", 1, 25):
        # Earlier versions give False for arrays that do not meet.
        return None
    kinds = {kind_of(dtype_of(left)), kind_of(dtype_of(right))}
    if operation.name in _BITS or kinds == {"b"} or not kinds <= {None, *"biufcO"}:
        # NumPy looks for a loop before it looks at the shapes.
        return None
    with crash_on_shape_mismatch(describe_all([left, right]), _REMEDY):
        return broadcast(shapes[0], shapes[1])


@RULES.operator(ARRAY, "@")
def product(operation: Operation) -> Answer:
    left, right = operation.receiver, operation.first
    if not _is_numpys(left) or not _is_numpys(right):
        return UNKNOWN if not (left.type and right.type) else UNCHANGED
    if not {kind_of(dtype_of(left)), kind_of(dtype_of(right))} <= {None, *"biufcO"}:
        return UNCHANGED
    shapes = shape_of(left), shape_of(right)
    if shapes[0] is None or shapes[1] is None:
        return UNCHANGED
    with crash_on_shape_mismatch(
        describe_all([left, right]), "transpose one of them (.T), or select the part that fits"
    ):
        shape = matmul(shapes[0], shapes[1])
    return array(shape)


@RULES.operator(ARRAY, "-x", "+x", "~x")
def unary(operation: Operation) -> Answer:
    shape = shape_of(operation.receiver)
    return array(shape) if shape is not None else AbstractValue(ARRAY)


@RULES.operator(ARRAY, *(f"{symbol}=" for symbol in (*_ARITHMETIC, *_BITS)))
def in_place(operation: Operation) -> Answer:
    left, right = operation.receiver, operation.first
    if not is_array(left):
        return UNKNOWN
    if not _is_numpys(right):
        values_changed(operation, left)
        return left if right.type else UNKNOWN
    refuse_read_only(operation, left, "output array is read-only")
    values_changed(operation, left)
    return left


@RULES.operator(ARRAY, "in", "not in")
def membership(operation: Operation) -> Answer:
    return AbstractValue("bool") if is_array(operation.first) else UNKNOWN
