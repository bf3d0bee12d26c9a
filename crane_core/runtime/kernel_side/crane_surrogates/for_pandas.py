"""Surrogates of pandas' tables, columns and accessors: labels and dtypes as stated, elements by the fill.

By the fill too: how many rows there are and which labels they have where it is unknown, and what a column holds
that may hold anything. operations.py says which operations may be tried then.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np
import pandas as pd

from . import tables
from .asked.places import words
from .made import MOST_ELEMENTS, NotMadeError, seen

PACKAGE = pd
_MOST_CELLS = MOST_ELEMENTS // 4
_MOST_DIFFERENT = 10_000
"""Texts beyond which all of a column are equal."""
_TABLE, _COLUMN = "pandas.DataFrame", "pandas.Series"
_OF_COLUMN = ("length", "dtype", "index", "name")
_NAMED = words(
    "NA NaT Series DataFrame Index Timestamp Timedelta Period Interval Categorical Grouper"
)
# A text of a number, a missing one, and a text without a number.
_TEXTS = ("1", None, "a")
_TIMES = (
    pd.Timestamp(2020, 1, 1),
    pd.Timestamp(1970, 5, 6, 7, 8, 9, 10, tz="UTC"),
    pd.Timestamp(2031, 12, 31, 23, 59),
)
_DAY_NS = 86_400 * 10**9


def _accessors() -> dict[str, Any]:
    """One accessor of each class: what members it has says its class alone."""
    # Making one needs data; which data does not matter.
    day = pd.Timestamp(2020, 1, 1)
    made = (
        pd.Series(["a"], dtype="str").str,
        pd.Series([day]).dt,
        pd.Series([day - day]).dt,
        pd.Series(pd.Categorical(["a"])).cat,
    )
    return {seen(each)["type"]: each for each in made}


_ACCESSORS = _accessors()
# None, one, several: what depends on the number of rows differs with the fill.
_LENGTHS = (0, 1, 5)
"""Numbers of rows where it is not known."""
# A column of an unknown dtype must be refused with each of these.
_ANY_DTYPE = ("int64", "str", "datetime64[ns]")


def named(name: str) -> Any:
    """A class or constant; raises NotMadeError for others."""
    if name not in _NAMED:
        raise NotMadeError(name)
    return getattr(pd, name)


def make(facts: Mapping[str, Any], fill: int) -> Any:
    """A table (`columns`, `dtypes` in their order, `index`), a column (`length`, `dtype`, `index`) or an accessor."""
    kind = facts["type"]
    if kind in _ACCESSORS:
        return _ACCESSORS[kind]
    if kind == "pandas.Timestamp":
        return _TIMES[fill]
    if kind == _COLUMN:
        index = _rows(facts, facts["length"], fill)
        # Another name with one fill, where the name is unknown.
        name = facts.get("name", "another" if fill == 1 else None)
        return _column(facts["dtype"], index, fill).rename(name)
    if kind == _TABLE:
        return _table(facts, fill)
    raise NotMadeError(kind)


def _table(facts: Mapping[str, Any], fill: int) -> pd.DataFrame:
    index = _rows(facts, facts["shape"][0], fill)
    n_columns = len(facts["columns"])
    # facts of another shape than its columns are of a table that was cut.
    is_cut = facts["shape"][1] not in (None, n_columns)
    if is_cut or len(index) * n_columns > _MOST_CELLS:
        raise NotMadeError("a table of so many cells")
    # By position, as labels may occur twice.
    columns = {
        at: _column(dtype, index, fill)
        for at, dtype in enumerate(facts["dtypes"])
    }
    table = pd.DataFrame(columns, index=index)
    # Labels of an empty table have no dtype to be found.
    table.columns = pd.Index(
        facts["columns"], dtype=None if n_columns else object
    )
    return table


def read(value: Any) -> dict[str, Any]:
    """The schema of a table, a column, an index or an accessor, by the probe; empty for others."""
    if type(value) is pd.DataFrame:
        return _schema_of_table(value)
    told = seen(value)
    if type(value) is pd.Series:
        known = {name: told[name] for name in _OF_COLUMN if name in told}
        return {
            "type": _COLUMN,
            **known,
            "index_names": list(value.index.names),
        }
    # pandas 3 has texts as labels by their own dtype.
    if type(value) is pd.Index and value.dtype == "str":
        return {
            name: told[name]
            for name in ("type", "length", "dtype", "labels")
            if name in told
        }
    return {"type": told["type"]} if told["type"] in _ACCESSORS else {}


def _schema_of_table(value: pd.DataFrame) -> dict[str, Any]:
    """Without columns where a label occurs twice, or is neither a text nor an integer."""
    told = seen(value)
    schema = {
        "type": _TABLE,
        "shape": told["shape"],
        "index": told["index"],
        "index_names": list(value.index.names),
    }
    # Without its columns nothing can be tried on the table, while its shape still says something.
    if value.columns.nlevels > 1 or not value.columns.is_unique:
        return schema
    labels = list(value.columns)
    if any(type(label) not in (str, int) for label in labels):
        return schema
    return {
        **schema,
        "columns": labels,
        "dtypes": [str(dtype) for dtype in value.dtypes],
    }


def _rows(facts: Mapping[str, Any], told: Any, fill: int) -> pd.Index:
    """The rows' labels of a table or column, of which the number of rows may be unknown."""
    n_rows = _LENGTHS[fill] if told is None else told
    if n_rows > _MOST_CELLS:
        raise NotMadeError("a column of so many elements")
    return _index(facts.get("index") or {}, n_rows, fill)


def _index(facts: Mapping[str, Any], length: int, fill: int) -> pd.Index:
    """The rows' labels: counted, or few and all of them stated; times; else of another kind with each fill."""
    names = facts.get("names") or [None] * len(facts.get("level_sizes") or [0])
    # One name, but several levels: their number is not known.
    if facts.get("type") == "MultiIndex" and len(names) == 1:
        raise NotMadeError("labels of nobody knows how many parts")
    if tables.is_whole({"type": _COLUMN, "length": length, "index": facts}):
        index = _stated(facts)
        if len(index) != length:
            raise NotMadeError("labels of another number of rows")
        return index.rename(names[0])
    if len(names) > 1:
        return pd.MultiIndex.from_arrays(
            [_unknown(length, fill)] * len(names), names=names
        )
    if facts.get("type") == "DatetimeIndex" and "dtype" in facts:
        return _time_labels(facts["dtype"], length, fill).rename(names[0])
    return _unknown(length, fill).rename(names[0])


def _time_labels(dtype: str, length: int, fill: int) -> pd.DatetimeIndex:
    """Times that are all equal, all missing, or in steps of one frequency.

    An index with a frequency takes part in other operations than one without.
    """
    frequency: Any = pd.offsets.Hour(24) if fill == 2 else None
    return pd.DatetimeIndex(_elements(dtype, length, fill), freq=frequency)


def _unknown(length: int, fill: int) -> pd.Index:
    """Labels of another kind with each fill: counted, texts or times."""
    kinds: Sequence[pd.Index] = (
        pd.RangeIndex(length),
        pd.Index([f"row {at}" for at in range(length)], dtype=object),
        pd.date_range("2020-01-01", periods=length),
    )
    return kinds[fill]


def _stated(facts: Mapping[str, Any]) -> pd.Index:
    """Labels that are all known."""
    if facts["type"] == "RangeIndex":
        return pd.RangeIndex(*facts["range"])
    labels: pd.Index = pd.Index(facts["first"], dtype=facts["dtype"])
    return labels


def _column(dtype: str, index: pd.Index, fill: int) -> pd.Series:
    """One whose objects are not taken for texts."""
    # pandas would otherwise find texts among objects and take its own dtype.
    of_objects = "object" if dtype.startswith("object") else None
    return pd.Series(
        _elements(dtype, len(index), fill), index=index, dtype=of_objects
    )


def _elements(dtype: str, n: int, fill: int) -> Any:
    """`n` elements: zeros (or "1"), missing ones where the dtype has such (else ones), or all different."""
    if not dtype:
        dtype = _ANY_DTYPE[fill]
    if dtype in ("object", "category"):
        filled = (["a"] * n, [None] * n, list(range(n)))[fill]
        anything = np.array(filled, dtype=object)
        return anything if dtype == "object" else pd.Categorical(anything)
    if dtype == "str" or dtype.endswith(" of texts"):
        return _texts(dtype, n, fill)
    try:
        kind = np.dtype(dtype)
    except TypeError:
        return _of_extension(dtype, n, fill)
    # Other units than these are of NumPy alone: pandas converts them.
    if kind.kind in "mM" and np.datetime_data(kind)[0] in (
        "s",
        "ms",
        "us",
        "ns",
    ):
        return _times(kind, n, fill)
    if kind.kind not in "biuf":
        raise NotMadeError(dtype)
    return _numbers(kind, n, fill)


def _texts(dtype: str, n: int, fill: int) -> Any:
    """Texts as a column of their own dtype, or as objects."""
    # "%s" may be formatted and "1" parsed: what depends on that differs with the fill.
    alike = _TEXTS if dtype == "str" else ("1", "%s")
    # Texts that are all different take memory each.
    are_alike = fill < 2 or dtype == "str" and n > _MOST_DIFFERENT
    texts = [alike[fill]] * n if are_alike else [f"a{at}" for at in range(n)]
    objects = np.array(texts, object)
    return (
        objects
        if dtype.startswith("object")
        else pd.array(objects, dtype="str")
    )


def _times(kind: Any, n: int, fill: int) -> Any:
    if fill == 1:
        return np.full(n, np.array("NaT", kind))
    nanoseconds = np.arange(n) * (_DAY_NS if fill == 2 else 0)
    return nanoseconds.astype(f"{kind.kind}8[ns]").astype(kind)


def _numbers(kind: Any, n: int, fill: int) -> Any:
    is_float = kind.kind == "f"
    if fill < 2:
        return np.full(n, np.nan if is_float and fill == 1 else fill, kind)
    # At most 100 different ones, so that they fit into every integer dtype.
    ramp = np.arange(n) % (2 if kind.kind == "b" else 100)
    return (ramp + (0.5 if is_float else 0)).astype(kind)


def _of_extension(dtype: str, n: int, fill: int) -> Any:
    """Elements of one of pandas' own dtypes of numbers, texts and times."""
    try:
        kind = pd.api.types.pandas_dtype(dtype)
    except (TypeError, ValueError):
        raise NotMadeError(dtype) from None
    if isinstance(kind, pd.DatetimeTZDtype):
        return (
            pd.array(_elements(f"datetime64[{kind.unit}]", n, fill))
            .tz_localize("UTC")
            .tz_convert(kind.tz)
        )
    # Dtypes of other packages (Arrow) need not be installed here.
    if dtype.rstrip("0123456789") not in (
        "Int",
        "UInt",
        "Float",
        "boolean",
        "string",
    ):
        raise NotMadeError(dtype)
    plain = (
        "str"
        if dtype == "string"
        else "bool"
        if dtype == "boolean"
        else dtype.lower()
    )
    elements: Any = [None] * n if fill == 1 else list(_elements(plain, n, fill))
    return pd.Series(elements, dtype=dtype).array
