"""Full-text search for cases: in labels, message, traceback, diagnosis, and the code of both versions.

DuckDB's full-text extension is not part of its package and would have to be downloaded, so every text is scanned.
"""

from __future__ import annotations

import duckdb

MOST_WORDS = 8
MOST_CHARACTERS = 64
"""Bounds of a search; the rest of the text is ignored."""


def words_of(text: str) -> list[str]:
    """The words of a search, in lower case, each once."""
    # Bounded, because every text is scanned for every word.
    return list(
        dict.fromkeys(word[:MOST_CHARACTERS].lower() for word in text.split())
    )[:MOST_WORDS]


def cases_with_text(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, text: str
) -> list[str]:
    """The cases that contain every word of `text`, as a part of a word too; none for a text without words."""
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
