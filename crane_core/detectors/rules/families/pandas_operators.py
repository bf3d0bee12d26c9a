"""Operators on frames and series: texts in arithmetic and comparisons; what rows the result has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import kind_of
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    SERIES,
    is_frame,
    is_numeric,
    is_series,
    mapped,
    n_rows,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

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
    _text_with_number(operation, one, other)
    if _are_joined(one, other):
        return AbstractValue(SERIES)
    return mapped(one, "bool", has_nan=False) if operation.name in _COMPARISONS else mapped(one)


def _are_joined(one: AbstractValue, other: AbstractValue) -> bool:
    """Two series of which nobody knows that they have one index: labels may be in one alone."""
    left, right = one.fact("index"), other.fact("index")
    have_one = isinstance(left, Mapping) and left == right and "range" in left
    return is_series(one) and is_series(other) and not have_one


def _is_float(value: AbstractValue) -> bool:
    return is_numeric(value.fact("dtype")) and kind_of(value.fact("dtype")) == "f"


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
    is_one_text = text.type == "str" and operation.name in ("+", "-", "*")  # which NumPy looks for a loop for
    operation.crash(
        "UFuncTypeError" if is_one_text else "TypeError",
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
