"""Data as scikit-learn takes them: how many samples and features, their names, and which values certainly are in them.

Knows frames, series, arrays, sparse matrices and lists of which the state, or an earlier step, tells enough. What one
row among many has is certain of the whole only; `rows_of` says what remains certain of a part of the rows.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from crane_core.detectors.rules.abstract_value import (
    AbstractValue,
    known_facts,
    restricted,
)
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.families.pandas_frames import (
    is_frame,
    is_series,
    label_set,
)
from crane_core.detectors.rules.shapes import Shape

_LONGEST_TEXT = 100
_TEXT_DTYPES = ("object", "str", "string", "category")
_KEPT_OF_ROWS = (
    "columns",
    "column_labels",
    "dtypes",
    "distinct_dtypes",
    "dtype",
    "name",
    "column_index",
)
_TOLD_VALUES = (
    "no_number",
    "other_texts",
    "unique_values",
    "example_values",
    "items",
)
"""Facts that hold values which certainly occur."""
# A value for fractions that a state counts and does not show.
_SOME_FRACTION = 0.37


class Flaw(NamedTuple):
    """What is wrong with data, by the name it has in the table of classes ("text", "nan", "inf"), in words."""

    name: str
    fact: str
    value: Any


def is_sparse(value: AbstractValue) -> bool:
    """Whether it is a sparse matrix or array of SciPy."""
    # SciPy has csr_matrix and csr_array beside each other.
    return value.package == "scipy" and value.class_name.endswith(
        ("_matrix", "_array")
    )


def shape_as_array(value: AbstractValue) -> Shape | None:
    """The shape that numpy.asarray of it has; None where not even the number of dimensions is known."""
    shape = value.fact("shape")
    if value.is_a("pandas", "Series", "Index", "RangeIndex"):
        length = value.fact("length")
        return (
            shape
            if isinstance(shape, tuple)
            else (length if isinstance(length, int) else None,)
        )
    is_table = (
        is_frame(value) or is_array(value) or is_sparse(value) or not value.type
    )
    return shape if is_table and isinstance(shape, tuple) else None


def n_samples(value: AbstractValue) -> int | None:
    """The number of rows of a table, array or list; None if it is unknown."""
    if (shape := shape_as_array(value)) is not None:
        return shape[0] if shape else None
    if value.type in ("list", "tuple"):
        length = (
            len(value.items)
            if value.items is not None
            else value.fact("length")
        )
        return length if isinstance(length, int) else None
    return None


def n_features(value: AbstractValue) -> int | None:
    """The number of columns of a table or array; None if it is unknown, or has one dimension."""
    shape = shape_as_array(value)
    return shape[1] if shape is not None and len(shape) == 2 else None


def columns_of(value: AbstractValue) -> tuple[Any, ...] | None:
    """All labels of a frame's columns, in order."""
    columns = value.fact("columns")
    return columns if is_frame(value) and isinstance(columns, tuple) else None


def names_of(value: AbstractValue) -> tuple[str, ...] | None:
    """The names of features that an estimator reads off a frame; None if it reads none, or they are not known."""
    columns = columns_of(value)
    return (
        columns
        # _get_feature_names of scikit-learn reads names only where all are
        # strings.
        if columns and all(isinstance(label, str) for label in columns)
        else None
    )


def per_column(value: AbstractValue) -> Mapping[Any, Mapping[str, Any]]:
    """The facts of each column, as far as they are known."""
    return {
        label: facts
        for label, facts in value.mapping("per_column").items()
        if isinstance(facts, Mapping)
    }


def dtypes_of(value: AbstractValue) -> Mapping[Any, str]:
    """dtypes by column; published states keep them among the facts of the columns."""
    found = value.fact("dtypes")
    if isinstance(found, Mapping):
        return found
    return {
        label: str(facts["dtype"])
        for label, facts in per_column(value).items()
        if "dtype" in facts
    }


def facts_by_column(frame: AbstractValue) -> dict[Any, dict[str, Any]]:
    """What is known of each column of which something is: its dtype and values, also what the frame tells of them."""
    own, dtypes, missing = (
        per_column(frame),
        dtypes_of(frame),
        frame.mapping("n_nan"),
    )
    infinite = frame.fact("columns_with_inf") or ()
    found = {}
    for label in dict.fromkeys([*own, *dtypes, *missing, *infinite]):
        told = known_facts(dtype=dtypes.get(label), n_nan=missing.get(label))
        told |= {"has_inf": True} if label in infinite else {}
        told |= {"has_nan": False} if frame.fact("has_nan") is False else {}
        info = own.get(label, {}).get("value_info")
        found[label] = {
            **told,
            **own.get(label, {}),
            **(info if isinstance(info, Mapping) else {}),
        }
    return found


def values_of(value: AbstractValue) -> dict[str, Any]:
    """Facts about the values of a series or array, those of value_info among them."""
    return {**value.facts, **value.mapping("value_info")}


def columns_in_any_order(value: AbstractValue) -> tuple[Any, ...] | None:
    """All labels of a frame whose order no state tells."""
    labels = label_set(value) if is_frame(value) else None
    return None if labels is None else tuple(sorted(labels, key=str))


# Values that certainly occur


def flaws(value: AbstractValue) -> Iterator[Flaw]:
    """Texts that do not read as numbers, missing and infinite values that these data certainly have, texts first."""
    words = value.named("it")
    found = [
        (known, place)
        for place, facts in _columns_in_words(value)
        for known, _ in certain(facts, n_samples(value))
    ]
    named = [
        Flaw(name, f"{place} holds {known!r}", known)
        for known, place in found
        if (name := _flaw(known))
    ]
    # scikit-learn converts to numbers before it looks for NaN, so strings are refused first.
    yield from sorted(named, key=lambda flaw: flaw.name != "text")
    # A state may say that values are missing, and not in which column.
    if is_frame(value) and value.fact("has_nan") is True and not named:
        yield Flaw("nan", f"{words} holds missing values", math.nan)


def negatives(value: AbstractValue) -> Iterator[Flaw]:
    """Numbers below zero that these data certainly have, by column."""
    for place, facts in _columns_in_words(value):
        low, _ = range_of(facts)
        if low is not None and low < 0:
            yield Flaw("negative", f"{place} holds {low:g}", low)


def _columns_in_words(
    value: AbstractValue,
) -> list[tuple[str, Mapping[str, Any]]]:
    words = value.named("it")
    if is_frame(value):
        return [
            (f"column {label!r} of {words}", facts)
            for label, facts in facts_by_column(value).items()
        ]
    return (
        [(words, values_of(value))]
        if is_series(value) or is_array(value)
        else []
    )


def _flaw(value: Any) -> str:
    if value is None or value != value:
        return "nan"
    return (
        "text" if isinstance(value, str) else "inf" if math.isinf(value) else ""
    )


def certain(
    facts: Mapping[str, Any], n_all: int | None
) -> list[tuple[Any, int]]:
    """Values that certainly occur, one for each way in which data may not fit, and in how many rows at least."""
    dtype = str(facts.get("dtype", ""))
    n_texts, text = texts_that_are_no_numbers(facts, n_all)
    text = no_number(facts, dtype) if text is None else text
    low, high = range_of(facts)
    fraction = fraction_in(facts)
    found = (
        (text, max(n_texts, 1) if text is not None else 0),
        _missing(facts),
        (
            math.inf,
            int(
                facts.get("has_inf") is True
                or math.inf in (high, -(low or 0.0))
            ),
        ),
        # Negative numbers: MultinomialNB and chi2 take counts only.
        (low, int(low is not None and -math.inf < low < 0)),
        # Fractions: classifiers refuse them in a target.
        (
            fraction,
            (facts.get("n_fractions") or 1) if fraction is not None else 0,
        ),
    )
    return [(value, count) for value, count in found if count]


def _missing(facts: Mapping[str, Any]) -> tuple[float | None, int]:
    """What marks missing values, and how many there are at least."""
    n_missing, types = facts.get("n_nan"), facts.get("item_types")
    is_missing = facts.get("has_nan") is True or bool(n_missing)
    # Objects without floats are missing by None, which encoders keep apart from NaN.
    value = (
        None
        if isinstance(types, Mapping)
        and "NoneType" in types
        and "float" not in types
        else math.nan
    )
    return value, (
        n_missing if type(n_missing) is int else 1
    ) if is_missing else 0


def fraction_in(facts: Mapping[str, Any]) -> float | None:
    """A fraction that is certainly among the values."""
    dtype = str(facts.get("dtype", ""))
    # lower(): "Float64" of pandas holds fractions, too.
    if dtype and not dtype.lower().startswith("float"):
        return None
    known = [facts.get("fraction")]
    for name in ("unique_values", "items", "value_range"):
        known += (
            row if isinstance(row := facts.get(name), (list, tuple)) else ()
        )
    found = next(filter(_is_fraction, known), None)
    return (
        _SOME_FRACTION if found is None and facts.get("n_fractions") else found
    )


def _is_fraction(value: Any) -> bool:
    # type_of_target takes 1.0 and 2.0 for classes, and only fractions for
    # measurements.
    return isinstance(value, float) and math.isfinite(value) and value % 1 != 0


def is_continuous(value: AbstractValue) -> bool:
    """Whether fractions are certainly among these targets, and no value is missing."""
    shape = shape_as_array(value)
    if (
        shape is None
        # type_of_target calls several columns of fractions
        # "continuous-multioutput", of which messages differ.
        or len(shape) != 1
        or not (is_series(value) or is_array(value))
    ):
        return False
    facts = values_of(value)
    # NaN among targets is refused earlier, with other words.
    return fraction_in(facts) is not None and facts.get("has_nan") is not True


def range_of(facts: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The ends of the values, None each if unknown; a state may write infinity as a string."""
    found = facts.get("value_range")
    if (
        not isinstance(found, Sequence)
        or isinstance(found, str)
        or len(found) != 2
    ):
        return None, None
    low, high = (_number(end) for end in found)
    return low, high


def _number(value: Any) -> float | None:
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and value == value
    ):
        return float(value)
    # JSON has no infinity: states write it as a string.
    return {
        "Infinity": math.inf,
        "-Infinity": -math.inf,
        "inf": math.inf,
        "-inf": -math.inf,
    }.get(str(value))


def no_number(facts: Mapping[str, Any], dtype: str) -> str | None:
    """A text that certainly is among the values and does not read as a number."""
    # "<U5" is how NumPy writes its dtype of strings.
    if dtype and not dtype.startswith((*_TEXT_DTYPES, "<U")):
        return None
    known = [facts.get("first_no_number")]
    known += [text for name in _TOLD_VALUES for text in _flat(facts.get(name))]
    # A category that no row has does not occur: pandas keeps categories after rows were dropped.
    is_in_use = (
        "n_unused_categories" not in facts and "not_computed" not in facts
    )
    known += (
        _as_list(facts.get("categories"))
        if is_in_use and "ordered" in facts
        else []
    )
    return next((text for text in known if _is_no_number(text)), None)


def _flat(value: Any, depth: int = 3) -> Iterator[Any]:
    for part in (
        list(value)[:200]
        if isinstance(value, (list, tuple, set, frozenset)) and depth
        else ()
    ):
        yield from _flat(part, depth - 1)
    yield value


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple, set)) else []


def _is_no_number(text: Any) -> bool:
    """Whether float() certainly refuses; what a limit may have cut, and what names an object, tells nothing."""
    if (
        not isinstance(text, str)
        or len(text) > _LONGEST_TEXT
        or text.startswith("<")
    ):
        return False
    if "\u2026" in text or text.endswith("..."):
        return False
    try:
        float(text)
    except ValueError:
        # Published states write None, NaN and booleans as strings.
        return bool(text.strip()) and text.lower() not in (
            "none",
            "nan",
            "nat",
            "true",
            "false",
            "<na>",
        )
    return False


def all_values(facts: Mapping[str, Any]) -> list[Any] | None:
    """The values that occur, each once; None where they are not all stated."""
    values = facts.get("unique_values")
    return (
        values
        if isinstance(values, list) and facts.get("num_unique") == len(values)
        else None
    )


def texts_that_are_no_numbers(
    facts: Mapping[str, Any], n_all: int | None
) -> tuple[int, Any]:
    """How many values at least are texts that do not read as numbers, and one of them."""
    if "n_no_numbers" in facts:
        return facts["n_no_numbers"], facts.get("no_number")
    first = facts.get("first_no_number")
    n_missing = 0 if facts.get("has_nan") is False else facts.get("n_nan")
    if n_all is None or not isinstance(n_missing, int):
        return 0, None
    for values in filter(None, (all_values(facts), facts.get("categories"))):
        # If all values that occur are such strings, every row that is not missing has one.
        if all(map(_is_no_number, values)):
            return n_all - n_missing, first or values[0]
    told = (
        *_as_list(facts.get("example_values")),
        *_as_list(facts.get("unique_values")),
    )
    example = next(filter(_is_no_number, (first, *told)), None)
    n_numbers = facts.get("n_read_as_numbers")
    return (
        (n_all - n_missing - n_numbers, example)
        if example and isinstance(n_numbers, int)
        else (0, None)
    )


# Parts of data


def rows_of(value: AbstractValue, n_rows: int | None) -> AbstractValue:
    """A part of the rows, some in any order: what certainly holds of it, whichever rows they are.

    Of n rows in all at most n - n_rows are left out, so of k missing values at least k - (n - n_rows) stay.
    """
    part = AbstractValue(
        value.type, restricted(value.facts, _KEPT_OF_ROWS), words=value.words
    )
    n_all = n_samples(value)
    lost = None if n_all is None or n_rows is None else n_all - n_rows
    part.facts |= _size_of_rows(value, n_rows)
    if value.fact("has_nan") is False:
        part.facts["has_nan"] = False
    if is_frame(value):
        part.facts |= _columns_of_rows(value, lost)
    elif len(shape_as_array(value) or ()) == 1:
        found = _of_rows(values_of(value), n_all, lost)
        part.facts |= restricted(found, ("has_nan", "n_nan")) | (
            {"value_info": found} if found else {}
        )
    return part


def _size_of_rows(value: AbstractValue, n_rows: int | None) -> dict[str, Any]:
    shape, is_list = shape_as_array(value), value.type in ("list", "tuple")
    size = {} if shape is None or is_list else {"shape": (n_rows, *shape[1:])}
    return size | (
        {"length": n_rows}
        if n_rows is not None and (is_list or is_series(value))
        else {}
    )


def _columns_of_rows(value: AbstractValue, lost: int | None) -> dict[str, Any]:
    columns = {
        label: _of_rows(facts, n_samples(value), lost)
        for label, facts in per_column(value).items()
    }
    kept = {label: found for label, found in columns.items() if found}
    counts = value.mapping("n_nan")
    missing = (
        {}
        if lost is None
        else {
            label: count - lost
            for label, count in counts.items()
            if count > lost
        }
    )
    return ({"per_column": kept} if kept else {}) | (
        {"n_nan": missing, "has_nan": True} if missing else {}
    )


def _of_rows(
    facts: Mapping[str, Any], n_all: int | None, lost: int | None
) -> dict[str, Any]:
    """Facts of a column that hold of a part of it."""
    found: dict[str, Any] = (
        {"has_nan": False} if facts.get("has_nan") is False else {}
    )
    occurring = all_values(facts)
    found |= known_facts(
        among_values=facts.get("among_values")
        if occurring is None
        else occurring
    )
    if lost is None:
        return found
    n_texts, example = texts_that_are_no_numbers(facts, n_all)
    counts = restricted(facts, ("n_nan", "n_fractions")) | {
        "n_no_numbers": n_texts
    }
    kept = {
        name: count - lost
        for name, count in counts.items()
        if isinstance(count, int) and count > lost
    }
    if "n_nan" in kept:
        found["has_nan"] = True
    return (
        found
        | kept
        | ({"no_number": example} if "n_no_numbers" in kept else {})
    )
