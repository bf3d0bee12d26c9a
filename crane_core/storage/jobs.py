"""Questions about jobs: runs, results, costs, and the raw reply behind an answer."""

from typing import Any

import duckdb
import pandas as pd

from crane_core.domain import Detector, DetectorKind


def instance_ids(
    cursor: duckdb.DuckDBPyConnection, benchmark: str
) -> list[str]:
    """Every instance of a benchmark, sorted."""
    rows = cursor.execute(
        "SELECT instance_id FROM instances WHERE benchmark = ? ORDER BY 1",
        [benchmark],
    ).fetchall()
    return [row[0] for row in rows]


def cases_of_instances(
    cursor: duckdb.DuckDBPyConnection, benchmark: str
) -> pd.DataFrame:
    """instance_id, case_id, library, root_cause of every instance of a benchmark, sorted."""
    return cursor.execute(
        """
        SELECT i.instance_id, i.case_id, c.library, c.root_cause
        FROM instances i LEFT JOIN cases c USING (benchmark, case_id)
        WHERE i.benchmark = ? ORDER BY 1
        """,
        [benchmark],
    ).df()


def detector(cursor: duckdb.DuckDBPyConnection, name: str) -> Detector | None:
    """The stored detector with this id."""
    rows = cursor.execute(
        "SELECT detector, title, kind FROM detectors WHERE detector = ?", [name]
    ).fetchall()
    return (
        Detector(rows[0][0], rows[0][1], DetectorKind(rows[0][2]))
        if rows
        else None
    )


def repair_runs(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Outcomes of repair jobs: benchmark, case_id, version, detector_title, experiment, crashes, diagnostics (JSON)."""
    return cursor.execute(
        """
        SELECT r.benchmark, i.case_id, i.version, d.title AS detector_title, r.experiment, r.crashes, r.diagnostics
        FROM runs r JOIN detectors d USING (detector) JOIN instances i USING (benchmark, instance_id)
        WHERE d.kind = ? ORDER BY ALL
        """,
        [DetectorKind.REPAIR],
    ).df()


def job_list(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Jobs, the newest first, with their results so far.

    Columns: job, benchmark, detector, detector_title, detector_kind, setting, options (JSON text), started_at,
    last_answer_at, n_instances, n_runs (requests for an answer), n_answered (crash or no crash),
    n_unreadable (a reply from which no answer can be read), n_troubles (no reply), n_retried (requests beyond one
    per reply), n_uncounted (replies whose tokens the endpoint did not count), input_tokens, output_tokens, usd,
    usd_reported (the part of it that endpoints reported), seconds_median, seconds_p95 (of a reply). The last six are
    missing if they are unknown, and for detectors that run on this machine.
    A repeated request counts once, by its last reply.
    """
    return cursor.execute(
        """
        WITH replied AS (
            SELECT job, max(answered_at) AS last_answer_at, count(*) AS n_replies,
                   count(*) FILTER (text IS NULL) AS n_troubles, sum(attempts) - count(*) AS n_retried,
                   sum(input_tokens)::BIGINT AS input_tokens, sum(output_tokens)::BIGINT AS output_tokens,
                   count(*) FILTER (text IS NOT NULL AND input_tokens + output_tokens IS NULL) AS n_uncounted,
                   sum(usd) AS usd, sum(usd) FILTER (is_usd_reported) AS usd_reported,
                   median(seconds) AS seconds_median, quantile_cont(seconds, 0.95) AS seconds_p95
            FROM replies GROUP BY ALL
        ), answered AS (
            SELECT experiment AS job, count(DISTINCT instance_id) AS n_instances, count(*) AS n_runs,
                   count(crashes) AS n_answered
            FROM runs WHERE experiment IN (SELECT job FROM jobs) GROUP BY ALL
        )
        SELECT j.job, j.benchmark, j.detector, coalesce(d.title, j.detector) AS detector_title, d.kind AS detector_kind,
               j.setting, j.options, j.started_at, r.last_answer_at,
               coalesce(a.n_instances, 0) AS n_instances, coalesce(a.n_runs, 0) AS n_runs,
               coalesce(a.n_answered, 0) AS n_answered,
               CASE WHEN r.job IS NULL THEN 0 ELSE a.n_runs - a.n_answered - r.n_troubles END AS n_unreadable,
               CASE WHEN r.job IS NULL THEN coalesce(a.n_runs - a.n_answered, 0) ELSE r.n_troubles END AS n_troubles,
               coalesce(r.n_retried, 0)::BIGINT AS n_retried,
               coalesce(r.n_uncounted, 0) AS n_uncounted,
               r.input_tokens, r.output_tokens, r.usd, r.usd_reported, r.seconds_median, r.seconds_p95
        FROM jobs j LEFT JOIN replied r USING (job) LEFT JOIN answered a USING (job)
        LEFT JOIN detectors d ON d.detector = j.detector
        ORDER BY j.started_at DESC, j.job
        """
    ).df()


def imported_costs(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """What imported answers took, as their files say: a row per run that says something.

    Columns: benchmark, job (the experiment), detector, setting, input_tokens, output_tokens, usd, usd_reported (the
    same: it is what the file reports), seconds_median, seconds_p95.
    """
    return cursor.execute(
        """
        SELECT benchmark, experiment AS job, detector, setting,
               sum(input_tokens)::BIGINT AS input_tokens, sum(output_tokens)::BIGINT AS output_tokens,
               sum(usd) AS usd, sum(usd) AS usd_reported,
               median(seconds) AS seconds_median, quantile_cont(seconds, 0.95) AS seconds_p95
        FROM runs
        WHERE (input_tokens IS NOT NULL OR output_tokens IS NOT NULL OR seconds IS NOT NULL OR usd IS NOT NULL)
              AND experiment NOT IN (SELECT job FROM jobs)
        GROUP BY ALL
        """
    ).df()


def reply_text(
    cursor: duckdb.DuckDBPyConnection,
    job: str,
    benchmark: str,
    instance_id: str,
    run_index: int,
) -> str | None:
    """The raw text of a reply, unchanged, or None; for the prompt's text see `cases.prompt_text` with its sha256."""
    rows = cursor.execute(
        "SELECT text FROM replies WHERE job = ? AND benchmark = ? AND instance_id = ? AND run_index = ?",
        [job, benchmark, instance_id, run_index],
    ).fetchall()
    return rows[0][0] if rows else None


def verdicts_of_job(
    cursor: duckdb.DuckDBPyConnection, job: str
) -> dict[tuple[str, int], tuple[bool | None, str | None]]:
    """By instance and index of the run: crashes, and why it is unanswered, as they were read when they were loaded."""
    rows = cursor.execute(
        "SELECT instance_id, run_index, crashes, unanswered FROM runs WHERE experiment = ?",
        [job],
    ).fetchall()
    return {(row[0], row[1]): (row[2], row[3]) for row in rows}


def judge_job_list(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Judges' jobs, the newest first.

    Columns: job, benchmark, experiment, annotator, options, started_at, last_answer_at, n_replies, n_labels (replies
    from which a label can be read), n_troubles (no reply), n_uncounted (replies whose tokens the endpoint did not
    count), input_tokens, output_tokens, usd, seconds_median.
    """
    return cursor.execute(
        """
        WITH replied AS (
            SELECT job, max(answered_at) AS last_answer_at, count(*) AS n_replies,
                   count(*) FILTER (r.text IS NULL) AS n_troubles, count(g.label) AS n_labels,
                   sum(input_tokens)::BIGINT AS input_tokens, sum(output_tokens)::BIGINT AS output_tokens,
                   count(*) FILTER (r.text IS NOT NULL AND input_tokens + output_tokens IS NULL) AS n_uncounted,
                   sum(usd) AS usd, median(seconds) AS seconds_median
            FROM judge_replies r LEFT JOIN judgements g USING (
                benchmark, instance_id, detector, setting, experiment, annotator, run_index, repetition, presentation)
            GROUP BY ALL
        )
        SELECT j.job, j.benchmark, j.experiment, j.annotator, j.options, j.started_at, r.last_answer_at,
               coalesce(r.n_replies, 0) AS n_replies, coalesce(r.n_labels, 0) AS n_labels,
               coalesce(r.n_troubles, 0) AS n_troubles, coalesce(r.n_uncounted, 0) AS n_uncounted,
               r.input_tokens, r.output_tokens, r.usd, r.seconds_median
        FROM judge_jobs j LEFT JOIN replied r USING (job) ORDER BY j.started_at DESC, j.job
        """
    ).df()


def judge_names(cursor: duckdb.DuckDBPyConnection) -> set[str]:
    """Names under which judges' labels are stored."""
    rows = cursor.execute(
        "SELECT annotator FROM judge_jobs UNION SELECT annotator FROM judgements WHERE annotator_kind = 'judge'"
    ).fetchall()
    return {row[0] for row in rows}


def experiments_with_diagnoses(
    cursor: duckdb.DuckDBPyConnection, benchmark: str
) -> list[str]:
    """Experiments in which an answer predicts the crash of a crashing instance of the benchmark and says why."""
    rows = cursor.execute(
        """
        SELECT DISTINCT experiment FROM runs
        WHERE benchmark = ? AND crashes AND reasoning IS NOT NULL AND instance_id LIKE '%\\_reproduced' ESCAPE '\\'
        ORDER BY 1
        """,
        [benchmark],
    ).fetchall()
    return [row[0] for row in rows]


def diagnoses_to_judge(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, experiment: str
) -> list[tuple[Any, ...]]:
    """(instance_id, detector, setting, run_index, diagnosis, truth) of runs that predict a crash with a text.

    Only of crashing instances whose vote predicts the crash (more than half of the runs that answered), in the order
    of detector, setting, instance and index. truth: the diagnosis that the benchmark states, None if it states none.
    """
    return cursor.execute(
        """
        SELECT r.instance_id, r.detector, r.setting, r.run_index, trim(r.reasoning, E' \\t\\r\\n'), c.diagnosis
        FROM runs r
        JOIN instances i USING (benchmark, instance_id)
        JOIN cases c ON c.benchmark = i.benchmark AND c.case_id = i.case_id
        WHERE r.benchmark = ? AND r.experiment = ? AND i.crashes
        WINDOW verdict AS (PARTITION BY r.instance_id, r.detector, r.setting)
        QUALIFY 2 * count(*) FILTER (r.crashes) OVER verdict > count(r.crashes) OVER verdict
            AND r.crashes AND length(trim(coalesce(r.reasoning, ''), E' \\t\\r\\n')) > 0
        ORDER BY r.detector, r.setting, r.instance_id, r.run_index
        """,
        [benchmark, experiment],
    ).fetchall()
