"""Questions about labels: those of every annotator in the store, people and judges alike."""

from collections.abc import Collection

import duckdb
import pandas as pd

from crane_core.storage.packed import packed

_TIME = "', repetition ' || repetition"
_ALL_TIMES = "', all repetitions'"
_TEXTS = "CASE presentation WHEN 'normal' THEN '' ELSE ', ' || presentation END"
"""The meaning of a judge's name: the repetition, and the order in which the texts were shown."""
_NAMED = """
    SELECT *, annotator || CASE annotator_kind WHEN 'judge' THEN {time} || {texts} ELSE '' END AS name FROM judgements
"""
_SAID = """
    WITH named AS ({named}), counted AS (
        SELECT benchmark, instance_id, detector, setting, experiment, name AS annotator, annotator_kind AS kind, label,
               run_index > 0 AS of_run, count(*) AS n, min((repetition, run_index)) AS first, max(campaign) AS campaign
        FROM named WHERE {where} GROUP BY ALL
    )
    SELECT benchmark, instance_id, detector, setting, experiment, annotator, kind, label, campaign
    FROM counted
    QUALIFY row_number() OVER (
        PARTITION BY benchmark, instance_id, detector, setting, experiment, annotator
        ORDER BY of_run, n DESC, first
    ) = 1
"""
_FIRST = """
    SELECT benchmark, min(instance_id) AS instance_id, detector, setting, experiment, name AS annotator,
           annotator_kind AS kind, max(campaign) AS campaign
    FROM ({named}) WHERE {where}
    GROUP BY benchmark, detector, setting, experiment, name, annotator_kind
    ORDER BY ALL
"""
_IS_POOLED = "annotator IN (SELECT annotator FROM judgements WHERE annotator_kind = 'judge' AND repetition > 1)"


def verdict_labels(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """One row per verdict and annotator.

    Columns: benchmark, instance_id, detector, setting, experiment, annotator, kind, label, campaign (that of a judge
    that uses the own labels of one; else None).

    Labels of the verdict itself (run_index 0) are used unchanged. If single runs were labelled, the verdict gets the
    most frequent label, and the earliest one in a tie (as in the study's judge tables). A judge counts as one annotator
    per repetition and order of texts, and its name says which.
    """
    return packed(cursor, f"{_said(_TIME, 'true')} ORDER BY ALL")


def _said(time: str, where: str) -> str:
    return _SAID.format(
        named=_NAMED.format(time=time, texts=_TEXTS), where=where
    )


def judges_of(
    cursor: duckdb.DuckDBPyConnection, verdicts: pd.DataFrame
) -> list[str]:
    """Names of the judges that labelled any of these verdicts, sorted.

    verdicts: benchmark, instance_id, detector, setting and experiment of each.
    """
    cursor.register("asked", verdicts)
    try:
        found = cursor.execute(
            f"""
            SELECT DISTINCT name FROM ({_NAMED.format(time=_TIME, texts=_TEXTS)})
            SEMI JOIN asked USING (benchmark, instance_id, detector, setting, experiment)
            WHERE annotator_kind = 'judge' ORDER BY name
            """
        ).fetchall()
    finally:
        cursor.unregister("asked")
    return [name for (name,) in found]


def counts_by_case(
    cursor: duckdb.DuckDBPyConnection,
    benchmark: str,
    experiment: str,
    verdicts: pd.DataFrame,
    *,
    label: str,
    among: Collection[str],
) -> pd.DataFrame:
    """How often imported people gave these verdicts one label `among` others, per case: alike cases are one row.

    verdicts: instance_id, detector, setting and case_id of verdicts of the experiment. Columns: annotator, n_given (of
    `label` to verdicts of the case), n_labels (of `among`, 1 or more), n_cases (that are alike).
    """
    where = (
        "annotator_kind = 'human' AND benchmark = $benchmark AND experiment = $experiment "
        "AND (instance_id, detector, setting) IN (SELECT instance_id, detector, setting FROM asked)"
    )
    cursor.register(
        "asked", verdicts[["instance_id", "detector", "setting", "case_id"]]
    )
    try:
        return cursor.execute(
            f"""
            WITH said AS ({_said(_TIME, where)}), by_case AS (
                SELECT annotator, case_id, count(*) FILTER (label = $label) AS n_given, count(*) AS n_labels
                FROM said JOIN asked USING (instance_id, detector, setting)
                WHERE list_contains($among, label) GROUP BY ALL
            )
            SELECT annotator, n_given, n_labels, count(*) AS n_cases FROM by_case GROUP BY ALL ORDER BY ALL
            """,
            {
                "benchmark": benchmark,
                "experiment": experiment,
                "label": label,
                "among": list(among),
            },
        ).df()
    finally:
        cursor.unregister("asked")


def first_labels(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Who labelled what: the first label of each annotator in each setting of a detector; `verdict_labels` has all.

    Columns: benchmark, instance_id, detector, setting, experiment, annotator, kind, campaign.
    """
    return cursor.execute(
        _FIRST.format(
            named=_NAMED.format(time=_TIME, texts=_TEXTS), where="true"
        )
    ).df()


def pooled_judge_labels(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """The same for judges with several repetitions, with all repetitions of one order of texts pooled."""
    return packed(cursor, f"{_said(_ALL_TIMES, _IS_POOLED)} ORDER BY ALL")


def first_pooled_labels(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """`first_labels` of the judges of `pooled_judge_labels`."""
    return cursor.execute(
        _FIRST.format(
            named=_NAMED.format(time=_ALL_TIMES, texts=_TEXTS), where=_IS_POOLED
        )
    ).df()


def judge_passes(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Every pass of every judge: judge, repetition, presentation, annotator (as both questions above name it).

    Repetition 0 means all repetitions together, for judges with several.
    """
    return cursor.execute(
        f"""
        WITH single AS (
            SELECT DISTINCT annotator AS judge, repetition, presentation FROM judgements WHERE annotator_kind = 'judge'
        ), pooled AS (
            SELECT DISTINCT judge, 0 AS repetition, presentation
            FROM single WHERE judge IN (SELECT judge FROM single WHERE repetition > 1)
        )
        SELECT *, judge || {_TIME} || {_TEXTS} AS annotator FROM single
        UNION ALL
        SELECT *, judge || {_ALL_TIMES} || {_TEXTS} FROM pooled
        ORDER BY judge, presentation, repetition
        """
    ).df()
