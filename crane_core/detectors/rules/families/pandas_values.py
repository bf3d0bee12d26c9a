"""Values of series: casts, strings that are neither numbers nor dates, accessors, means, functions on elements."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, integer, known_facts, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    array,
    dtype_meant,
    kind_of,
    literal_of,
    scalar,
    some_texts,
    values_told,
)
from crane_core.detectors.rules.families.numpy_functions import reads_as_number
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    SERIES,
    changed,
    column,
    is_frame,
    is_numeric,
    is_pandas,
    is_series,
    is_text,
    label_set,
    labels_of,
    mapped,
    n_columns,
    n_rows,
    need_column,
    row_range,
    same_again,
    some_rows,
    told_columns,
    with_columns,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("pandas: values")
_MOST_CATEGORIES: Final = 10
"""A state may have cut lists of so many."""
_WHOLE: Final = ("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64")
_TO_NUMBERS: Final = "use pandas.to_numeric(..., errors='coerce'), and check what becomes NaN"


def dtype_of(value: AbstractValue) -> str | None:
    dtype = value.fact("dtype")
    return dtype if isinstance(dtype, str) else None


def bad_text(abstract: AbstractValue, *, is_whole: bool = False) -> str | None:
    """A text that certainly stands in a series and reads as no number."""
    is_object = dtype_of(abstract) == "object" and _is_said_to_be_text(abstract)
    if not is_object and not is_text(dtype_of(abstract)):
        return None
    if abstract.fact("texts_look_like") == "numbers" and abstract.fact("n_other_texts") == 0 and not is_whole:
        return None
    texts = [value for value in values_told(abstract) if isinstance(value, str) and not value.endswith("\u2026")]
    return next((text for text in texts if not reads_as_number(text, is_whole=is_whole)), None)


def _is_said_to_be_text(value: AbstractValue) -> bool:
    """A published state writes texts for whatever an object is: only a column of nothing but texts is certain."""
    return "str" in value.item_types


# Casts


@RULES.method(SERIES, "astype")
def astype(operation: Operation) -> Answer:
    old = operation.receiver
    given = operation.arguments.bound("dtype, copy=None, errors='raise'")
    if given is None:
        return UNCHANGED
    if "errors" in given:
        return mapped(old)
    wanted = dtype_asked(given["dtype"])
    cast(operation, old, wanted)
    if given["dtype"].path == "builtins.str" or given["dtype"].literal == "str":
        return mapped(old, "str" if is_pandas(operation, 3, 0) else "object")
    return mapped(old, wanted)


def dtype_asked(value: AbstractValue) -> str | None:
    """The dtype that is asked for; None if it is not one of NumPy's or not known."""
    if value.literal == "category":
        return "category"
    if isinstance(value.literal, str) and not value.literal.islower():
        return value.literal
    if value.path == "builtins.str":
        return None
    return dtype_meant(value)


def cast(operation: Operation, old: AbstractValue, wanted: str | None) -> None:
    """All values become numbers of the dtype."""
    kind = kind_of(wanted)
    if not is_numeric(wanted):
        return
    if (bad := bad_text(old, is_whole=kind != "f")) is not None:
        operation.crash(
            "ValueError",
            f"could not convert string to float: {bad!r}"
            if kind == "f"
            else f"invalid literal for int() with base 10: {bad!r}",
            fact=f"{old.named('the column')} holds the string {bad!r}",
            remedy=_TO_NUMBERS,
        )
    has_nan = old.fact("has_nan") is True or old.fact("has_inf") is True
    if kind != "f" and has_nan and is_numeric(dtype_of(old)) and kind_of(dtype_of(old)) == "f":
        operation.crash(
            "IntCastingNaNError",
            "cannot convert non-finite values (NA or inf) to integer",
            fact=f"{old.named('the column')} holds missing values",
            remedy="fill or drop them first, or use dtype 'Int64'",
        )


@RULES.method(FRAME, "astype")
def astype_of_frame(operation: Operation) -> Answer:
    old = operation.receiver
    given = operation.arguments.bound("dtype, copy=None, errors='raise'")
    if given is None or "errors" in given:
        return AbstractValue(FRAME)
    wanted = given["dtype"]
    if wanted.type == "dict":
        return _each_by_name(operation, old, wanted)
    order = labels_of(old)
    for label in order or ():
        cast(operation, column(old, label), dtype_asked(wanted))
    made = with_columns(old, order)
    made.facts["dtypes"] = dict.fromkeys(order or (), dtype_asked(wanted)) if dtype_asked(wanted) else {}
    return made


def _each_by_name(operation: Operation, old: AbstractValue, wanted: AbstractValue) -> AbstractValue:
    made = with_columns(old, labels_of(old))
    for label, asked in (wanted.members or {}).items():
        need_column(operation, old, label)
        cast(operation, column(old, label), dtype_asked(asked))
        for name in ("dtypes", "per_column"):
            made.facts.get(name, {}).pop(label, None)
    if wanted.members is None:
        made.facts.pop("dtypes", None)
        made.facts.pop("per_column", None)
    return made


@RULES.function("pandas.to_numeric")
def to_numeric(operation: Operation) -> Answer:
    given = operation.arguments.bound("arg, errors='raise', downcast=None, dtype_backend=None")
    if given is None or not is_series(given["arg"]):
        return UNCHANGED
    old = given["arg"]
    errors = literal_of(given.get("errors"), "raise")
    if errors == "raise" and (bad := bad_text(old)) is not None:
        operation.crash(
            "ValueError",
            f"Unable to parse string {bad!r}",
            fact=f"{old.named('the column')} holds the string {bad!r}",
            remedy="pass errors='coerce', and check what becomes NaN",
        )
    return mapped(old, "float64" if errors == "coerce" and old.fact("has_nan") is True else None)


_TIME_WORDS: Final = re.compile(
    r"\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|now|today|^\s*$|nat|nan|none|null|^n/?a$",
    re.IGNORECASE,
)
_ISO: Final = re.compile(r"\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?")


@RULES.function("pandas.to_datetime")
def to_datetime(operation: Operation) -> Answer:
    given = operation.arguments.bound(
        "arg, errors='raise', dayfirst=False, yearfirst=False, utc=False, format=None, exact=True, unit=None,"
        " infer_datetime_format=None, origin='unix', cache=True"
    )
    if given is None or not is_series(given["arg"]):
        return UNCHANGED
    old = given["arg"]
    _refuse_formats(operation, old, given)
    is_plain = not {"errors", "unit", "format", "exact"} & given.keys()
    if is_plain and (bad := _no_time(old)) is not None:
        operation.crash(
            "ValueError",
            f"Unknown datetime string format, unable to parse: {bad!r}",
            fact=f"{old.named('the column')} holds the string {bad!r}",
            remedy="pass errors='coerce', and check what becomes NaT",
        )
    has_zone = "utc" in given
    if is_plain and not has_zone and old.fact("texts_look_like") == "dates" and old.fact("n_other_texts") == 0:
        return mapped(old, "datetime64[ns]" if _is_all_iso(old) else None, has_nan=old.fact("has_nan"))
    return mapped(old, None)


def _refuse_formats(operation: Operation, old: AbstractValue, given: Mapping[str, AbstractValue]) -> None:
    """The first text and those with the largest numbers, as the pandas here reads them where it is the kernel's.

    Without a format, the first text gives it.
    """
    texts, options = old.fact("telling_dates"), {name: given[name].literal for name in given if name != "arg"}
    if not isinstance(texts, list) or any(not isinstance(text, str) or "\u2026" in text for text in texts):
        return
    if not options.keys() <= {"format", "dayfirst"} or not {str, bool}.issuperset(map(type, options.values())):
        return
    error = _read_dates(tuple(texts), tuple(options.items()), operation.packages.get("pandas", ""))
    if error is not None:
        operation.crash(
            type(error).__name__,
            str(error).partition(". You might")[0].partition("\n")[0][:200],
            fact=f"{old.named('the column')} holds {', '.join(map(repr, texts))}",
            remedy="pass their format, such as format='%d/%m/%Y', or dayfirst=True",
        )


@cache
def _read_dates(texts: tuple[str, ...], options: tuple[tuple[str, Any], ...], version: str) -> Exception | None:
    import pandas

    if pandas.__version__ != version:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pandas.to_datetime(list(texts), **dict(options))
        except (ValueError, TypeError) as error:
            return error
    return None


def _is_all_iso(old: AbstractValue) -> bool:
    texts = [value for value in values_told(old) if isinstance(value, str)]
    return bool(texts) and all(_ISO.fullmatch(text) for text in texts)


def _no_time(old: AbstractValue) -> str | None:
    """A text that certainly stands in a column among dates, and has nothing of a date."""
    if old.fact("texts_look_like") != "dates" or not (is_text(dtype_of(old)) or _is_said_to_be_text(old)):
        return None
    first = next((text for text in values_told(old) if isinstance(text, str)), "")
    if not _ISO.fullmatch(first):
        return None
    others = old.fact("other_texts") or []
    return next((text for text in others if isinstance(text, str) and not _TIME_WORDS.search(text)), None)


# Accessors


_ACCESSORS: Final = {
    "str": ("core.strings.accessor.StringMethods", "string values", "convert to strings first: .astype(str)"),
    "dt": ("DatetimeProperties", "datetimelike values", "convert to datetimes first: pandas.to_datetime(...)"),
    "cat": (
        "core.arrays.categorical.CategoricalAccessor",
        "a 'category' dtype",
        "convert to categories first: .astype('category')",
    ),
}
"""What an accessor gives, what it needs, and the remedy."""
_OF_TIMES: Final = {"datetime64": "DatetimeProperties", "timedelta64": "TimedeltaProperties"}
"""What `.dt` gives, where the dtype tells which of several classes."""


@RULES.attribute(SERIES, *_ACCESSORS)
def accessor(operation: Operation) -> Answer:
    old = operation.receiver
    dtype = dtype_of(old)
    held, values, remedy = _ACCESSORS[operation.name]
    if dtype is not None and _is_refused(operation.name, dtype, old):
        operation.crash(
            "AttributeError",
            f"Can only use .{operation.name} accessor with {values}",
            fact=f"{old.named('the column')} has dtype {dtype}",
            remedy=remedy,
        )
    if operation.name == "dt" and dtype is not None:
        held = next((f"core.indexes.accessors.{of}" for kind, of in _OF_TIMES.items() if dtype.startswith(kind)), held)
    return AbstractValue(f"pandas.{held}", bound_to=old, words=f"{old.words}.{operation.name}" if old.words else "")


def _is_refused(name: str, dtype: str, old: AbstractValue) -> bool:
    if any(kind in dtype for kind in ("pyarrow", "period", "interval", "Sparse")):
        return False
    if dtype in ("object", "str", "string"):
        return name != "str" or dtype == "object" and old.item_types in ({"int"}, {"float"}, {"bool"})
    if dtype.startswith(("datetime64", "timedelta64")):
        return name != "dt"
    return is_numeric(dtype) or dtype in ("bool", "boolean", "Int64", "Int32", "Float64")


@RULES.attribute("pandas.DatetimeProperties")
def part_of_time(operation: Operation) -> Answer:
    if operation.name not in ("year", "month", "day", "hour", "minute", "second", "dayofweek", "weekday", "dayofyear"):
        return UNKNOWN
    old = operation.receiver.bound_to
    return mapped(old, "int32" if old.fact("has_nan") is False else None) if old is not None else UNKNOWN


@RULES.method("pandas.StringMethods")
def of_text(operation: Operation) -> Answer:
    old = operation.receiver.bound_to
    if old is None or operation.name not in _TEXT_TO_TEXT:
        return UNCHANGED
    return mapped(old, "str" if dtype_of(old) == "str" else "object" if dtype_of(old) == "object" else None)


_TEXT_TO_TEXT: Final = ("lower", "upper", "strip", "lstrip", "rstrip", "title", "capitalize", "replace", "zfill")


# Sums and means of texts


@RULES.method(SERIES, "mean", "std", "var", "median", "skew", "kurt", "sem")
def moment(operation: Operation) -> Answer:
    old = operation.receiver
    dtype = dtype_of(old)
    if not operation.arguments.keywords.get("numeric_only"):
        _is_summable(operation, old)
    if is_numeric(dtype) and not operation.arguments.positional and "axis" not in operation.arguments.keywords:
        is_told = operation.name in ("mean", "std", "var", "median") and dtype not in ("float16", "float32")
        return AbstractValue("numpy.float64" if is_told else "")
    return UNCHANGED


def _is_summable(operation: Operation, old: AbstractValue) -> None:
    dtype = dtype_of(old)
    is_bad = (dtype == "str" and is_pandas(operation, 3, 0)) or (dtype == "object" and bad_text(old) is not None)
    if not is_bad or not n_rows(old):
        return
    if dtype == "object" and (operation.name not in ("mean",) or not _is_text_or_missing(old)):
        return
    operation.crash(
        "TypeError",
        f"strings do not support {operation.name}",
        fact=f"{old.named('the column')} holds strings (dtype {dtype})",
        remedy=f"convert them to numbers first: {_TO_NUMBERS}",
    )


def _is_only_text(old: AbstractValue) -> bool:
    return old.item_types == {"str"}


def _is_text_or_missing(old: AbstractValue) -> bool:
    return bool(old.item_types) and old.item_types <= {"str", "NoneType", "float"}


# Functions called on elements


def elements_of(old: AbstractValue) -> list[AbstractValue]:
    """Elements that a series certainly has, as what a function called on them gets."""
    dtype, has_nan = dtype_of(old), old.fact("has_nan")
    if not n_rows(old) or dtype is None:
        return []
    if dtype in _ELEMENTS:
        return [AbstractValue(_ELEMENTS[dtype])]
    found = _texts_called(old)
    types = old.item_types if dtype == "object" else frozenset()
    found += [AbstractValue("str")] * ("str" in types)
    found += [AbstractValue("NoneType", literal=None)] * ("NoneType" in types)
    if has_nan is True and (dtype == "str" or {"float"} <= types <= {"str", "float"}):
        found.append(literal(float("nan")))
    return found


def _texts_called(old: AbstractValue) -> list[AbstractValue]:
    """Of a column of nothing but texts some of them, or any text; none of another."""
    if old.fact("has_nan") is not False or not (is_text(dtype_of(old)) or _is_only_text(old)):
        return []
    return [literal(text) for text in list(dict.fromkeys(some_texts(old)))[:_CALLED]] or [AbstractValue("str")]


_ELEMENTS: Final = {**dict.fromkeys(_WHOLE, "int"), "float64": "float", "float32": "float", "bool": "bool"}
"""What a function called on elements gets, by dtype."""
_CALLED: Final = 12
"""Texts of a column on which a function is tried."""


@RULES.method(SERIES, "apply", "map")
def applied(operation: Operation) -> Answer:
    old, given = operation.receiver, operation.arguments
    if not given.is_complete or not given.positional:
        return UNKNOWN
    function, *others = given.positional
    is_alone = not others and not given.keywords
    if function.type == "dict" or is_series(function):
        return _looked_up(old, function) if operation.name == "map" and is_alone else mapped(old)
    return _called_on_elements(operation, old, function) if function.type == "function" and is_alone else UNKNOWN


def _called_on_elements(operation: Operation, old: AbstractValue, function: AbstractValue) -> Answer:
    if not n_rows(old):
        return UNKNOWN  # it may never be called
    elements = elements_of(old)
    results = [operation.call(function, [element], {}) for element in elements or [AbstractValue()]]
    return mapped(old, _dtype_of_results(results) if elements else None)


def _looked_up(old: AbstractValue, by: AbstractValue) -> AbstractValue:
    """Values that the dict has not become NaN; where all are numbers, the dtype is one of fractions then."""
    certain = [value for value in values_told(old) if type(value) is int] + some_texts(old)
    if not by.members or not (is_text(dtype_of(old)) or is_numeric(dtype_of(old))):
        return mapped(old)
    are_numbers = all(type(member.literal) in (int, float) for member in by.members.values())
    has_new = any(value not in by.members for value in certain)
    return mapped(old, "float64", has_nan=True) if has_new and are_numbers else mapped(old)


def _dtype_of_results(results: list[AbstractValue]) -> str | None:
    return "float64" if {result.type for result in results} <= {"float", "numpy.float64"} else None


@RULES.method(FRAME, "apply")
def applied_to_frame(operation: Operation) -> Answer:
    old, given = operation.receiver, operation.arguments.bound("func, /, axis=0, *rest")
    if given is None:
        return UNKNOWN
    function = given["func"]
    if function.type != "function":
        return UNCHANGED
    if not n_rows(old):
        return UNKNOWN  # it may never be called
    for parts in _handed_over(old, literal_of(given.get("axis"), 0)) or [AbstractValue()]:
        operation.call(function, [parts], {})
    return UNCHANGED


def _handed_over(old: AbstractValue, axis: Any) -> list[AbstractValue]:
    """What `apply` calls its function on: a row, or each column."""
    if not n_rows(old):
        return []
    if axis in (1, "columns"):
        return [row_of(old)] if n_columns(old) else []
    return [column(old, label) for label in labels_of(old) or ()] if axis in (0, "index") else []


def row_of(old: AbstractValue) -> AbstractValue:
    """One row, as iterrows and apply hand it over: a series of which the labels are the columns."""
    facts = known_facts(row_labels=label_set(old), length=n_columns(old))
    return AbstractValue(SERIES, facts, words=f"a row of {old.words}")


@RULES.item(SERIES)
def item_of_series(operation: Operation) -> Answer:
    old, asked = operation.receiver, operation.first
    if asked.type == "slice":
        return some_rows(old)
    labels, value = old.fact("row_labels"), asked.literal
    if isinstance(labels, frozenset) and isinstance(value, str) and value not in labels:
        operation.crash(
            "KeyError",
            f"the row has no label {value!r}",
            fact=told_columns(AbstractValue(FRAME, {"column_labels": labels}, words=old.words), value),
            remedy="use a label that the row has",
        )
    if (is_series(asked) or asked.type == "numpy.ndarray") and asked.fact("dtype") == "bool":
        return some_rows(old)
    return _at_label(operation, old, value) if type(value) in (int, str) else UNCHANGED


def _at_label(operation: Operation, old: AbstractValue, label: Any) -> Answer:
    """An element by its label, in an index that counts the rows."""
    kept = row_range(old)
    if kept is None:
        return UNCHANGED
    if label not in kept:
        operation.crash(
            "KeyError",
            f"the index has no label {label!r}",
            fact=f"{old.named('the series')} has the index {kept}",
            remedy="use positions with .iloc[...]"
            if type(label) is int
            else "use an existing label, or select rows by a condition",
        )
    return scalar(dtype_of(old)) if is_numeric(dtype_of(old)) else UNCHANGED


@RULES.set_item(SERIES)
def store_in_series(operation: Operation) -> Answer:
    old = operation.receiver
    changed(operation, old)
    old.forget()
    return UNCHANGED


# Methods that keep the rows, or some of them


@RULES.method(SERIES, "copy", "round", "abs", "fillna", "shift", "diff", "cumsum", "cumprod", "clip", "rank", "ffill",
              "bfill", "isnull", "isna", "notnull", "notna", "isin", "between", "duplicated", "pct_change", "replace",
              "interpolate", "mask", "where")  # fmt: skip
def kept_rows(operation: Operation) -> Answer:
    old = operation.receiver
    if "inplace" in operation.arguments.keywords:
        return UNKNOWN
    if operation.name == "copy":
        return same_again(old)
    if operation.name == "fillna":
        _is_category(operation, old)
    if operation.name in ("isnull", "isna", "notnull", "notna", "isin", "between", "duplicated"):
        return mapped(old, "bool")
    is_float = is_numeric(dtype_of(old)) and kind_of(dtype_of(old)) == "f"
    return mapped(
        old, dtype_of(old) if is_float and operation.name in ("round", "abs", "shift", "diff", "clip") else None
    )


def _is_category(operation: Operation, old: AbstractValue) -> None:
    """Missing values of a column of categories are filled with one of them."""
    given = operation.arguments.bound("value=None, **others") or {}
    value, categories = literal_of(given.get("value")), old.fact("categories")
    is_asked = dtype_of(old) == "category" and old.fact("has_nan") is True and type(value) in (str, int)
    if not is_asked or not isinstance(categories, list):
        return
    is_whole = all(type(each) is type(value) and "\u2026" not in str(each) for each in categories)
    if is_whole and 0 < len(categories) < _MOST_CATEGORIES and value not in categories:
        operation.crash(
            "TypeError",
            f"Cannot setitem on a Categorical with a new category ({value!r})",
            fact=f"{old.named('the column')} has the categories {', '.join(map(repr, categories[:8]))}",
            remedy=f"add it first: .cat.add_categories({value!r})",
        )


@RULES.attribute(SERIES, "shape", "size", "values", "dtype", "ndim", "empty", "hasnans", "is_unique", "T", "array")
def attribute_of_series(operation: Operation) -> Answer:
    old = operation.receiver
    rows = n_rows(old)
    number = integer(rows)
    match operation.name:
        case "shape":
            return AbstractValue("tuple", items=[number])
        case "size":
            return number
        case "ndim":
            return literal(1)
        case "values":
            return _as_array(old)
        case "T":
            return old
        case "hasnans" | "is_unique" | "empty":
            return AbstractValue("bool")
    return UNKNOWN


def _as_array(old: AbstractValue) -> AbstractValue:
    dtype = dtype_of(old)
    if dtype is not None and (is_numeric(dtype) or dtype == "bool"):
        found = old.fact("value_range") or old.mapping("value_info").get("value_range")
        return array((n_rows(old),), dtype, has_nan=old.fact("has_nan"), value_range=found)
    return array((n_rows(old),), "object") if dtype == "object" else AbstractValue()


@RULES.function("builtins.len")
def length(operation: Operation) -> Answer:
    old = operation.first
    if old.is_a("pandas", "Index", "RangeIndex", "DatetimeIndex"):
        count = old.fact("length")
        return literal(count) if type(count) is int else AbstractValue("int")
    if not (is_frame(old) or is_series(old)):
        return UNKNOWN
    rows = n_rows(old)
    return integer(rows)


@RULES.truth(FRAME)
@RULES.truth(SERIES)
def truth(operation: Operation) -> Answer:
    old = operation.receiver
    return operation.crash(
        "ValueError",
        f"The truth value of a {old.class_name} is ambiguous",
        fact=f"{old.named(operation.text)} is a {old.class_name}",
        remedy="use .empty, .any() or .all(); combine conditions with & and |, in parentheses",
    )
