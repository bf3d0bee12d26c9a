"""Which cases hold some words: in their labels, message, traceback, diagnosis, or in the code of either version.

DuckDB's full-text extension is not part of its package and would have to be downloaded, so every text is scanned.
"""

from __future__ import annotations

import duckdb

MOST_WORDS = 8
MOST_CHARACTERS = 64
"""Bounds of what is asked for; what is beyond does not count."""


def words_of(text: str) -> list[str]:
    """The words of a search, in small letters, each once."""
    return list(dict.fromkeys(word[:MOST_CHARACTERS].lower() for word in text.split()))[:MOST_WORDS]


def cases_with_text(cursor: duckdb.DuckDBPyConnection, benchmark: str, text: str) -> list[str]:
    """The cases that hold every word of `text` somewhere, parts of words too; none for a text without words."""
    words = words_of(text)
    rows = cursor.execute(
        """
        WITH words AS (SELECT unnest($2::VARCHAR[]) AS word), texts AS (
            SELECT case_id, lower(concat_ws(' ', case_id, library, root_cause, exception, crash_type, stage, message,
                                            traceback, diagnosis)) AS text
            FROM cases WHERE benchmark = $1
            UNION ALL
            SELECT i.case_id, lower(x.code)
            FROM cells x JOIN instances i ON i.benchmark = x.benchmark AND i.instance_id = x.instance_id
            WHERE x.benchmark = $1
        )
        SELECT case_id FROM texts JOIN words ON contains(text, word)
        GROUP BY case_id HAVING count(DISTINCT word) = $3 ORDER BY case_id
        """,
        [benchmark, words, len(words)],
    ).fetchall()
    return [str(case_id) for (case_id,) in rows]
