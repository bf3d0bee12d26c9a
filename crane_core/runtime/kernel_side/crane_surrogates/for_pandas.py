"""Surrogates of pandas' tables, columns and accessors: labels, dtypes and a plain index as told, elements by the fill.

What may hold anything (the dtype object, categories) has no surrogate: what a library says of it depends on values.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
import pandas as pd

from .made import MOST_ELEMENTS, NotMadeError, seen

PACKAGE = pd
_MOST_CELLS = MOST_ELEMENTS // 4
_MOST_DIFFERENT = 10_000
"""Texts beyond which all of a column are equal."""
_TABLE, _COLUMN = "pandas.DataFrame", "pandas.Series"
_OF_COLUMN = ("length", "dtype", "index", "name")
_NAMED_WORDS = "NA NaT Series DataFrame Index Timestamp Timedelta Period Interval Categorical Grouper"
_NAMED = frozenset(_NAMED_WORDS.split())
_TEXTS = ("1", None, "a")
_TIMES = (pd.Timestamp(2020, 1, 1), pd.Timestamp(1970, 5, 6, 7, 8, 9, 10, tz="UTC"), pd.Timestamp(2031, 12, 31, 23, 59))
_DAY_NS = 86_400 * 10**9


def _accessors() -> dict[str, Any]:
    """One accessor of each class: what members it has says its class alone."""
    day = pd.Timestamp(2020, 1, 1)
    made = (
        pd.Series(["a"], dtype="str").str,
        pd.Series([day]).dt,
        pd.Series([day - day]).dt,
        pd.Series(pd.Categorical(["a"])).cat,
    )
    return {seen(each)["type"]: each for each in made}


_ACCESSORS = _accessors()


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
        index = _index(facts["index"], facts["length"])
        name = facts.get("name", "another" if fill == 1 else None)
        return pd.Series(_elements(facts["dtype"], facts["length"], fill), index=index, name=name)
    if kind != _TABLE:
        raise NotMadeError(kind)
    n_rows, n_columns = facts["shape"]
    if n_rows * n_columns > _MOST_CELLS or n_columns != len(facts["columns"]):
        raise NotMadeError("a table of so many cells")
    columns = {at: _elements(dtype, n_rows, fill) for at, dtype in enumerate(facts["dtypes"])}
    table = pd.DataFrame(columns, index=_index(facts["index"], n_rows))
    table.columns = pd.Index(facts["columns"])
    return table


def read(value: Any) -> dict[str, Any]:
    """The schema of a table, a column or an accessor, by the probe; empty for others."""
    told = seen(value)
    if type(value) is pd.DataFrame and value.columns.is_unique:
        dtypes = [str(dtype) for dtype in value.dtypes]
        return {
            "type": _TABLE,
            "shape": told["shape"],
            "index": told["index"],
            "columns": list(value.columns),
            "dtypes": dtypes,
        }
    if type(value) is pd.Series:
        return {"type": _COLUMN, **{name: told[name] for name in _OF_COLUMN if name in told}}
    return {"type": told["type"]} if told["type"] in _ACCESSORS else {}


def _index(facts: Mapping[str, Any], length: int) -> pd.Index:
    """The rows' labels: counted, or few and all of them told."""
    names = facts.get("names") or [None]
    kind = facts.get("type")
    if len(names) != 1:
        raise NotMadeError("labels of several levels")
    if kind == "RangeIndex" and "range" in facts:
        start, stop, step = facts["range"]
        index: pd.Index = pd.RangeIndex(start, stop, step, name=names[0])
    elif kind == "Index" and facts.get("dtype") in ("int64", "str") and len(facts.get("first", ())) == length:
        index = pd.Index(facts["first"], dtype=facts["dtype"], name=names[0])
    else:
        raise NotMadeError("labels of rows that are not told")
    if len(index) != length:
        raise NotMadeError("labels of another number of rows")
    return index


def _elements(dtype: str, n: int, fill: int) -> Any:
    """`n` elements: zeros (or "1"), missing ones where the dtype has such (else ones), or all different."""
    if n > _MOST_CELLS:
        raise NotMadeError("a column of so many elements")
    if dtype == "str":
        texts = [f"a{at}" for at in range(n)] if fill == 2 and n <= _MOST_DIFFERENT else [_TEXTS[fill]] * n
        return pd.array(np.array(texts, object), dtype="str")
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise NotMadeError(dtype) from None
    if kind.kind in "mM" and np.datetime_data(kind)[0] in ("s", "ms", "us", "ns"):
        nanoseconds = np.arange(n) * _DAY_NS if fill == 2 else np.zeros(n, "i8")
        days = nanoseconds.astype(f"{kind.kind}8[ns]").astype(kind)
        return np.full(n, np.array("NaT", kind)) if fill == 1 else days
    if kind.kind == "f" and fill == 1:
        return np.full(n, np.nan, kind)
    if kind.kind not in "biuf":
        raise NotMadeError(dtype)
    ramp = np.arange(n) % (2 if kind.kind == "b" else 100)
    return (ramp + (0.5 if kind.kind == "f" else 0)).astype(kind) if fill == 2 else np.full(n, fill, kind)
