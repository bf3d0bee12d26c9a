"""Operators on frames and series: lengths that do not meet, texts in arithmetic, comparisons of other indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import describe, is_array, is_number, kind_of, taken_shape
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    SERIES,
    is_frame,
    is_numeric,
    is_series,
    is_text,
    mapped,
    n_rows,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ, only_length

RULES = Family("pandas: operators")
_ARITHMETIC: Final = ("+", "-", "*", "/", "//", "%", "**")
_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
_ORDER: Final = ("<", "<=", ">", ">=")
_BITS: Final = ("&", "|", "^")


@RULES.operator(SERIES, *_ARITHMETIC, *_COMPARISONS, *_BITS)
def on_series(operation: Operation) -> Answer:
    left, right = operation.receiver, operation.first
    if operation.name not in (*_ARITHMETIC, *_COMPARISONS, *_BITS):
        return UNKNOWN
    if is_frame(left) or is_frame(right):
        return AbstractValue(FRAME)
    one, other = (left, right) if is_series(left) else (right, left)
    _meet(operation, one, other)
    _are_of_kinds(operation, left, right)
    if operation.name in _COMPARISONS:
        return _result(one, other, "bool")
    if operation.name in _BITS:
        return _result(one, other, "bool" if one.fact("dtype") == other.fact("dtype") == "bool" else None)
    return _result(one, other, _dtype(operation.name, one, other))


def _dtype(symbol: str, one: AbstractValue, other: AbstractValue) -> str | None:
    """float64 where one side holds fractions and both hold numbers."""
    dtypes = (
        one.fact("dtype"),
        other.fact("dtype") if not is_number(other) else {"int": "int64"}.get(other.type, "float64"),
    )
    if not all(is_numeric(dtype) for dtype in dtypes):
        return None
    return "float64" if "float64" in dtypes or symbol == "/" else None


def _result(one: AbstractValue, other: AbstractValue, dtype: str | None) -> AbstractValue:
    """The rows are those of the series, unless two indexes have to be joined."""
    if _are_joined(one, other):
        return AbstractValue(SERIES, {"dtype": dtype} if dtype == "bool" else {})
    facts = {"has_nan": False} if dtype == "bool" else {}
    return mapped(one, dtype, **facts)


def _are_joined(one: AbstractValue, other: AbstractValue) -> bool:
    """Two series of which nobody knows that they have one index: labels may be in one alone."""
    left, right = one.fact("index"), other.fact("index")
    have_one = isinstance(left, Mapping) and left == right and "range" in left
    return is_series(one) and is_series(other) and not have_one


def _meet(operation: Operation, one: AbstractValue, other: AbstractValue) -> None:
    """Lists and arrays are as long as the series; series that are compared have one index."""
    rows = n_rows(one)
    if is_text(one.fact("dtype")) and operation.name in _ARITHMETIC:
        # What texts cannot do is found before lengths are compared.
        return
    length = only_length(taken_shape(other)) if is_array(other) or other.type in ("list", "tuple") else None
    if length != 1 and differ(length, rows):
        operation.crash(
            "ValueError",
            f"Lengths must match: {rows} and {length}",
            fact=f"{one.named('the series')} has {rows} values; {describe(other, 'the other side')}",
            remedy="give both the same length",
        )
    if is_series(other) and operation.name in _COMPARISONS and differ(rows, n_rows(other)):
        operation.crash(
            "ValueError",
            "Can only compare identically-labeled Series objects",
            fact=f"{one.named('one')} has {rows} values, {other.named('the other')} has {n_rows(other)}",
            remedy="align the rows first: merge, or reset_index(drop=True)",
        )


def _are_of_kinds(operation: Operation, left: AbstractValue, right: AbstractValue) -> None:
    one, other = (left, right) if is_series(left) else (right, left)
    if not n_rows(one):
        return
    _text_with_number(operation, one, other)
    if (
        operation.name in _BITS
        and _is_float(one)
        and (_is_bool(other) or _is_float(other) or other.type in ("int", "float"))
    ):
        operation.crash(
            "TypeError",
            f"{operation.name} is not supported for floats",
            fact=f"{one.named('the series')} has dtype {one.fact('dtype')}",
            remedy="put each comparison in parentheses: (a > 0) & (b > 0)",
        )


def _is_float(value: AbstractValue) -> bool:
    return is_numeric(value.fact("dtype")) and kind_of(value.fact("dtype")) == "f"


def _is_bool(value: AbstractValue) -> bool:
    return value.fact("dtype") == "bool" or value.type == "bool"


def _text_with_number(operation: Operation, one: AbstractValue, other: AbstractValue) -> None:
    """Texts and numbers in one sum or comparison; both sides are certainly there, and no text is a missing value."""
    text, number = (one, other) if _is_text(one) else (other, one)
    is_mixed = _is_text(text) and _is_of_numbers(number)
    if not is_mixed or _are_joined(text, number) or text.fact("has_nan") is True:
        return
    symbols = ("+", "-", "/", "//", "**", *_ORDER) if not _is_float(number) and number.type != "float" else (
        *_ARITHMETIC, *_ORDER)  # fmt: skip
    if operation.name not in symbols or (operation.name == "%" and text is operation.receiver):
        return  # texts % numbers fills placeholders
    operation.crash(
        "TypeError",
        f"{operation.name} is not supported between strings and numbers",
        fact=f"{text.named('one side')} holds strings, {number.named('the other side')} numbers",
        remedy="convert the strings to numbers first: pandas.to_numeric(...)",
    )


def _is_text(value: AbstractValue) -> bool:
    if value.type == "str":
        return True
    if not is_series(value) or not n_rows(value):
        return False
    if value.fact("dtype") == "str":
        return value.fact("has_nan") is False
    types: Any = value.fact("item_types")
    return value.fact("dtype") == "object" and isinstance(types, Mapping) and set(types) == {"str"}


def _is_of_numbers(value: AbstractValue) -> bool:
    return value.type in ("int", "float") or (
        is_series(value) and is_numeric(value.fact("dtype")) and bool(n_rows(value))
    )
