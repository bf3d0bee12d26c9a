"""Questions about the answers of one run: a detector in a setting of an experiment, instance by instance.

Every query is bounded: by a page of instances, or by one instance; but for `replies_to_read`, of jobs alone.
"""

from enum import StrEnum
from typing import Any, NamedTuple

import duckdb
import pandas as pd

from crane_core.storage.search import words_of

MAX_SAID = 240
"""Characters of a reasoning that a list holds."""
BEFORE_FOUND = 60
"""Characters before the word that was found, of those that a list holds."""


class RunKey(NamedTuple):
    """The key of a run."""

    benchmark: str
    experiment: str
    detector: str
    setting: str


class Only(StrEnum):
    """Filter over the instances of a run."""

    ALL = "all"
    WRONG = "wrong"
    FLIPS = "changed"
    UNANSWERED = "unanswered"


class AnswerPlace(NamedTuple):
    """The position of an instance among those of its run, in order of their names; `place` counts from 1."""

    before: str | None
    after: str | None
    place: int
    n: int


_HAVING = {
    Only.ALL: "TRUE",
    # The rule of stats.vote: a tie counts as no crash, here as in every rate and comparison.
    Only.WRONG: "truth IS NOT NULL AND n_crash + n_safe > 0 AND (n_crash > n_safe) <> truth",
    Only.FLIPS: "n_crash > 0 AND n_safe > 0",
    Only.UNANSWERED: "n_unanswered > 0",
}
_OF_RUN = """r.benchmark = $benchmark AND r.experiment = $experiment AND r.detector = $detector
            AND r.setting = $setting AND r.run_index > 0"""
_EVERY_ANSWER = (
    f"SELECT r.*, TRUE AS is_found, NULL AS excerpt FROM runs r WHERE {_OF_RUN}"
)
_WITH_REPLY = """LEFT JOIN replies p ON p.job = r.experiment AND p.benchmark = r.benchmark
                           AND p.instance_id = r.instance_id AND p.run_index = r.run_index"""
_TEXT = "concat_ws(chr(10), r.reasoning, r.unanswered, r.diagnostics, p.text)"
"""All that an answer holds to read, the raw reply too."""
_SEARCHED_ANSWERS = f"""
            SELECT r.*, list_bool_and(list_transform($words::VARCHAR[], lambda w: contains(lower({_TEXT}), w)))
                AS is_found,
                strpos(lower({_TEXT}), $words[1]) - {BEFORE_FOUND} AS first,
                if(first > 1, '…', '') || substr({_TEXT}, greatest(1, first), {MAX_SAID - 1}) AS excerpt
            FROM runs r {_WITH_REPLY} WHERE {_OF_RUN}"""


def _instances(
    run: RunKey, only: Only, find: str
) -> tuple[str, dict[str, object]]:
    """A query for the instances that a filter and a search leave, a row each, and its parameters."""
    words = words_of(find)
    query = f"""
        SELECT * FROM (
            SELECT r.instance_id, bool_or(i.crashes) AS truth,
                   count(*) FILTER (r.crashes) AS n_crash,
                   count(*) FILTER (NOT r.crashes) AS n_safe,
                   count(*) FILTER (r.crashes IS NULL) AS n_unanswered,
                   count(*) FILTER (r.is_found) AS n_found,
                   string_agg(CASE WHEN r.crashes THEN 'C' WHEN NOT r.crashes THEN '·' ELSE '?' END, ' '
                              ORDER BY r.run_index) AS marks,
                   coalesce(arg_min(r.excerpt, r.run_index) FILTER (r.is_found),
                            left(arg_min(coalesce(r.reasoning, r.unanswered), r.run_index), {MAX_SAID})) AS said
            FROM ({_SEARCHED_ANSWERS if words else _EVERY_ANSWER}) r
            LEFT JOIN instances i ON i.benchmark = r.benchmark AND i.instance_id = r.instance_id
            GROUP BY r.instance_id
        ) WHERE n_found > 0 AND {_HAVING[only]}
        """
    asked: dict[str, object] = dict(run._asdict())
    return query, asked | ({"words": words} if words else {})


def instance_page(
    cursor: duckdb.DuckDBPyConnection,
    run: RunKey,
    only: Only,
    *,
    page: int,
    size: int,
    find: str = "",
) -> pd.DataFrame:
    """One page (from 1) of a run's instances by name; the reasoning of each is cut to MAX_SAID characters.

    find: words that one answer of the instance contains, all of them, in its reasoning or its raw reply. Columns:
    instance_id, truth (missing if the instance is not loaded), n_crash, n_safe, n_unanswered, n_found (answers that
    contain the words, or all), marks (one letter per answer in order: C, a dot, or a question mark), said (of a search
    the text around the first word), n_all (instances on all pages), n_found_all (answers on all pages).
    """
    query, asked = _instances(run, only, find)
    return cursor.execute(
        f"""
        SELECT *, count(*) OVER () AS n_all, sum(n_found) OVER ()::BIGINT AS n_found_all FROM ({query})
        ORDER BY instance_id LIMIT $size OFFSET $skipped
        """,
        asked | {"size": size, "skipped": (page - 1) * size},
    ).df()


def place_of(
    cursor: duckdb.DuckDBPyConnection,
    run: RunKey,
    instance_id: str,
    only: Only = Only.ALL,
    find: str = "",
) -> AnswerPlace:
    """The neighbours of an instance among those that `only` and `find` leave; `place` is 0 if it is none of them."""
    query, asked = _instances(run, only, find)
    rows = cursor.execute(
        f"""
        SELECT max(instance_id) FILTER (instance_id < $name), min(instance_id) FILTER (instance_id > $name),
               CASE WHEN bool_or(instance_id = $name) THEN count(*) FILTER (instance_id <= $name) ELSE 0 END, count(*)
        FROM ({query})
        """,
        asked | {"name": instance_id},
    ).fetchall()
    return AnswerPlace(*rows[0])


def has_texts(cursor: duckdb.DuckDBPyConnection, run: RunKey) -> bool:
    """Whether any answer of the run holds a text: what ships of the study has none."""
    rows = cursor.execute(
        f"""
        SELECT 1 FROM runs r {_WITH_REPLY} WHERE {_OF_RUN} AND {_TEXT} <> '' LIMIT 1
        """,
        run._asdict(),
    )
    return rows.fetchone() is not None


def answers(
    cursor: duckdb.DuckDBPyConnection, run: RunKey, instance_id: str
) -> list[dict[str, Any]]:
    """Every answer of a run to one instance, in the order of asking.

    Members: truth (None if the instance is not loaded), case_id, run_index, crashes, reasoning, unanswered,
    diagnostics, prompt_sha256, has_reply, trouble, finish_reason, seconds, attempts, input_tokens, output_tokens, usd,
    is_usd_reported, answered_at. Those from `trouble` on are None if no reply is stored.
    """
    rows = cursor.execute(
        f"""
        SELECT i.crashes AS truth, i.case_id, r.run_index, r.crashes, r.reasoning, r.unanswered, r.diagnostics,
               r.prompt_sha256, p.job IS NOT NULL AS has_reply, p.trouble, p.finish_reason,
               coalesce(p.seconds, r.seconds) AS seconds, p.attempts,
               coalesce(p.input_tokens, r.input_tokens) AS input_tokens,
               coalesce(p.output_tokens, r.output_tokens) AS output_tokens,
               coalesce(p.usd, r.usd) AS usd, p.is_usd_reported, p.answered_at
        FROM runs r {_WITH_REPLY}
        LEFT JOIN instances i ON i.benchmark = r.benchmark AND i.instance_id = r.instance_id
        WHERE {_OF_RUN} AND r.instance_id = $instance ORDER BY r.run_index
        """,
        run._asdict() | {"instance": instance_id},
    )
    names = [column[0] for column in rows.description]
    return [dict(zip(names, row, strict=True)) for row in rows.fetchall()]


def reasons(
    cursor: duckdb.DuckDBPyConnection, run: RunKey
) -> list[tuple[str, int]]:
    """Why answers of a run are missing, each with how many times, the most frequent first."""
    return cursor.execute(
        f"""
        SELECT coalesce(r.unanswered, 'no reason is known'), count(*) FROM runs r
        WHERE {_OF_RUN} AND r.crashes IS NULL GROUP BY ALL ORDER BY 2 DESC, 1
        """,
        run._asdict(),
    ).fetchall()


def replies_to_read(
    cursor: duckdb.DuckDBPyConnection, run: RunKey
) -> pd.DataFrame:
    """A row per readable answer of a run that has a raw reply; the one question here that is about a whole run.

    Columns: case_id, truth (both missing if the instance is not loaded), crashes, text, finish_reason, chance.
    """
    return cursor.execute(
        f"""
        SELECT i.case_id, i.crashes AS truth, r.crashes, p.text, p.finish_reason, p.chance
        FROM runs r {_WITH_REPLY}
        LEFT JOIN instances i ON i.benchmark = r.benchmark AND i.instance_id = r.instance_id
        WHERE {_OF_RUN} AND r.crashes IS NOT NULL AND p.text IS NOT NULL
        ORDER BY r.instance_id, r.run_index
        """,
        run._asdict(),
    ).df()


def query_times(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, experiment: str
) -> pd.DataFrame:
    """One row per instance, detector and setting of a job whose replies were timed, if a capture timed the cells.

    Columns: instance_id, detector, setting, seconds_before (the cells before the target, as captured; of several
    captures the shortest), seconds_of_query (the mean of the instance's replies).
    """
    return cursor.execute(
        """
        WITH before AS (
            SELECT benchmark, instance_id, min(list_sum(CAST(
                       json_extract(state, '$.captured.cells[*].seconds') AS DOUBLE[]))) AS seconds_before
            FROM kernel_states
            WHERE json_array_length(json_extract(state, '$.captured.cells[*].seconds')) > 0
            GROUP BY ALL
        ), asked AS (
            SELECT benchmark, instance_id, detector, setting, avg(seconds) AS seconds_of_query
            FROM replies WHERE benchmark = ? AND job = ? AND seconds IS NOT NULL GROUP BY ALL
        )
        SELECT instance_id, detector, setting, seconds_before, seconds_of_query
        FROM asked JOIN before USING (benchmark, instance_id)
        ORDER BY detector, setting, instance_id
        """,
        [benchmark, experiment],
    ).df()
