"""Data as scikit-learn takes them: how many samples and features, their names, and which flaws they certainly have.

Knows frames, series, arrays, sparse matrices and lists of which the state, or an earlier step, tells enough. A flaw
that one row among many has is certain of the whole only; `rows_of` says what remains certain of a part of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts, restricted
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.families.pandas_frames import is_frame, is_series
from crane_core.detectors.rules.shapes import Shape, shown

_LONGEST_TEXT = 100
_TEXT_DTYPES = ("object", "str", "string", "category")
_KEPT_OF_ROWS = ("columns", "column_labels", "dtypes", "distinct_dtypes", "dtype", "name", "column_index")
_TOLD_VALUES = ("no_number", "other_texts", "unique_values", "example_values", "items")
"""Facts that hold values which certainly occur."""


class Flaw(NamedTuple):
    """What is wrong with data, by the name it has in the table of classes, and the fact in words."""

    name: str
    fact: str


def is_sparse(value: AbstractValue) -> bool:
    return value.package == "scipy" and value.class_name.endswith(("_matrix", "_array"))


def shape_as_array(value: AbstractValue) -> Shape | None:
    """The shape that numpy.asarray of it has; None where not even the number of dimensions is known."""
    shape = value.fact("shape")
    if value.is_a("pandas", "Series", "Index", "RangeIndex"):
        length = value.fact("length")
        return shape if isinstance(shape, tuple) else (length if isinstance(length, int) else None,)
    if value.type in ("list", "tuple"):
        return _nested_shape(value)
    is_table = is_frame(value) or is_array(value) or is_sparse(value) or not value.type
    return shape if is_table and isinstance(shape, tuple) else None


def _nested_shape(value: AbstractValue) -> Shape | None:
    if value.items is None:
        flat = set(value.fact("item_types", {})) <= {"int", "float", "str", "bool"} and "item_types" in value.facts
        return (value.fact("length"),) if flat and isinstance(value.fact("length"), int) else None
    inner = {(() if item.type in ("int", "float", "str", "bool") else shape_as_array(item)) for item in value.items}
    if len(inner) != 1:
        return (0,) if not value.items else None
    only = inner.pop()
    return None if only is None else (len(value.items), *only)


def n_samples(value: AbstractValue) -> int | None:
    if (shape := shape_as_array(value)) is not None:
        return shape[0] if shape else None
    if value.type in ("list", "tuple"):
        length = len(value.items) if value.items is not None else value.fact("length")
        return length if isinstance(length, int) else None
    return None


def n_features(value: AbstractValue) -> int | None:
    shape = shape_as_array(value)
    return shape[1] if shape is not None and len(shape) == 2 else None


def columns_of(value: AbstractValue) -> tuple[Any, ...] | None:
    """All labels of a frame's columns, in order."""
    columns = value.fact("columns")
    return columns if is_frame(value) and isinstance(columns, tuple) else None


def names_of(value: AbstractValue) -> tuple[str, ...] | None:
    """The names of features that an estimator reads off a frame; None if it reads none, or they are not known."""
    columns = columns_of(value)
    return columns if columns and all(isinstance(label, str) for label in columns) else None


def known_labels(value: AbstractValue) -> frozenset[Any] | None:
    """All labels of a frame's columns, in no order."""
    columns = columns_of(value)
    labels = value.fact("column_labels")
    if columns is not None:
        return frozenset(columns)
    return labels if is_frame(value) and isinstance(labels, frozenset) else None


# Flaws


def flaws(value: AbstractValue) -> Iterator[Flaw]:
    """All flaws that these data certainly have, as X; texts first, as they are met before the shape is looked at."""
    found = [*_flaws_of_shape(value), *_flaws_of_content(value)]
    yield from sorted(found, key=lambda flaw: flaw.name != "text")


def _flaws_of_content(value: AbstractValue) -> Iterator[Flaw]:
    if is_frame(value):
        yield from _flaws_of_frame(value)
    elif is_series(value) or is_array(value) or not value.type:
        yield from _flaws_of_values(value.facts, value.named("it"), str(value.fact("dtype", "")))
    elif value.type in ("list", "tuple"):
        yield from _flaws_of_list(value)


def _flaws_of_shape(value: AbstractValue) -> Iterator[Flaw]:
    shape, words = shape_as_array(value), value.named("it")
    if shape is None:
        return
    known = f"{words} has the shape {shown(shape)}"
    if len(shape) == 1:
        yield Flaw("series" if is_series(value) else "1d", known)
    if len(shape) == 3 and shape[0] != 0:
        yield Flaw("3d", known)
    if len(shape) == 2 and shape.count(0) == 1:
        yield Flaw("empty" if shape[0] == 0 else "no_columns", known)


def _flaws_of_frame(value: AbstractValue) -> Iterator[Flaw]:
    if n_samples(value) == 0:
        return
    words = value.named("the frame")
    if _mixes_names(value):
        yield Flaw("mixed_names", f"{words} mixes string and numeric column names")
    for label, facts in per_column(value).items():
        dtype = dtypes_of(value).get(label, "")
        if str(dtype).startswith("datetime64") and _has_number(value):
            yield Flaw("dates", f"column {label!r} of {words} holds times")
        yield from _flaws_of_values(facts, f"column {label!r} of {words}", str(dtype))
    yield from _missing_in_frame(value)


def _mixes_names(value: AbstractValue) -> bool:
    """Whether some columns have strings as names, and the others numbers."""
    if set(value.mapping("column_index").get("label_types", ())) == {"str", "int"}:
        return True
    columns = columns_of(value) or ()
    return len({isinstance(label, str) for label in columns}) == 2 and all(
        isinstance(label, (str, int)) for label in columns
    )


def _missing_in_frame(value: AbstractValue) -> Iterator[Flaw]:
    words = value.named("the frame")
    dtypes = dtypes_of(value)
    for label, count in value.mapping("n_nan").items():
        if isinstance(count, int) and count > 0:
            yield _missing(f"column {label!r} of {words} holds {count} missing values", str(dtypes.get(label, "float")))
    for label in value.fact("columns_with_inf") or ():
        yield Flaw("inf", f"column {label!r} of {words} holds infinity")
    if value.fact("has_nan") is True:
        yield Flaw("nan" if _is_numeric(value) else "nan?", f"{words} holds missing values")


def _is_numeric(value: AbstractValue) -> bool:
    """Whether the dtypes that are told are those of all columns, and of numbers."""
    known = [str(dtype) for dtype in (*dtypes_of(value).values(), *(value.fact("distinct_dtypes") or ()))]
    is_whole = "distinct_dtypes" in value.facts or len(dtypes_of(value)) == n_features(value)
    return is_whole and bool(known) and all(each.startswith(("float", "int", "bool", "uint")) for each in known)


def _missing(fact: str, dtype: str) -> Flaw:
    return Flaw("nan" if dtype.lower().startswith(("float", "int", "uint", "boolean")) else "nan?", fact)


def _has_number(value: AbstractValue) -> bool:
    return any(str(dtype).startswith(("float", "int")) for dtype in dtypes_of(value).values())


def per_column(value: AbstractValue) -> Mapping[Any, Mapping[str, Any]]:
    return {label: facts for label, facts in value.mapping("per_column").items() if isinstance(facts, Mapping)}


def dtypes_of(value: AbstractValue) -> Mapping[Any, str]:
    """dtypes by column; published states keep them among the facts of the columns."""
    found = value.fact("dtypes")
    if isinstance(found, Mapping):
        return found
    return {label: str(facts["dtype"]) for label, facts in per_column(value).items() if "dtype" in facts}


def _flaws_of_values(facts: Mapping[str, Any], words: str, dtype: str) -> Iterator[Flaw]:
    """Of one column, series or array."""
    info = facts.get("value_info")
    both = {**facts, **info} if isinstance(info, Mapping) else facts
    if (text := no_number(both, dtype)) is not None:
        yield Flaw("text", f"{words} holds the string {text!r}")
    if facts.get("has_nan") is True:
        yield _missing(f"{words} holds missing values", dtype)
    low, high = range_of(both)
    if both.get("has_inf") is True or low == -math.inf or high == math.inf:
        yield Flaw("inf", f"{words} holds infinity")
    if low is not None and -math.inf < low < 0:
        yield Flaw("negative", f"{words} goes down to {low:g}")


def range_of(facts: Mapping[str, Any]) -> tuple[float | None, float | None]:
    found = facts.get("value_range")
    if not isinstance(found, Sequence) or isinstance(found, str) or len(found) != 2:
        return None, None
    low, high = (_number(end) for end in found)
    return low, high


def _number(value: Any) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value:
        return float(value)
    return {"Infinity": math.inf, "-Infinity": -math.inf, "inf": math.inf, "-inf": -math.inf}.get(str(value))


def no_number(facts: Mapping[str, Any], dtype: str) -> str | None:
    """A text that certainly is among the values and does not read as a number."""
    if dtype and not dtype.startswith((*_TEXT_DTYPES, "<U")):
        return None
    known = [text for name in _TOLD_VALUES for text in _flat(facts.get(name))]
    is_in_use = "n_unused_categories" not in facts and "not_computed" not in facts
    known += _as_list(facts.get("categories")) if is_in_use and "ordered" in facts else []
    return next((text for text in known if _is_no_number(text)), None)


def _flat(value: Any, depth: int = 3) -> list[Any]:
    if isinstance(value, (list, tuple, set, frozenset)) and depth:
        return [each for part in list(value)[:200] for each in _flat(part, depth - 1)]
    return [value]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple, set)) else []


def _is_no_number(text: Any) -> bool:
    """Whether float() certainly refuses; what a limit may have cut, and what names an object, tells nothing."""
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT or text.startswith("<"):
        return False
    if "\u2026" in text or text.endswith("..."):
        return False
    try:
        float(text)
    except ValueError:
        return bool(text.strip()) and text.lower() not in ("none", "nan", "nat", "true", "false", "<na>")
    return False


def _flaws_of_list(abstract: AbstractValue) -> Iterator[Flaw]:
    words = abstract.named("the list")
    values = _flat(abstract.literal) if abstract.is_literal else []
    if (text := next((value for value in values if _is_no_number(value)), None)) is not None:
        yield Flaw("text", f"{words} holds the string {text!r}")
    fractions = [value for value in values if isinstance(value, float)]
    if any(map(math.isnan, fractions)):
        yield Flaw("nan", f"{words} holds NaN")
    if any(map(math.isinf, fractions)):
        yield Flaw("inf", f"{words} holds infinity")


# Parts of data


def rows_of(value: AbstractValue, n_rows: int | None, words: str = "", *, is_least: bool = False) -> AbstractValue:
    """A part of the rows, some in any order: what certainly holds of it, whichever rows they are.

    Of n rows in all at most n - n_rows are left out, so of k missing values at least k - (n - n_rows) stay. With
    `is_least` there may be more rows than n_rows.
    """
    part = AbstractValue(value.type, restricted(value.facts, _KEPT_OF_ROWS), words=words or value.words)
    n_all = n_samples(value)
    lost = None if n_all is None or n_rows is None else n_all - n_rows
    part.facts |= _size_of_rows(value, None if is_least else n_rows)
    if value.fact("has_nan") is False:
        part.facts["has_nan"] = False
    if is_frame(value):
        part.facts |= _columns_of_rows(value, lost)
    elif len(shape_as_array(value) or ()) == 1:
        part.facts |= _values_of_rows(value, lost)
    return part


def _size_of_rows(value: AbstractValue, n_rows: int | None) -> dict[str, Any]:
    shape, is_list = shape_as_array(value), value.type in ("list", "tuple")
    size = {} if shape is None or is_list else {"shape": (n_rows, *shape[1:])}
    return size | ({"length": n_rows} if n_rows is not None and (is_list or is_series(value)) else {})


def _columns_of_rows(value: AbstractValue, lost: int | None) -> dict[str, Any]:
    columns = {label: _of_rows(facts, n_samples(value), lost) for label, facts in per_column(value).items()}
    kept = {label: found for label, found in columns.items() if found}
    counts = value.mapping("n_nan")
    missing = {} if lost is None else {label: count - lost for label, count in counts.items() if count > lost}
    return ({"per_column": kept} if kept else {}) | ({"n_nan": missing, "has_nan": True} if missing else {})


def _values_of_rows(value: AbstractValue, lost: int | None) -> dict[str, Any]:
    found = _of_rows(values_of(value), n_samples(value), lost)
    own = {name: found.pop(name) for name in ("has_nan", "n_nan") if name in found}
    return own | ({"value_info": found} if found else {})


def values_of(value: AbstractValue) -> dict[str, Any]:
    """Facts about the values of a series or array, those of value_info among them."""
    return {**value.facts, **value.mapping("value_info")}


def _of_rows(facts: Mapping[str, Any], n_all: int | None, lost: int | None) -> dict[str, Any]:
    """Facts of a column that hold of a part of it."""
    found: dict[str, Any] = {"has_nan": False} if facts.get("has_nan") is False else {}
    occurring = all_values(facts)
    found |= known_facts(among_values=facts.get("among_values") if occurring is None else occurring)
    if lost is None:
        return found
    n_texts, example = texts_that_are_no_numbers(facts, n_all)
    counts = restricted(facts, ("n_nan", "n_fractions")) | {"n_no_numbers": n_texts}
    kept = {name: count - lost for name, count in counts.items() if isinstance(count, int) and count > lost}
    if "n_nan" in kept:
        found["has_nan"] = True
    return found | kept | ({"no_number": example} if "n_no_numbers" in kept else {})


def all_values(facts: Mapping[str, Any]) -> list[Any] | None:
    """The values that occur, each once; None where they are not all told."""
    values = facts.get("unique_values")
    return values if isinstance(values, list) and facts.get("num_unique") == len(values) else None


def texts_that_are_no_numbers(facts: Mapping[str, Any], n_all: int | None) -> tuple[int, Any]:
    """How many values at least are texts that do not read as numbers, and one of them."""
    if "n_no_numbers" in facts:
        return facts["n_no_numbers"], facts.get("no_number")
    n_missing = 0 if facts.get("has_nan") is False else facts.get("n_nan")
    if n_all is None or not isinstance(n_missing, int):
        return 0, None
    for values in filter(None, (all_values(facts), facts.get("categories"))):
        if all(map(_is_no_number, values)):
            return n_all - n_missing, values[0]
    told = (*_as_list(facts.get("example_values")), *_as_list(facts.get("unique_values")))
    example = next(filter(_is_no_number, told), None)
    n_numbers = facts.get("n_read_as_numbers")
    return (n_all - n_missing - n_numbers, example) if example and isinstance(n_numbers, int) else (0, None)
