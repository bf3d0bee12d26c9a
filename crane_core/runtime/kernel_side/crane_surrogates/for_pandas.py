"""Surrogates of pandas' tables, columns and accessors: labels and dtypes as stated, elements by the fill.

By the fill too: how many rows there are and which labels they have where it is unknown, and what a column holds
that may hold anything. operations.py says which operations may be tried then.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
import pandas as pd

from . import tables
from .made import MOST_ELEMENTS, NotMadeError, seen

PACKAGE = pd
_MOST_CELLS = MOST_ELEMENTS // 4
_MOST_DIFFERENT = 10_000
"""Texts beyond which all of a column are equal."""
_TABLE, _COLUMN = "pandas.DataFrame", "pandas.Series"
_OF_COLUMN = ("length", "dtype", "index", "name")
_NAMED_WORDS = "NA NaT Series DataFrame Index Timestamp Timedelta Period Interval Categorical Grouper"
_NAMED = frozenset(_NAMED_WORDS.split())
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
    if kind not in (_COLUMN, _TABLE):
        raise NotMadeError(kind)
    told = facts["length"] if kind == _COLUMN else facts["shape"][0]
    n_rows = _LENGTHS[fill] if told is None else told
    index = _index(facts.get("index") or {}, n_rows, fill)
    if kind == _COLUMN:
        # Another name with one fill, where the name is unknown.
        name = facts.get("name", "another" if fill == 1 else None)
        return _column(facts["dtype"], index, fill).rename(name)
    n_columns = len(facts["columns"])
    # facts of another shape than its columns are of a table that was cut.
    if n_rows * n_columns > _MOST_CELLS or facts["shape"][1] not in (None, n_columns):
        raise NotMadeError("a table of so many cells")
    # By position, as labels may occur twice.
    columns = {
        at: _column(dtype, index, fill) for at, dtype in enumerate(facts["dtypes"])
    }
    table = pd.DataFrame(columns, index=index)
    # Labels of an empty table have no dtype to be found.
    table.columns = pd.Index(facts["columns"], dtype=None if n_columns else object)
    return table


def read(value: Any) -> dict[str, Any]:
    """The schema of a table, a column, an index or an accessor, by the probe; empty for others."""
    if type(value) is pd.DataFrame:
        return _schema_of_table(value)
    told = seen(value)
    if type(value) is pd.Series:
        known = {name: told[name] for name in _OF_COLUMN if name in told}
        return {"type": _COLUMN, **known, "index_names": list(value.index.names)}
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


def _index(facts: Mapping[str, Any], length: int, fill: int) -> pd.Index:
    """The rows' labels: counted, or few and all of them stated; times; else of another kind with each fill, by names.

    Times are all equal, all missing, or in steps of one frequency.
    """
    names = facts.get("names") or [None] * len(facts.get("level_sizes") or [0])
    # One name, but several levels: their number is not known.
    if facts.get("type") == "MultiIndex" and len(names) == 1:
        raise NotMadeError("labels of nobody knows how many parts")
    if tables.is_whole({"type": _COLUMN, "length": length, "index": facts}):
        if facts["type"] == "RangeIndex":
            start, stop, step = facts["range"]
            index: pd.Index = pd.RangeIndex(start, stop, step, name=names[0])
        else:
            index = pd.Index(facts["first"], dtype=facts["dtype"], name=names[0])
        if len(index) != length:
            raise NotMadeError("labels of another number of rows")
        return index
    # A time index with a frequency takes part in other operations than one without.
    if facts.get("type") == "DatetimeIndex" and "dtype" in facts and len(names) == 1:
        times = _elements(facts["dtype"], length, fill)
        if fill == 2:
            return pd.DatetimeIndex(times, freq=pd.offsets.Hour(24), name=names[0])
        return pd.DatetimeIndex(times, name=names[0])
    counted = range(length)
    kinds = (
        pd.RangeIndex(length),
        pd.Index([f"row {at}" for at in counted], dtype=object),
        pd.date_range("2020-01-01", periods=length),
    )
    if len(names) > 1:
        return pd.MultiIndex.from_arrays([kinds[fill]] * len(names), names=names)
    return kinds[fill].rename(names[0])


def _column(dtype: str, index: pd.Index, fill: int) -> pd.Series:
    """One whose objects are not taken for texts."""
    # pandas would otherwise find texts among objects and take its own dtype.
    of_objects = "object" if dtype.startswith("object") else None
    return pd.Series(_elements(dtype, len(index), fill), index=index, dtype=of_objects)


def _elements(dtype: str, n: int, fill: int) -> Any:
    """`n` elements: zeros (or "1"), missing ones where the dtype has such (else ones), or all different."""
    if n > _MOST_CELLS:
        raise NotMadeError("a column of so many elements")
    if not dtype:
        dtype = _ANY_DTYPE[fill]
    if dtype in ("object", "category"):
        anything = np.array(
            (["a"] * n, [None] * n, list(range(n)))[fill] or [], dtype=object
        )
        return anything if dtype == "object" else pd.Categorical(anything)
    if dtype.endswith(" of texts"):
        # "%s" may be formatted and "1" parsed: what depends on that differs with the fill.
        full = np.array(
            (["1"] * n, ["%s"] * n, [f"a{at}" for at in range(n)])[fill], object
        )
        return full if dtype.startswith("object") else pd.array(full, dtype="str")
    if dtype == "str":
        texts = (
            [f"a{at}" for at in range(n)]
            if fill == 2 and n <= _MOST_DIFFERENT
            else [_TEXTS[fill]] * n
        )
        return pd.array(np.array(texts, object), dtype="str")
    try:
        kind = np.dtype(dtype)
    except TypeError:
        return _of_extension(dtype, n, fill)
    # Other units than these are of NumPy alone: pandas converts them.
    if kind.kind in "mM" and np.datetime_data(kind)[0] in ("s", "ms", "us", "ns"):
        nanoseconds = np.arange(n) * _DAY_NS if fill == 2 else np.zeros(n, "i8")
        days = nanoseconds.astype(f"{kind.kind}8[ns]").astype(kind)
        return np.full(n, np.array("NaT", kind)) if fill == 1 else days
    if kind.kind == "f" and fill == 1:
        return np.full(n, np.nan, kind)
    if kind.kind not in "biuf":
        raise NotMadeError(dtype)
    ramp = np.arange(n) % (2 if kind.kind == "b" else 100)
    return (
        (ramp + (0.5 if kind.kind == "f" else 0)).astype(kind)
        if fill == 2
        else np.full(n, fill, kind)
    )


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
    if dtype.rstrip("0123456789") not in ("Int", "UInt", "Float", "boolean", "string"):
        raise NotMadeError(dtype)
    plain = (
        "str" if dtype == "string" else "bool" if dtype == "boolean" else dtype.lower()
    )
    elements: Any = [None] * n if fill == 1 else list(_elements(plain, n, fill))
    return pd.Series(elements, dtype=dtype).array
