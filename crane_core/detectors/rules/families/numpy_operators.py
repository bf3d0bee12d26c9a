"""Operators between arrays, numbers and lists: shapes that meet."""

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import numpy_arrays
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation, is_at_least
from crane_core.detectors.rules.shapes import Shape, broadcast, matmul

RULES = Family("numpy: operators")
_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
_BITS: Final = ("&", "|", "^", "<<", ">>")
_ARITHMETIC: Final = ("+", "-", "*", "/", "//", "%", "**", "@")
_BINARY: Final = (*_ARITHMETIC, *_BITS, *_COMPARISONS)


@RULES.operator(numpy_arrays.ARRAY, *_BINARY)
def of_two(operation: Operation) -> Answer:
    """The result's shape; raises Crash where the shapes cannot be broadcast or multiplied."""
    left, right = operation.receiver, operation.first
    if operation.name not in _BINARY or "pandas" in (
        left.package,
        right.package,
    ):
        return UNKNOWN  # a rule for "*" is asked for every operator; an array leaves it to tables and columns
    # A text on the left formats the array: "%s" % x.
    if operation.name == "%" and left.type == "str":
        return AbstractValue("str")
    if not _is_numpys(left) or not _is_numpys(right):
        # An unknown operand may be of a class of the notebook, whose __radd__ may do anything.
        return UNKNOWN if not (left.type and right.type) else UNCHANGED
    shape = _common(operation, left, right)
    if shape is None:
        # Two vectors make a number by @, and not an array.
        return (
            UNCHANGED
            if operation.name == "@"
            else AbstractValue(numpy_arrays.ARRAY)
        )
    # Other dtypes stay open: NumPy 2 promotes numbers of Python otherwise than NumPy 1.
    return numpy_arrays.array(
        shape, "bool" if operation.name in _COMPARISONS else None
    )


def _is_numpys(value: AbstractValue) -> bool:
    return (
        numpy_arrays.is_array(value)
        or numpy_arrays.is_number(value)
        or value.type in ("list", "tuple", "str")
    )


def _common(
    operation: Operation, left: AbstractValue, right: AbstractValue
) -> Shape | None:
    """The shape that they make; None where NumPy looks for a loop before it looks at the shapes."""
    of_left, of_right = (
        numpy_arrays.shape_of(left),
        numpy_arrays.shape_of(right),
    )
    is_product = operation.name == "@"
    # Before NumPy 1.25 arrays that do not fit each other compared as False, with a warning.
    gives_false = operation.name in ("==", "!=") and not is_at_least(
        operation, "numpy", 1, 25
    )
    if (
        of_left is None
        or of_right is None
        or gives_false
        or _is_loop_first(operation.name, left, right)
    ):
        return None
    remedy = (
        "transpose one of them (.T), or select the part that fits"
        if is_product
        else "reshape one, or x[:, None]"
    )
    with numpy_arrays.crash_on_shape_mismatch(
        numpy_arrays.describe_all([left, right]), remedy
    ):
        return (matmul if is_product else broadcast)(of_left, of_right)


def _is_loop_first(
    name: str, left: AbstractValue, right: AbstractValue
) -> bool:
    kinds = {
        numpy_arrays.kind_of(numpy_arrays.dtype_of(left)),
        numpy_arrays.kind_of(numpy_arrays.dtype_of(right)),
    }
    # Floats have no & and booleans no -: NumPy raises TypeError for them, whatever the shapes.
    # Strings, dates and records have loops for few pairs only.
    return (
        name in _BITS
        or kinds == {"b"}
        and name != "@"
        or not kinds <= {None, *"biufcO"}
    )


# x @= y exists since NumPy 1.25 only; before, NumPy refused it.
@RULES.operator(
    numpy_arrays.ARRAY,
    *(f"{symbol}=" for symbol in (*_ARITHMETIC, *_BITS) if symbol != "@"),
)
def in_place(operation: Operation) -> Answer:
    """The array itself, with other values: `x += y` writes into the memory that views share."""
    left, right = operation.receiver, operation.first
    if not numpy_arrays.is_array(left):
        return UNKNOWN
    numpy_arrays.values_changed(operation, left)
    # To a tensor or a class with __array_priority__ the array leaves the step, and x is what __radd__ returns.
    return left if _is_numpys(right) else UNKNOWN
