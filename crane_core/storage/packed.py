"""Results as frames in which each different text is in memory once, however many rows have it.

Of a hundred thousand verdicts most columns hold a handful of different texts. Spelled out in every row, as DuckDB's
`df()` leaves them, the frame takes four times the memory, and reading it as much again. Here a text column holds
references, 8 bytes per row; its dtype is still `str`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

TEXT = pd.StringDtype("python", na_value=np.nan)
"""pandas' `str` by references to Python strings; the default of `str`, Arrow, spells out every row."""

_BATCH_ROWS = 32_768
"""Rows that are spelled out at a time."""


def packed(
    cursor: duckdb.DuckDBPyConnection,
    query: str,
    parameters: Sequence[object] = (),
) -> pd.DataFrame:
    """What the query finds, as `df()` returns it: columns of texts, numbers and booleans.

    A text column is `str` also where no row has a text.
    """
    reader = cursor.sql(query, params=list(parameters)).to_arrow_reader(
        _BATCH_ROWS
    )
    # Shared by all columns and batches: a model's name is one string however often it comes.
    known: dict[str, str] = {}
    pieces: list[list[Any]] = [[] for _ in reader.schema]
    for batch in reader:
        for into, column in zip(pieces, batch.columns, strict=True):
            into.append(
                _references(column, known) if _is_text(column.type) else column
            )
    return pd.DataFrame(
        {
            field.name: _column(field, of)
            for field, of in zip(reader.schema, pieces, strict=True)
        },
        copy=False,
    )


def by_value(
    column: pd.Series[Any], value_of: Callable[[str], str]
) -> pd.Series[Any]:
    """`value_of` each text of a column, computed once per different one (nan for a missing one), by references too."""
    codes, texts = pd.factorize(column, use_na_sentinel=False)
    values = np.array([value_of(text) for text in texts], dtype=object)
    return pd.Series(
        pd.array(values[codes], dtype=TEXT, copy=False), index=column.index
    )


def _is_text(kind: pa.DataType) -> bool:
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
        )
    )


def _references(
    column: pa.Array, known: dict[str, str]
) -> np.ndarray[Any, np.dtype[np.object_]]:
    """known: every text met so far, which gains those of this piece."""
    # One kind of text for all pieces, whichever of Arrow's kinds they come in.
    encoded = column.cast(pa.string()).dictionary_encode()
    texts = [
        known.setdefault(text, text) for text in encoded.dictionary.to_pylist()
    ]
    places = encoded.indices.fill_null(len(texts)).to_numpy(
        zero_copy_only=False
    )
    found: np.ndarray[Any, np.dtype[np.object_]] = np.array(
        [*texts, np.nan], dtype=object
    )[places]
    return found


def _column(field: pa.Field, pieces: list[Any]) -> Any:
    if _is_text(field.type):
        return pd.array(
            np.concatenate([np.empty(0, dtype=object), *pieces]),
            dtype=TEXT,
            copy=False,
        )
    values = pa.chunked_array(pieces, field.type)
    is_open = pa.types.is_boolean(field.type) and values.null_count
    return (
        # With a gap, `to_pandas` would make a column of objects out of booleans.
        pd.array(values.to_pylist(), dtype="boolean")
        if is_open
        else values.to_pandas()
    )
