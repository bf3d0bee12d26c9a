"""Operators between arrays, numbers and lists: shapes that meet, kinds of values that an operator takes."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    NUMBERS,
    array,
    crash_on_shape_mismatch,
    describe,
    describe_all,
    dtype_of,
    is_array,
    is_number,
    kind_of,
    promoted,
    refuse_read_only,
    shape_of,
    values_changed,
)
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape, broadcast, differ, matmul

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
    _are_of_kinds(operation, left, right)
    shape = _common(operation, left, right)
    dtype = "bool" if operation.name in _COMPARISONS else _result(operation.name, left, right)
    return array(shape, dtype) if shape is not None else AbstractValue(ARRAY)


def _is_numpys(value: AbstractValue) -> bool:
    return is_array(value) or is_number(value) or value.type in ("list", "tuple", "str")


def _common(operation: Operation, left: AbstractValue, right: AbstractValue) -> Shape | None:
    shapes = shape_of(left), shape_of(right)
    if shapes[0] is None or shapes[1] is None:
        return None
    if operation.name in ("==", "!=") and not is_at_least(operation, "numpy", 1, 25):
        # Earlier versions give False for arrays that do not meet.
        return None
    with crash_on_shape_mismatch(describe_all([left, right]), _REMEDY):
        return broadcast(shapes[0], shapes[1])


def _result(symbol: str, left: AbstractValue, right: AbstractValue) -> str | None:
    """The dtype of a result. A number of Python counts less than an array."""
    dtypes = dtype_of(left), dtype_of(right)
    kinds = set(map(kind_of, dtypes))
    if not kinds <= set("iuf") or symbol in ("**", "%", "//"):
        return None
    if symbol == "/" and "f" not in kinds:
        return "float64" if {*dtypes} <= {"int64", "int32"} else None
    if is_array(left) and is_array(right):
        return promoted(*dtypes)
    strong, weak = (left, right) if is_array(left) else (right, left)
    if weak.type not in NUMBERS:
        return None
    return dtype_of(strong) if kind_of(dtype_of(strong)) == "f" or weak.type == "int" else promoted(*dtypes)


def _are_of_kinds(operation: Operation, left: AbstractValue, right: AbstractValue) -> None:
    """Texts are added to texts alone; bits are those of integers and booleans."""
    kinds = kind_of(dtype_of(left)), kind_of(dtype_of(right))
    if None in kinds or "O" in kinds:
        return
    if _is_text_with_number(kinds, operation.name):
        operation.crash(
            "UFuncTypeError" if operation.name in ("+", "-") else "TypeError",
            f"unsupported operand types for {operation.name}: strings and numbers",
            fact=describe_all([left, right]),
            remedy="convert the strings to numbers first: .astype(float)",
        )
    if operation.name in _BITS and "f" in kinds and {*kinds} <= {*"biuf"}:
        operation.crash(
            "TypeError",
            f"ufunc not supported: {operation.name} takes integers and booleans, not floats",
            fact=describe_all([left, right]),
            remedy="compare first, in parentheses: (a > 0) & (b > 0)",
        )
    if operation.name == "-" and kinds == ("b", "b"):
        operation.crash(
            "TypeError",
            "numpy boolean subtract, the `-` operator, is not supported",
            fact=describe_all([left, right]),
            remedy="use ^ or numpy.logical_xor, or .astype(int) first",
        )


def _is_text_with_number(kinds: tuple[str | None, str | None], symbol: str) -> bool:
    if kinds == ("U", "U"):
        return symbol in ("-", "/")
    is_format = symbol == "%" and kinds[0] == "U"
    is_asked = symbol in ("+", "-", "/", "//", "%", "**") and not is_format
    return is_asked and "U" in kinds and not {*"iuf"}.isdisjoint(kinds)


@RULES.operator(ARRAY, "@")
def product(operation: Operation) -> Answer:
    left, right = operation.receiver, operation.first
    if not _is_numpys(left) or not _is_numpys(right):
        return UNKNOWN if not (left.type and right.type) else UNCHANGED
    kinds = kind_of(dtype_of(left)), kind_of(dtype_of(right))
    if "O" not in kinds and None not in kinds and not set("USMm").isdisjoint(filter(None, kinds)):
        # NumPy looks for a loop before it looks at the shapes.
        operation.crash(
            "UFuncTypeError",
            "ufunc 'matmul' did not contain a loop for these dtypes",
            fact=describe_all([left, right]),
            remedy="convert the operands to numbers first: .astype(float)",
        )
    shapes = shape_of(left), shape_of(right)
    if shapes[0] is None or shapes[1] is None:
        return UNCHANGED
    with crash_on_shape_mismatch(
        describe_all([left, right]), "transpose one of them (.T), or select the part that fits"
    ):
        shape = matmul(shapes[0], shapes[1])
    dtypes = dtype_of(left), dtype_of(right)
    return array(shape, promoted(dtypes[0], dtypes[1]) if dtypes[0] and dtypes[1] else None)


@RULES.operator(ARRAY, "-x", "+x", "~x")
def unary(operation: Operation) -> Answer:
    operand = operation.receiver
    kind = kind_of(dtype_of(operand))
    if (operation.name == "-x" and kind == "b") or (operation.name == "~x" and kind == "f"):
        operation.crash(
            "TypeError",
            "the numpy boolean negative, the `-` operator, is not supported"
            if kind == "b"
            else "ufunc 'invert' not supported for floats",
            fact=describe(operand),
            remedy="invert with ~" if kind == "b" else "compare first, then invert with ~",
        )
    shape = shape_of(operand)
    return array(shape, dtype_of(operand)) if shape is not None else AbstractValue(ARRAY)


@RULES.operator(ARRAY, *(f"{symbol}=" for symbol in (*_ARITHMETIC, *_BITS)))
def in_place(operation: Operation) -> Answer:
    """x += y: the result has to fit into x."""
    left, right = operation.receiver, operation.first
    if not is_array(left):
        return UNKNOWN
    if not _is_numpys(right):
        values_changed(operation, left)
        return left if right.type else UNKNOWN
    refuse_read_only(operation, left, "output array is read-only")
    shapes = shape_of(left), shape_of(right)
    if shapes[0] is not None and shapes[1] is not None:
        _fits_into(operation, left, right)
    values_changed(operation, left)
    return left


def _fits_into(operation: Operation, left: AbstractValue, right: AbstractValue) -> None:
    shape = shape_of(left) or ()
    fact = describe_all([left, right])
    kinds = kind_of(dtype_of(left)), kind_of(dtype_of(right))
    if kinds[0] in ("i", "u") and (kinds[1] == "f" or (operation.name == "/=" and kinds[1] in ("i", "u"))):
        operation.crash(
            "UFuncTypeError",
            "Cannot cast ufunc output from float64 to int64 with casting rule 'same_kind'",
            fact=fact,
            remedy="convert the array to float first: .astype(float)",
        )
    with crash_on_shape_mismatch(fact, _REMEDY):
        found = broadcast(shape, shape_of(right) or ())
    if len(found) != len(shape) or any(map(differ, found, shape)):
        operation.crash(
            "ValueError",
            "non-broadcastable output operand: the result has a different shape than the array",
            fact=fact,
            remedy=f"write x = x {operation.name[:-1]} y, which creates a new array",
        )


@RULES.operator(ARRAY, "in", "not in")
def membership(operation: Operation) -> Answer:
    return AbstractValue("bool") if is_array(operation.first) else UNKNOWN
