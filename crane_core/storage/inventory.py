"""Questions about what there is: benchmarks, sources and runs with their sizes and dates."""

from typing import Any

import duckdb

from crane_core.storage.schema import table_names


def benchmarks(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """(benchmark, title, number of cases, when its source was imported or None) of each."""
    return cursor.execute(
        """
        SELECT b.benchmark, b.title, (SELECT count(*) FROM cases c WHERE c.benchmark = b.benchmark), s.imported_at
        FROM benchmarks b LEFT JOIN sources s USING (source_id) ORDER BY ALL
        """
    ).fetchall()


def sources(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """(source_id, name, number of records that were new, imported_at or None) of each."""
    return cursor.execute(
        """
        SELECT s.source_id, s.name, coalesce(sum(n.n_new), 0)::BIGINT, s.imported_at
        FROM sources s LEFT JOIN source_counts n USING (source_id) GROUP BY ALL ORDER BY imported_at NULLS FIRST, 1
        """
    ).fetchall()


def runs(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """(experiment, its detectors in words, number of answers, started_at or when it was imported, unanswered) of each.

    unanswered: questions from whose reply no answer can be read, or that had no reply.
    """
    return cursor.execute(
        """
        WITH named AS (
            SELECT r.experiment, r.source_id, r.crashes, coalesce(d.title, r.detector) AS title
            FROM runs r LEFT JOIN detectors d USING (detector)
        )
        SELECT n.experiment, string_agg(DISTINCT n.title, ', ' ORDER BY n.title), count(n.crashes),
               coalesce(any_value(j.started_at), any_value(s.imported_at)::VARCHAR), count(*) - count(n.crashes)
        FROM named n LEFT JOIN jobs j ON j.job = n.experiment LEFT JOIN sources s
        ON s.source_id = n.source_id GROUP BY n.experiment
        UNION ALL
        SELECT job, detector, 0, started_at, 0 FROM jobs WHERE job NOT IN (SELECT experiment FROM runs)
        UNION ALL
        SELECT job, annotator, (SELECT count(a.text) FROM judge_replies a WHERE a.job = judge_jobs.job), started_at,
               (SELECT count(*) - count(a.text) FROM judge_replies a WHERE a.job = judge_jobs.job)
        FROM judge_jobs
        ORDER BY 4, 1
        """
    ).fetchall()


def empty(cursor: duckdb.DuckDBPyConnection) -> None:
    """Take every row out, so that everything is loaded again; inside the caller's transaction."""
    for table in table_names(cursor):
        cursor.execute(f'DELETE FROM "{table}"')
