"""Values of series: casts, strings that are neither numbers nor dates, accessors, means, functions on elements."""

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import (
    AbstractValue,
    integer,
    known_facts,
    literal,
)
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    dtype_meant,
    kind_of,
    literal_of,
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
    some_rows,
    told_columns,
    with_columns,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation, is_before

RULES = Family("pandas: values")
_WHOLE: Final = (
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)
_TO_NUMBERS: Final = (
    "use pandas.to_numeric(..., errors='coerce'), and check what becomes NaN"
)


def dtype_of(value: AbstractValue) -> str | None:
    """The dtype of a series; None if it is unknown."""
    dtype = value.fact("dtype")
    return dtype if isinstance(dtype, str) else None


def bad_text(abstract: AbstractValue, *, is_whole: bool = False) -> str | None:
    """A text that is certainly in a series and reads as no number."""
    is_object = dtype_of(abstract) == "object" and _is_said_to_be_text(abstract)
    if not is_object and not is_text(dtype_of(abstract)):
        return None
    if (
        # "1.5" reads as a float and not as an integer, so for integers each string is tried.
        abstract.fact("texts_look_like") == "numbers"
        and abstract.fact("n_other_texts") == 0
        and not is_whole
    ):
        return None
    texts = [
        value
        for value in _first_to_last(abstract, is_whole=is_whole)
        if isinstance(value, str) and not value.endswith("\u2026")
    ]
    return next(
        (
            text
            for text in texts
            if not reads_as_number(text, is_whole=is_whole)
        ),
        None,
    )


def _first_to_last(abstract: AbstractValue, *, is_whole: bool) -> list[Any]:
    """Values that a state shows, before them the first text that is not a number, as a crash names that one."""
    told = values_told(abstract)
    numbers = [
        text
        for text in told
        if isinstance(text, str) and reads_as_number(text, is_whole=False)
    ]
    # "1.5" before it would be the first that is not an integer.
    is_first = not is_whole or all(
        reads_as_number(text, is_whole=True) for text in numbers
    )
    return [abstract.fact("first_no_number"), *told] if is_first else told


def _is_said_to_be_text(value: AbstractValue) -> bool:
    """A published state writes texts for whatever an object is: only a column of nothing but texts is certain."""
    return "str" in value.item_types


# Casts


@RULES.method(SERIES, "astype")
def astype(operation: Operation) -> Answer:
    """The column with another dtype; raises Crash for values that certainly do not convert."""
    old = operation.receiver
    given = operation.arguments.bound("dtype, copy=None, errors='raise'")
    if given is None:
        return UNCHANGED
    # errors="ignore" returns the column as it was.
    if "errors" in given:
        return mapped(old)
    wanted = dtype_asked(given["dtype"])
    cast(operation, old, wanted)
    # pandas 3 made strings the dtype str; before, they were objects.
    if given["dtype"].path == "builtins.str" or given["dtype"].literal == "str":
        return mapped(old, "str" if is_pandas(operation, 3, 0) else "object")
    return mapped(old, wanted)


def dtype_asked(value: AbstractValue) -> str | None:
    """The requested dtype; None if it is not one of NumPy's or not known."""
    if value.literal == "category":
        return "category"
    # "Int64" is a dtype of pandas that keeps missing values; "int64" is NumPy's and refuses them.
    if isinstance(value.literal, str) and not value.literal.islower():
        return value.literal
    # Anything can become a string: no value is refused.
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
            f"could not convert string to {'float' if kind == 'f' else 'int'}: {bad!r}",
            fact=f"{old.named('the column')} holds the string {bad!r}",
            remedy=_TO_NUMBERS,
        )
    if kind != "f":
        _refuse_missing(operation, old)


def _refuse_missing(operation: Operation, old: AbstractValue) -> None:
    """Missing and infinite values cannot become integers."""
    has_nan = old.fact("has_nan") is True or old.fact("has_inf") is True
    if has_nan and is_numeric(dtype_of(old)) and kind_of(dtype_of(old)) == "f":
        operation.crash(
            # IntCastingNaNError, a ValueError, came with pandas 1.3.
            "ValueError"
            if is_before(operation, "pandas", 1, 3)
            else "IntCastingNaNError",
            "cannot convert non-finite values (NA or inf) to integer",
            fact=f"{old.named('the column')} holds missing values",
            remedy="fill or drop them first, or use dtype 'Int64'",
        )


@RULES.method(FRAME, "astype")
def astype_of_frame(operation: Operation) -> Answer:
    """The frame with other dtypes; raises Crash for values that certainly do not convert."""
    old = operation.receiver
    given = operation.arguments.bound("dtype, copy=None, errors='raise'")
    if given is None or "errors" in given:
        return AbstractValue(FRAME)
    asked = given["dtype"]
    wanted = (
        dict.fromkeys(labels_of(old) or (), asked)
        if asked.type != "dict"
        else asked.members or {}
    )
    for label, dtype in wanted.items():
        need_column(operation, old, label)
        cast(operation, column(old, label), dtype_asked(dtype))
    made = with_columns(old, labels_of(old))
    made.drop({"dtypes", "per_column"})
    return made


@RULES.function("pandas.to_numeric")
def to_numeric(operation: Operation) -> Answer:
    """Numbers of the same rows; raises Crash for a string that is certainly no number."""
    given = operation.arguments.bound(
        "arg, errors='raise', downcast=None, dtype_backend=None"
    )
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
    return mapped(old)


@RULES.function("pandas.to_datetime")
def to_datetime(operation: Operation) -> Answer:
    """Dates of the same rows; raises Crash for strings that the first one's format does not fit."""
    given = operation.arguments.bound(
        "arg, errors='raise', dayfirst=False, yearfirst=False, utc=False, format=None, exact=True, unit=None,"
        " infer_datetime_format=None, origin='unix', cache=True"
    )
    if given is None or not is_series(given["arg"]):
        return UNCHANGED
    old = given["arg"]
    _refuse_formats(operation, old, given)
    return mapped(old)


def _refuse_formats(
    operation: Operation, old: AbstractValue, given: Mapping[str, AbstractValue]
) -> None:
    """The first text, those with the largest numbers, and bad ones, as the kernel's pandas reads them.

    Without a format, the first text decides it.
    """
    options = {name: given[name].literal for name in given if name != "arg"}
    others = old.fact("other_texts")
    # errors, utc, exact and others change what is refused.
    if not options.keys() <= {"format", "dayfirst"} or not {
        str,
        bool,
    }.issuperset(map(type, options.values())):
        return
    version = operation.packages.get("pandas", "")
    bad = (
        [text for text in others if _read_dates((text,), (), version)]
        if isinstance(others, list)
        else []
    )
    telling = (
        old.fact("telling_dates")
        or [value for value in values_told(old) if value not in bad][:1]
    )
    texts = [*telling, *bad]
    # A string that the state cut would be refused for its ellipsis.
    if len(texts) < 2 or any(
        not isinstance(text, str) or "\u2026" in text for text in texts
    ):
        return
    error = _read_dates(tuple(texts), tuple(options.items()), version)
    if error is not None:
        operation.crash(
            type(error).__name__,
            # pandas adds advice about formats, over several lines.
            str(error).partition(". You might")[0].partition("\n")[0][:200],
            fact=f"{old.named('the column')} holds {', '.join(map(repr, texts))}",
            remedy="pass their format, such as format='%d/%m/%Y', or dayfirst=True; or errors='coerce'",
        )


@cache
def _read_dates(
    texts: tuple[str, ...], options: tuple[tuple[str, Any], ...], version: str
) -> Exception | None:
    import pandas

    # pandas 2.0 began to read all dates by the format of the first: only the same release answers.
    if pandas.__version__ != version:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pandas.to_datetime(list(texts), **dict(options))
        except (ValueError, TypeError) as error:
            return error
    return None


# Accessors


@RULES.attribute(SERIES, "str")
def texts(operation: Operation) -> Answer:
    """The accessor .str, which exists for columns of strings and of objects."""
    return AbstractValue("pandas.core.strings.accessor.StringMethods")


# Sums and means of texts


@RULES.method(SERIES, "mean")
def mean(operation: Operation) -> Answer:
    """Sums of texts are not divided."""
    old = operation.receiver
    # Other objects, such as Decimal, have a mean. Older pandas also read "1" and "2" as numbers,
    # so a string that float() refuses is needed.
    is_only_text = bool(old.item_types) and old.item_types <= {
        "str",
        "NoneType",
        "float",
    }
    if (
        dtype_of(old) == "object"
        and n_rows(old)
        and is_only_text
        and bad_text(old) is not None
    ):
        operation.crash(
            "TypeError",
            "strings do not support mean",
            fact=f"{old.named('the column')} holds strings (dtype object)",
            remedy=f"convert them to numbers first: {_TO_NUMBERS}",
        )
    return UNCHANGED


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
    # None and pd.NA have types that the state names: beside strings a float is the missing value.
    if has_nan is True and (
        dtype == "str" or {"float"} <= types <= {"str", "float"}
    ):
        found.append(literal(float("nan")))
    return found


def _texts_called(old: AbstractValue) -> list[AbstractValue]:
    """Of a column of nothing but texts some of them, or any text; none of another."""
    if old.fact("has_nan") is not False or not (
        is_text(dtype_of(old)) or old.item_types == {"str"}
    ):
        return []
    return [
        literal(text) for text in list(dict.fromkeys(some_texts(old)))[:_CALLED]
    ] or [AbstractValue("str")]


# map_array of pandas makes objects of an array first, so these are Python's own
# numbers.
_ELEMENTS: Final = {
    **dict.fromkeys(_WHOLE, "int"),
    "float64": "float",
    "float32": "float",
    "bool": "bool",
}
"""What a function called on elements gets, by dtype."""
_CALLED: Final = 12
"""Texts of a column on which a function is tried."""


@RULES.method(SERIES, "apply", "map")
def applied(operation: Operation) -> Answer:
    """A function on each element, or a lookup in a dict; raises what the function raises."""
    old, given = operation.receiver, operation.arguments
    if not given.is_complete or not given.positional:
        return UNKNOWN
    function, *others = given.positional
    is_alone = not others and not given.keywords
    is_map = operation.name == "map"
    if function.type == "dict" or is_series(function):
        return _looked_up(old, function) if is_map and is_alone else UNCHANGED
    if is_alone and function.path in ("builtins.float", "builtins.int"):
        _called_number(operation, old, is_whole=function.path.endswith("int"))
    if function.type != "function" or not is_alone or not n_rows(old):
        return UNKNOWN  # it may never be called
    made = [
        # Unknown elements, too, run the body once: a name that it lacks is missing for any of them.
        operation.call(function, [element], {})
        for element in elements_of(old) or [AbstractValue()]
    ]
    return (
        mapped(old)
        # apply makes a frame where the function returns series; map does not.
        if is_map or all(value.type and not is_series(value) for value in made)
        else UNCHANGED
    )


def _called_number(
    operation: Operation, old: AbstractValue, *, is_whole: bool
) -> None:
    """float and int refuse a text that reads as no number; where only texts are, none before it has other faults."""
    if old.fact("has_nan") is not False:
        return
    if (bad := bad_text(old, is_whole=is_whole)) is not None:
        operation.crash(
            "ValueError",
            f"invalid literal for int() with base 10: {bad!r}"
            if is_whole
            else f"could not convert string to float: {bad!r}",
            fact=f"{old.named('the column')} holds the string {bad!r}",
            remedy=_TO_NUMBERS,
        )


def _looked_up(old: AbstractValue, by: AbstractValue) -> AbstractValue:
    """Values that the dict has not become NaN; where all are numbers, the dtype is one of fractions then."""
    certain = [
        value for value in values_told(old) if type(value) is int
    ] + some_texts(old)
    if not by.members or not (
        is_text(dtype_of(old)) or is_numeric(dtype_of(old))
    ):
        return mapped(old)
    are_numbers = all(
        type(member.literal) in (int, float) for member in by.members.values()
    )
    has_new = any(value not in by.members for value in certain)
    return (
        mapped(old, "float64", has_nan=True)
        if has_new and are_numbers
        else mapped(old)
    )


@RULES.method(FRAME, "apply")
def applied_to_frame(operation: Operation) -> Answer:
    """A function on each row or column, run once; raises what the function raises."""
    old, given = (
        operation.receiver,
        operation.arguments.bound("func, /, axis=0, *rest"),
    )
    if given is None:
        return UNKNOWN
    if given["func"].type != "function":
        return UNCHANGED
    if not n_rows(old):
        return UNKNOWN  # it may never be called
    is_by_row = literal_of(given.get("axis"), 0) in (
        1,
        "columns",
    ) and n_columns(old)
    operation.call(
        given["func"], [row_of(old) if is_by_row else AbstractValue()], {}
    )
    return UNCHANGED


def row_of(old: AbstractValue) -> AbstractValue:
    """One row, as iterrows and apply hand it over: a series of which the labels are the columns."""
    facts = known_facts(row_labels=label_set(old), length=n_columns(old))
    return AbstractValue(SERIES, facts, words=f"a row of {old.words}")


@RULES.item(SERIES)
def item_of_series(operation: Operation) -> Answer:
    """Some of a series; raises Crash for a label that a row of a frame certainly lacks."""
    old, asked = operation.receiver, operation.first
    if asked.type == "slice":
        return some_rows(old)
    labels, value = old.fact("row_labels"), asked.literal
    # Integers are left out: before pandas 3, row[0] is a position where labels are strings.
    if (
        isinstance(labels, frozenset)
        and isinstance(value, str)
        and value not in labels
    ):
        operation.crash(
            "KeyError",
            f"the row has no label {value!r}",
            fact=told_columns(
                AbstractValue(
                    FRAME, {"column_labels": labels}, words=old.words
                ),
                value,
            ),
            remedy="use a label that the row has",
        )
    if (is_series(asked) or asked.type == "numpy.ndarray") and asked.fact(
        "dtype"
    ) == "bool":
        return some_rows(old)
    return UNCHANGED


@RULES.set_item(SERIES)
def store_in_series(operation: Operation) -> Answer:
    """The series has other values, and so has every other name of it."""
    old = operation.receiver
    changed(operation, old)
    # A new label adds an element, and before pandas 3 any value may change the dtype.
    old.forget()
    return UNCHANGED


@RULES.function("builtins.len")
def length(operation: Operation) -> Answer:
    """len() of a frame, series or index, where the number is known."""
    old = operation.first
    if old.is_a("pandas", "Index", "RangeIndex", "DatetimeIndex"):
        return integer(old.fact("length"))
    return integer(n_rows(old)) if is_frame(old) or is_series(old) else UNKNOWN


@RULES.truth(FRAME)
@RULES.truth(SERIES)
def truth(operation: Operation) -> Answer:
    """Raises Crash: no frame or series has a boolean."""
    old = operation.receiver
    return operation.crash(
        "ValueError",
        f"The truth value of a {old.class_name} is ambiguous",
        fact=f"{old.named(operation.text)} is a {old.class_name}",
        remedy="use .empty, .any() or .all(); combine conditions with & and |, in parentheses",
    )
