"""A packed result is what `df()` gives, with each different text in memory once."""

from __future__ import annotations

from itertools import chain

import duckdb
import pandas as pd
import pytest

from crane_core.storage import packed as module
from crane_core.storage.labels import verdict_labels
from crane_core.storage.packed import TEXT, by_value, packed
from crane_core.storage.store import Store
from crane_core.storage.verdicts import answer_counts

ROWS = """
    SELECT CASE WHEN i % 7 <> 0 THEN 'é' || i % 5 END AS text, 'x' AS same, i AS number, i / 2 AS half,
           i % 2 = 0 AS truth, CASE WHEN i % 3 = 0 THEN i > 50 END AS maybe, NULL::VARCHAR AS nothing
    FROM range({n}) t(i) ORDER BY i
"""


@pytest.fixture
def cursor() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@pytest.mark.parametrize("n", [0, 1, 1_000])
def test_it_is_what_df_gives(
    cursor: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    monkeypatch.setattr(module, "_BATCH_ROWS", 64)
    ours, theirs = (
        packed(cursor, ROWS.format(n=n)),
        cursor.execute(ROWS.format(n=n)).df(),
    )
    has_texts = theirs.select_dtypes(exclude="object").columns
    assert (
        ours.dtypes[has_texts].astype(str).tolist()
        == theirs.dtypes[has_texts].astype(str).tolist()
    )
    assert ours[["text", "same", "nothing"]].dtypes.eq(TEXT).all()
    assert _with_none(ours).equals(_with_none(theirs))


def _with_none(frame: pd.DataFrame) -> pd.DataFrame:
    """A missing value has a form per dtype."""
    return frame.astype(object).where(frame.notna(), None)


def test_each_text_is_in_memory_once(
    cursor: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BATCH_ROWS", 64)
    found = packed(
        cursor,
        "SELECT 'a' || i % 3 AS one, 'a' || i % 2 AS other FROM range(500) t(i)",
    )
    assert len({id(text) for text in chain(found["one"], found["other"])}) == 3
    kept = pd.concat([found[found["one"] == "a1"], found])
    assert kept["one"].dtype == found["one"].dtype == TEXT
    assert len({id(text) for text in kept["one"]}) == 3


def test_a_column_is_put_into_other_texts(
    cursor: duckdb.DuckDBPyConnection,
) -> None:
    found = packed(
        cursor,
        "SELECT CASE WHEN i % 3 < 2 THEN 'a' || i % 3 END AS one FROM range(6) t(i)",
    )
    asked: list[str] = []
    titles = by_value(
        found["one"], lambda text: asked.append(text) or str(text).upper()
    )
    assert titles.tolist() == ["A0", "A1", "NAN"] * 2
    assert (titles.dtype, len(asked)) == (TEXT, 3)


def test_frames_of_verdicts_and_labels_are_packed(
    embedded_store: Store,
) -> None:
    for frame in (
        answer_counts(embedded_store.cursor()),
        verdict_labels(embedded_store.cursor()),
    ):
        texts = frame.select_dtypes("str")
        assert set(texts.dtypes) == {TEXT}
        n_different = sum(texts[name].nunique() for name in texts)
        assert (
            len({id(text) for name in texts for text in texts[name].dropna()})
            <= n_different
            < len(frame)
        )
