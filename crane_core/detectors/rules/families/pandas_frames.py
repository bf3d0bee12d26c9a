"""Frames and series of pandas as abstract values: labels, dtypes, lengths and indexes as facts, handed on.

Pure. Knows the classes of pandas itself; subclasses of other packages compute as they like. A frame's columns are
known as "columns" (in order), or at least as "column_labels" (in no order); where neither is there, they are not known.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import (
    AbstractValue,
    known_facts,
    restricted,
)
from crane_core.detectors.rules.families.numpy_arrays import kind_of
from crane_core.detectors.rules.operation import Operation, is_at_least
from crane_core.detectors.rules.shapes import differ

FRAME: Final = "pandas.DataFrame"
SERIES: Final = "pandas.Series"
# "str" is the dtype of strings since pandas 3, "string" the older one.
TEXT: Final = ("str", "string", "string[python]", "string[pyarrow]")
"""Dtypes of texts and nothing but texts."""


def is_frame(value: AbstractValue) -> bool:
    """Whether it is a frame of pandas by its exact class."""
    return value.is_a("pandas", "DataFrame")


def is_series(value: AbstractValue) -> bool:
    """Whether it is a series of pandas by its exact class."""
    return value.is_a("pandas", "Series")


def labels_of(frame: AbstractValue) -> tuple[Any, ...] | None:
    """All columns in order."""
    columns = frame.fact("columns")
    return columns if isinstance(columns, tuple) else None


def label_set(frame: AbstractValue) -> frozenset[Any] | None:
    """All columns, in no order."""
    if (columns := labels_of(frame)) is not None:
        return frozenset(columns)
    found = frame.fact("column_labels")
    return found if isinstance(found, frozenset) else None


def index_labels(value: AbstractValue) -> tuple[Any, ...] | None:
    """All labels of an index of texts or integers, in order."""
    labels = value.fact("labels")
    # A state lists only the first labels of a long index: a loop over these would end too soon.
    if not isinstance(labels, (list, tuple)) or value.fact("length") != len(
        labels
    ):
        return None
    # An ellipsis marks a label that the state cut; as it is, it would be a missing column.
    # An index of booleans is a mask.
    is_plain = all(
        type(label) in (str, int) and "\u2026" not in str(label)
        for label in labels
    )
    return tuple(labels) if is_plain else None


def lacks(frame: AbstractValue, label: Any) -> bool:
    """Whether the frame certainly has no column of this label."""
    labels = label_set(frame)
    return (
        labels is not None
        and isinstance(label, (str, int, float, bool, tuple, type(None)))
        and label not in labels
    )


def lacks_key(frame: AbstractValue, label: Any) -> bool:
    """Whether neither a column nor a level of the index has this name."""
    names = index_names(frame)
    return lacks(frame, label) and names is not None and label not in names


def may_be_values(frame: AbstractValue, keys: AbstractValue) -> bool:
    """Whether a list of keys to group by, one of them no column, may be values: as many as there are rows."""
    return keys.items is None or n_rows(frame) in (None, len(keys.items))


def range_index(rows: int) -> dict[str, Any]:
    """The fact of an index that counts the rows."""
    return {"type": "RangeIndex", "range": [0, rows, 1], "unique": True}


def index_names(frame: AbstractValue) -> tuple[Any, ...] | None:
    """The names of the index; None if they are not known."""
    if isinstance(index := frame.fact("index"), Mapping):
        unnamed = [None] * len(index.get("level_sizes") or ())
        # A state has the sizes of the levels of a MultiIndex, and names only where there are some.
        is_known = (
            unnamed or index.get("type") != "MultiIndex" or "names" in index
        )
        return tuple(index.get("names") or unnamed) if is_known else None
    # Of selected rows, and of results of pandas, only names are known.
    names = frame.fact("index_names")
    return names if isinstance(names, tuple) else None


def n_rows(value: AbstractValue) -> int | None:
    """The number of rows of a frame or series; None if it is unknown."""
    if is_series(value):
        length = value.fact("length")
        return length if type(length) is int else None
    shape = value.fact("shape")
    return shape[0] if isinstance(shape, tuple) and len(shape) == 2 else None


def n_columns(frame: AbstractValue) -> int | None:
    """The number of columns of a frame; None if it is unknown."""
    if (columns := labels_of(frame)) is not None:
        return len(columns)
    shape = frame.fact("shape")
    return shape[1] if isinstance(shape, tuple) and len(shape) == 2 else None


def dtype_of_column(frame: AbstractValue, label: Any) -> str | None:
    """The dtype of a column; None if it is unknown."""
    # Published states tell dtypes among the facts of each column, ours apart.
    known = (
        frame.mapping("dtypes").get(label),
        column_facts(frame, label).get("dtype"),
    )
    return next((dtype for dtype in known if isinstance(dtype, str)), None)


def column_facts(frame: AbstractValue, label: Any) -> dict[str, Any]:
    """What is known of a column; empty for a label that the frame lacks."""
    known = frame.mapping("per_column").get(label)
    return dict(known) if isinstance(known, Mapping) else {}


def frame(
    columns: Iterable[Any] | None,
    rows: int | None = None,
    *,
    dtypes: Mapping[Any, str] | None = None,
    **facts: Any,
) -> AbstractValue:
    """A frame with these columns in this order; None if they are not known.

    Labels that are tuples may be those of a MultiIndex, in which a part of a label selects all columns below it.
    """
    if columns is None:
        return AbstractValue(
            FRAME,
            known_facts(
                **facts, shape=(rows, None), dtypes=dict(dtypes or ()) or None
            ),
        )
    labels, apart = tuple(columns), frozenset(columns)
    if any(isinstance(label, tuple) for label in labels):
        return AbstractValue(FRAME, {"shape": (rows, len(labels))})
    if len(apart) < len(labels):
        return AbstractValue(
            FRAME, {"shape": (rows, len(labels))}
        )  # where one label stands for several columns
    shape = (rows, len(labels))
    known = known_facts(
        **facts,
        columns=labels,
        column_labels=apart,
        shape=shape,
        dtypes=dict(dtypes or ()) or None,
    )
    return AbstractValue(FRAME, known)


def with_columns(
    old: AbstractValue,
    columns: Iterable[Any] | None,
    *,
    names: Mapping[Any, Any] | None = None,
) -> AbstractValue:
    """The same rows with other columns. `names` maps to the old label of each that was renamed."""
    kept = None if columns is None else tuple(columns)
    before = {label: (names or {}).get(label, label) for label in kept or ()}
    dtypes = {
        label: dtype
        for label, was in before.items()
        if (dtype := dtype_of_column(old, was)) is not None
    }
    per_column = {
        label: facts
        for label, was in before.items()
        if (facts := column_facts(old, was))
    }
    made = frame(
        kept, n_rows(old), dtypes=dtypes, per_column=per_column or None
    )
    return with_index_of(old, made)


def with_index_of(old: AbstractValue, new: AbstractValue) -> AbstractValue:
    """The new value, with the index of the old one as far as it is known."""
    new.facts |= restricted(old.facts, ("index", "index_names"))
    return new


def with_label_set(old: AbstractValue, labels: frozenset[Any]) -> AbstractValue:
    """The same rows with columns of which the order is not known."""
    made = frame(None, n_rows(old))
    made.facts |= {"column_labels": labels, "shape": (n_rows(old), len(labels))}
    return with_index_of(old, made)


def with_new_columns(
    old: AbstractValue, labels: Iterable[Any]
) -> AbstractValue:
    """The same rows with these columns too, the new ones at the end."""
    order, known = labels_of(old), label_set(old)
    if order is not None:
        return with_columns(
            old, [*order, *(label for label in labels if label not in order)]
        )
    return (
        with_columns(old, None)
        if known is None
        else with_label_set(old, known.union(labels))
    )


def some_rows(old: AbstractValue, count: int | None = None) -> AbstractValue:
    """Some of the rows, or all: labels and dtypes stay; of values nothing is certain."""
    names = index_names(old)
    if is_series(old):
        return series(
            count, old.fact("dtype"), old.fact("name"), index_names=names
        )
    made = frame(None, count)
    made.facts |= restricted(old.facts, ("columns", "column_labels", "dtypes"))
    # Names of the index stay. Its labels do not: nothing aligns with these rows for certain.
    made.facts |= known_facts(shape=(count, n_columns(old)), index_names=names)
    return made


def series(
    length: int | None = None,
    dtype: str | None = None,
    name: Any = None,
    *,
    words: str = "",
    **facts: Any,
) -> AbstractValue:
    """A series of which so much is known; None is unknown."""
    return AbstractValue(
        SERIES,
        known_facts(length=length, dtype=dtype, name=name, **facts),
        words=words,
    )


def column(old: AbstractValue, label: Any) -> AbstractValue:
    """frame[label]: dtype, values and index are those of the frame."""
    facts = column_facts(old, label)
    known = {name: facts[name] for name in facts if name != "dtype"}
    made = series(
        n_rows(old),
        dtype_of_column(old, label),
        label if isinstance(label, str) else None,
        words=f"{old.words}[{label!r}]"
        if old.words
        else f"the column {label!r}",
        **known,
    )
    return with_index_of(old, made)


def mapped(
    old: AbstractValue, dtype: str | None = None, **facts: Any
) -> AbstractValue:
    """A series of the same rows with other values."""
    return with_index_of(
        old, series(n_rows(old), dtype, old.fact("name"), **facts)
    )


# Kinds of columns


def is_text(dtype: str | None) -> bool:
    """Whether a dtype holds strings only; "object" does not say so."""
    return dtype in TEXT


def is_numeric(dtype: str | None) -> bool:
    """A dtype of numbers as NumPy has them; extension dtypes have their own rules."""
    return (
        dtype is not None
        and kind_of(dtype) in ("i", "u", "f")
        # Extension dtypes of numbers begin with a capital: "Int64" takes NA,
        # "int64" does not.
        and dtype.islower()
    )


# Aliases and evidence


def changed(operation: Operation, value: AbstractValue) -> None:
    """Columns or rows of a frame are others now: what may be the same object under another name is forgotten."""
    # A state does not link all names of one object: a frame with these labels may be this one.
    for other in operation.variables():
        if (
            other.type == value.type
            and _may_be_one(other, value)
            and not operation.is_told_apart(other, value)
        ):
            other.forget()


def _may_be_one(other: AbstractValue, value: AbstractValue) -> bool:
    if other is value:
        return False
    if is_series(value):
        return not differ(n_rows(other), n_rows(value))
    left, right = label_set(other), label_set(value)
    if differ(left, right):
        return False
    return not differ(n_rows(other), n_rows(value))


def replace_facts(value: AbstractValue, by: AbstractValue) -> None:
    """The object itself is changed."""
    words = value.words
    value.facts = dict(by.facts)
    value.words = words
    value.attributes = {}


def told_columns(old: AbstractValue, label: Any = None) -> str:
    """Which columns there are, those like a label first."""
    labels = labels_of(old) or old.fact("column_tuples")
    labels = labels or tuple(sorted(label_set(old) or (), key=str))
    like = [known for known in labels if _is_like(known, label)]
    shown = [repr(known) for known in (like or labels)[:12]]
    rest = (
        f" and {len(labels) - len(shown)} more"
        if len(labels) > len(shown)
        else ""
    )
    return f"{old.named('the frame')} has the columns {', '.join(shown)}{rest}"


def nearest(old: AbstractValue, label: Any) -> str:
    """The remedy: a label that differs only by blanks or capitals, else any column."""
    like = [
        known
        for known in (labels_of(old) or label_set(old) or ())
        if _is_like(known, label)
    ]
    return f"write {like[0]!r}" if len(like) == 1 else "use an existing column"


def _is_like(known: Any, label: Any) -> bool:
    return (
        # Blanks and capitals are the usual slips in headers of files: "Name " for "name".
        isinstance(known, str)
        and isinstance(label, str)
        and known.strip().casefold() == label.strip().casefold()
    )


def missing_column(
    operation: Operation, old: AbstractValue, label: Any
) -> None:
    """Raises Crash for a column that the frame lacks."""
    operation.crash(
        "KeyError",
        f"no column named {label!r}",
        fact=told_columns(old, label),
        remedy=nearest(old, label),
    )


def need_column(
    operation: Operation,
    old: AbstractValue,
    label: Any,
    lacks: Callable[[AbstractValue, Any], bool] = lacks,
) -> None:
    """Raise where the frame certainly has no such column."""
    if lacks(old, label):
        missing_column(operation, old, label)


def need_columns(
    operation: Operation,
    old: AbstractValue,
    asked: AbstractValue | None,
    lacks: Callable[[AbstractValue, Any], bool] = lacks,
) -> None:
    """Raise where the frame certainly lacks one of the labels given, as one or as a list."""
    for label in lacking(old, asked, lacks):
        missing_column(operation, old, label)


def lacking(
    old: AbstractValue,
    asked: AbstractValue | None,
    lacks: Callable[[AbstractValue, Any], bool] = lacks,
) -> list[Any]:
    """Those of the labels given, as one or as a list, that the frame certainly lacks."""
    return [label for label in labels_in(asked) or () if lacks(old, label)]


def labels_in(value: AbstractValue | None) -> list[Any] | None:
    """Labels given as one or as a list, those that are known; None if it is neither."""
    if value is None:
        return None
    if value.is_a("pandas", "Index"):
        found = index_labels(value)
        return None if found is None else list(found)
    if value.type in ("list", "tuple") and value.items is not None:
        return [item.literal for item in value.items if _is_label(item)]
    return [value.literal] if _is_label(value) else None


def _is_label(value: AbstractValue) -> bool:
    # Floats are left out: NaN is equal to no label, and yet df[np.nan] finds one.
    return value.type in ("str", "int") and value.is_literal


def whole_labels(value: AbstractValue | None) -> list[Any] | None:
    """Labels given as one or as a list; None where not each of them is known."""
    found = labels_in(value)
    if found is None or value is None or value.items is None:
        return found
    return found if len(found) == len(value.items) else None


def is_pandas(operation: Operation, *version: int) -> bool:
    """Whether pandas is known to be of this version or a later one."""
    return is_at_least(operation, "pandas", *version)
