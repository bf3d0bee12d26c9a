"""Full-text search for cases: in labels, message, traceback, diagnosis, and the code of both versions.

DuckDB's full-text extension is not part of its package and would have to be downloaded, so every text is scanned.
"""

from collections.abc import Iterable
from typing import NamedTuple

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


def phrase_of(text: str) -> str:
    """The words of a search in their order, as one text in lower case with single spaces."""
    return " ".join(text.lower().split())[: MOST_WORDS * MOST_CHARACTERS]


def cases_with_text(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, text: str
) -> list[str]:
    """The cases that contain every word of `text`, as a part of a word too; none for a text without words."""
    return _cases_containing(cursor, benchmark, words_of(text))


def cases_with_phrase(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, text: str
) -> list[str]:
    """The cases that contain the words of `text` one after another; none for a text without words."""
    phrase = phrase_of(text)
    return _cases_containing(cursor, benchmark, [phrase] if phrase else [])


def _cases_containing(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, parts: list[str]
) -> list[str]:
    rows = cursor.execute(
        """
        WITH parts AS (SELECT unnest($2::VARCHAR[]) AS part), texts AS (
            SELECT case_id, lower(concat_ws(' ', case_id, library, root_cause, exception, crash_type, stage, message,
                                            traceback, diagnosis)) AS text
            FROM cases WHERE benchmark = $1
            UNION ALL
            SELECT i.case_id, lower(x.code)
            FROM cells x JOIN instances i ON i.benchmark = x.benchmark AND i.instance_id = x.instance_id
            WHERE x.benchmark = $1
        )
        SELECT case_id FROM texts JOIN parts ON contains(text, part)
        GROUP BY case_id HAVING count(DISTINCT part) = $3 ORDER BY case_id
        """,
        [benchmark, parts, len(parts)],
    ).fetchall()
    return [str(case_id) for (case_id,) in rows]


class FoundLine(NamedTuple):
    """The line of a case that holds most of what is searched for.

    place: "message", "traceback", "diagnosis", a label such as "stage", or the role of a cell.
    version: of a cell alone.
    """

    place: str
    version: str | None
    line: str


def found_lines(
    cursor: duckdb.DuckDBPyConnection,
    benchmark: str,
    text: str,
    cases: Iterable[str],
) -> dict[str, FoundLine]:
    """Per case the first line with the whole phrase, else the first one with most of its words, from the message down.

    cases: those to look into; one without any of the words is left out. A line comes whole: who shows it bounds it.
    """
    rows = cursor.execute(
        """
        WITH chosen AS (SELECT unnest($2::VARCHAR[]) AS case_id), facts AS (
            SELECT c.* FROM cases c JOIN chosen USING (case_id) WHERE c.benchmark = $1
        ), texts AS (
            SELECT case_id, unnest([0, 1, 2, 5, 6, 7, 8, 9, 10]) AS rank,
                unnest(['message', 'diagnosis', 'traceback', 'exception', 'crash_type', 'root_cause', 'stage',
                        'library', 'case_id']) AS place,
                NULL AS version, 0 AS position,
                unnest([message, diagnosis, traceback, exception, crash_type, root_cause, stage, library,
                        case_id]) AS text
            FROM facts
            UNION ALL
            SELECT i.case_id, if(i.version = 'reproduced', 3, 4), x.role, i.version, x.position, x.code
            FROM cells x JOIN instances i ON i.benchmark = x.benchmark AND i.instance_id = x.instance_id
            JOIN chosen ON chosen.case_id = i.case_id
            WHERE x.benchmark = $1
        ), hit AS (
            SELECT * FROM texts WHERE list_bool_or(list_transform($3::VARCHAR[], lambda w: contains(lower(text), w)))
        ), lines AS (
            SELECT case_id, rank, place, version, position, unnest(string_split(text, chr(10))) AS line,
                unnest(range(len(string_split(text, chr(10))))) AS line_number
            FROM hit
        ), rated AS (
            SELECT *, len(list_filter($3::VARCHAR[], lambda w: contains(lower(line), w)))
                + if(contains(lower(line), $4), $5, 0) AS score
            FROM lines
        )
        SELECT case_id, place, version, line FROM rated WHERE score > 0
        QUALIFY row_number() OVER (PARTITION BY case_id ORDER BY score DESC, rank, position, line_number, line) = 1
        """,
        [
            benchmark,
            list(cases),
            words_of(text),
            phrase_of(text),
            MOST_WORDS + 1,
        ],
    ).fetchall()
    return {str(case_id): FoundLine(*found) for case_id, *found in rows}
