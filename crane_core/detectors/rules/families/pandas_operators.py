"""Operators on frames and series: lengths that do not meet, texts in arithmetic, comparisons of other indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from crane_core.detectors.rules.families.numpy_things import is_array, is_number, kind_of, taken_shape, told
from crane_core.detectors.rules.families.pandas_things import (
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
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("pandas: operators")
_ARITHMETIC: Final = ("+", "-", "*", "/", "//", "%", "**")
_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
_ORDER: Final = ("<", "<=", ">", ">=")
_BITS: Final = ("&", "|", "^")


@RULES.operator(SERIES, *_ARITHMETIC, *_COMPARISONS, *_BITS)
def on_series(site: Site) -> Thing | None:
    left, right = site.receiver or Thing(), site.first
    if site.name not in (*_ARITHMETIC, *_COMPARISONS, *_BITS):
        return None
    if is_frame(left) or is_frame(right):
        return Thing(FRAME)
    one, other = (left, right) if is_series(left) else (right, left)
    _meet(site, one, other)
    _are_of_kinds(site, left, right)
    if site.name in _COMPARISONS:
        return _result(one, other, "bool")
    if site.name in _BITS:
        return _result(one, other, "bool" if one.fact("dtype") == other.fact("dtype") == "bool" else None)
    return _result(one, other, _dtype(site.name, one, other))


def _dtype(symbol: str, one: Thing, other: Thing) -> str | None:
    """float64 where one side holds fractions and both hold numbers."""
    dtypes = (
        one.fact("dtype"),
        other.fact("dtype") if not is_number(other) else {"int": "int64"}.get(other.type, "float64"),
    )
    if not all(is_numeric(dtype) for dtype in dtypes):
        return None
    return "float64" if "float64" in dtypes or symbol == "/" else None


def _result(one: Thing, other: Thing, dtype: str | None) -> Thing:
    """The rows are those of the series, unless two indexes have to be joined."""
    if is_series(other) and not _have_one_index(one, other):
        return Thing(SERIES, {"dtype": dtype} if dtype == "bool" else {})
    facts = {"has_nan": False} if dtype == "bool" else {}
    return mapped(one, dtype, **facts)


def _have_one_index(one: Thing, other: Thing) -> bool:
    left, right = one.fact("index"), other.fact("index")
    return isinstance(left, Mapping) and left == right and ("range" in left)


def _meet(site: Site, one: Thing, other: Thing) -> None:
    """Lists and arrays are as long as the series; series that are compared have one index."""
    rows = n_rows(one)
    if is_text(one.fact("dtype")) and site.name in _ARITHMETIC:
        # What texts cannot do is found before lengths are compared.
        return
    shape = taken_shape(other) if is_array(other) or other.type in ("list", "tuple") else None
    if shape is not None and len(shape) == 1 and None not in (shape[0], rows) and shape[0] != rows and shape[0] != 1:
        site.crash(
            "ValueError",
            f"Lengths must match: {rows} and {shape[0]}",
            fact=f"{one.words or 'the series'} has {rows} values; {told(other, 'the other side')}",
            remedy="give both the same length",
        )
    if is_series(other) and site.name in _COMPARISONS and None not in (rows, n_rows(other)) and rows != n_rows(other):
        site.crash(
            "ValueError",
            "Can only compare identically-labeled Series objects",
            fact=f"{one.words or 'one'} has {rows} values, {other.words or 'the other'} has {n_rows(other)}",
            remedy="align the rows first: merge, or reset_index(drop=True)",
        )


def _are_of_kinds(site: Site, left: Thing, right: Thing) -> None:
    one, other = (left, right) if is_series(left) else (right, left)
    if not n_rows(one):
        return
    _text_with_number(site, one, other)
    if (
        site.name in _BITS
        and _is_float(one)
        and (_is_bool(other) or _is_float(other) or other.type in ("int", "float"))
    ):
        site.crash(
            "TypeError",
            f"{site.name} is not supported for floats",
            fact=f"{one.words or 'the series'} has dtype {one.fact('dtype')}",
            remedy="put each comparison in parentheses: (a > 0) & (b > 0)",
        )


def _is_float(thing: Thing) -> bool:
    return is_numeric(thing.fact("dtype")) and kind_of(thing.fact("dtype")) == "f"


def _is_bool(thing: Thing) -> bool:
    return thing.fact("dtype") == "bool" or thing.type == "bool"


def _text_with_number(site: Site, one: Thing, other: Thing) -> None:
    """Texts and numbers in one sum or comparison; both sides are certainly there, and no text is a missing value."""
    text, number = (one, other) if _is_text(one) else (other, one)
    is_mixed = _is_text(text) and _is_of_numbers(number)
    both_series = is_series(text) and is_series(number)
    if not is_mixed or (both_series and not _have_one_index(text, number)) or text.fact("has_nan") is True:
        return
    symbols = ("+", "-", "/", "//", "**", *_ORDER) if not _is_float(number) and number.type != "float" else (
        *_ARITHMETIC, *_ORDER)  # fmt: skip
    if site.name not in symbols or (site.name == "%" and text is site.receiver):
        return
    site.crash(
        "TypeError",
        f"{site.name} is not supported between strings and numbers",
        fact=f"{text.words or 'one side'} holds strings, {number.words or 'the other side'} numbers",
        remedy="convert the strings to numbers first: pandas.to_numeric(...)",
    )


def _is_text(thing: Thing) -> bool:
    if thing.type == "str":
        return True
    if not is_series(thing) or not n_rows(thing):
        return False
    if thing.fact("dtype") == "str":
        return thing.fact("has_nan") is False
    types: Any = thing.fact("item_types")
    return thing.fact("dtype") == "object" and isinstance(types, Mapping) and set(types) == {"str"}


def _is_of_numbers(thing: Thing) -> bool:
    return thing.type in ("int", "float") or (
        is_series(thing) and is_numeric(thing.fact("dtype")) and bool(n_rows(thing))
    )


@RULES.operator(SERIES, "-x", "~x")
def unary(site: Site) -> Thing | None:
    old = site.receiver or Thing()
    if site.name == "~x" and _is_float(old):
        site.crash(
            "TypeError",
            "bad operand type for unary ~: float",
            fact=f"{old.words or 'the series'} has dtype {old.fact('dtype')}",
            remedy="compare first, then invert with ~",
        )
    return mapped(old, old.fact("dtype") if site.name == "~x" or _is_float(old) else None)


@RULES.operator(FRAME, *_ARITHMETIC, *_COMPARISONS, *_BITS, "-x", "~x")
def on_frame(site: Site) -> Thing | None:
    return Thing(FRAME) if site.name in (*_ARITHMETIC, *_COMPARISONS, *_BITS, "-x", "~x") else None


@RULES.operator(FRAME, "in", "not in")
def membership(site: Site) -> Thing | None:
    return Thing("bool")
