"""Questions about answers: how often each detector predicted a crash of each instance, and its human labels."""

import duckdb
import pandas as pd

from crane_core.storage.packed import packed

PUBLISHED_HUMAN = "published human"
"""The annotator whose labels are the study's final human outcomes."""


def answer_counts(
    cursor: duckdb.DuckDBPyConnection, annotator: str = PUBLISHED_HUMAN
) -> pd.DataFrame:
    """One row per benchmark, instance, detector, setting and experiment, with its counts of answers.

    Columns: benchmark, case_id, instance_id, version, truth (the instance crashes), library, root_cause,
    crash_type, stage, exception, detector, detector_title, detector_kind, setting, experiment, n_crash, n_safe,
    n_unanswered, n_skipped (never asked), first_run (the answer of run 1, missing without an answer), human (the label
    that `annotator` gave the verdict, or None; in an edition, which a name holds after its "@", that edition's).
    """
    return packed(
        cursor,
        """
        WITH answers AS (
            SELECT benchmark, instance_id, detector, setting, experiment,
                   count(*) FILTER (crashes) AS n_crash,
                   count(*) FILTER (NOT crashes) AS n_safe,
                   count(*) FILTER (crashes IS NULL AND run_index > 0) AS n_unanswered,
                   count(*) FILTER (run_index = 0) AS n_skipped,
                   bool_or(crashes) FILTER (run_index = 1) AS first_run
            FROM runs GROUP BY ALL
        ), labels AS (
            SELECT benchmark, instance_id, detector, setting, experiment, label AS human
            FROM judgements WHERE annotator = ? || regexp_extract(experiment, '@.*$')
              AND run_index = 0 AND repetition = 1 AND presentation = 'normal'
        )
        SELECT a.benchmark, i.case_id, a.instance_id, i.version, i.crashes AS truth,
               c.library, c.root_cause, c.crash_type, c.stage, c.exception,
               a.detector, d.title AS detector_title, d.kind AS detector_kind, a.setting, a.experiment,
               a.n_crash, a.n_safe, a.n_unanswered, a.n_skipped, a.first_run, labels.human
        FROM answers a
        JOIN instances i USING (benchmark, instance_id)
        JOIN cases c ON c.benchmark = a.benchmark AND c.case_id = i.case_id
        JOIN detectors d USING (detector)
        LEFT JOIN labels USING (benchmark, instance_id, detector, setting, experiment)
        ORDER BY a.benchmark, a.experiment, d.kind DESC, a.detector, a.setting, a.instance_id
        """,
        [annotator],
    )


def published_numbers(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Every printed cell, in its source's order: publication, table_id, row, column, printed (its text), unit."""
    return cursor.execute(
        """
        SELECT publication, table_id, "row", "column", printed, unit
        FROM published_numbers ORDER BY source_id, ordinal
        """
    ).df()


def label_counts(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """How many labels each annotator gave: annotator, annotator_kind, presentation, n_repetitions, n_labels."""
    return cursor.execute(
        """
        SELECT annotator, annotator_kind, presentation, count(DISTINCT repetition) AS n_repetitions,
               count(*) AS n_labels
        FROM judgements GROUP BY ALL ORDER BY ALL
        """
    ).df()


def answers_by_run(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, experiment: str
) -> pd.DataFrame:
    """Every answer of an experiment, one row each, by detector, setting, instance and run.

    Columns: case_id, instance_id, truth (the instance crashes), detector, setting, run_index (from 1), crashes (the
    run's answer, missing without one).
    """
    return packed(
        cursor,
        """
        SELECT i.case_id, r.instance_id, i.crashes AS truth, r.detector, r.setting, r.run_index, r.crashes
        FROM runs r JOIN instances i USING (benchmark, instance_id)
        WHERE r.benchmark = ? AND r.experiment = ? AND r.run_index > 0
        ORDER BY r.detector, r.setting, r.instance_id, r.run_index
        """,
        [benchmark, experiment],
    )
