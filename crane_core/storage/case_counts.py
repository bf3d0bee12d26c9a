"""Answers counted per case inside the database: what the main comparison of Results needs of any number of runs.

The rules of `stats.vote` and `stats.rates` in SQL; refuses to know intervals and tests.
"""

from collections.abc import Mapping
from typing import NamedTuple

import duckdb
import pandas as pd

from crane_core.storage.verdicts import PUBLISHED_HUMAN

PREDICTED = {
    "majority": "(n_crash > n_safe)::DOUBLE",
    "mean of answers": "n_crash / (n_crash + n_safe)",
    "all answers": "(n_safe = 0)::DOUBLE",
}
"""How the answers of an instance become one prediction in 0..1, of instances with an answer."""


class CountQuestion(NamedTuple):
    """What is counted: `predicted` is a key of PREDICTED; `credit` of each label, None where detection is enough.

    only_crashing: whether instances that do not crash are left out, as recall does.
    """

    benchmark: str
    base: str
    other: str
    predicted: str
    credit: Mapping[str, float] | None
    only_crashing: bool = False


def conditions(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """One row per benchmark, experiment, detector and setting with answers, in the order of `answer_counts`.

    Columns besides: detector_title, detector_kind, n (answers), is_judged (people of the study labelled some). Without
    those of which no instance is loaded.
    """
    found = cursor.execute(
        """
        WITH asked AS (
            SELECT benchmark, experiment, detector, setting, count(*) AS n, any_value(instance_id) AS instance_id
            FROM runs GROUP BY ALL
        ), labelled AS (
            SELECT DISTINCT benchmark, experiment, detector, setting FROM judgements
            WHERE annotator = ? || regexp_extract(experiment, '@.*$')
              AND run_index = 0 AND repetition = 1 AND presentation = 'normal'
        )
        SELECT a.benchmark, a.experiment, a.detector, a.setting, d.title AS detector_title, d.kind AS detector_kind,
               a.n, l.benchmark IS NOT NULL AS is_judged, i.instance_id IS NOT NULL AS is_known
        FROM asked a JOIN detectors d USING (detector)
        LEFT JOIN instances i ON i.benchmark = a.benchmark AND i.instance_id = a.instance_id
        LEFT JOIN labelled l
        ON (l.benchmark, l.experiment, l.detector, l.setting) = (a.benchmark, a.experiment, a.detector, a.setting)
        ORDER BY a.benchmark, a.experiment, d.kind DESC, a.detector, a.setting
        """,
        [PUBLISHED_HUMAN],
    ).df()
    if not found[
        "is_known"
    ].all():  # one instance was looked up for each; now every one of those that failed
        key = ["benchmark", "experiment", "detector", "setting"]
        others = cursor.execute(
            """
            SELECT DISTINCT benchmark, experiment, detector, setting FROM runs
            SEMI JOIN instances USING (benchmark, instance_id) WHERE list_contains(?, experiment)
            """,
            [found.loc[~found["is_known"], "experiment"].unique().tolist()],
        ).df()
        known = pd.MultiIndex.from_frame(found[key]).isin(
            pd.MultiIndex.from_frame(others)
        )
        found = found[found["is_known"] | known]
    return found.drop(columns="is_known").reset_index(drop=True)


def case_counts(
    cursor: duckdb.DuckDBPyConnection,
    question: CountQuestion,
    shown: pd.DataFrame,
) -> pd.DataFrame:
    """How many cases have which counts, per series: a row for every different case, whatever the number of cases.

    shown: experiment, detector, setting, and the series that its answers count for. Columns: series; is_paired (asked
    with both inputs: then only instances with an outcome in both are kept); n_asked (instances) and n_kept (of them);
    for each side, base and other, of what is kept: asked_, n_ (with an outcome), right_ (the sum of outcomes, each in
    0..1), asks_ (detected crashes, which ask for a label) and labelled_ (with one that has a credit); only_base and
    only_other (instances that only this input has right); n_cases.
    """
    numbers, names = pd.factorize(shown["series"], sort=True)
    asked = shown[["experiment", "detector", "setting"]].assign(
        series=numbers, ask=range(len(shown))
    )
    # Registered frames instead of text in the statement: SQL never holds a value.
    cursor.register("shown", asked)
    cursor.register(
        "credits",
        pd.DataFrame(
            (question.credit or {}).items(), columns=["label", "credit"]
        ),
    )
    try:
        counted = cursor.execute(
            _COUNTED.format(
                predicted=PREDICTED[question.predicted],
                asks="n_safe = 0"
                if question.predicted == "all answers"
                else "n_crash > n_safe",
                credit="1.0" if question.credit is None else "credit",
                sums="".join(
                    _SUMS.format(side=side) for side in ("base", "other")
                ),
            ),
            {
                "benchmark": question.benchmark,
                "base": question.base,
                "other": question.other,
                "annotator": PUBLISHED_HUMAN,
                "experiments": shown["experiment"].unique().tolist(),
                "only_crashing": question.only_crashing,
            },
        ).df()
        return counted.assign(series=names.take(counted["series"].to_numpy()))
    # The cursor is the caller's and outlives this question.
    finally:
        cursor.unregister("shown")
        cursor.unregister("credits")


_COUNTED = """
    -- Instances, cases and series are numbered first: joins and groups of millions by a number take half the time.
    WITH known AS MATERIALIZED (
        SELECT instance_id, crashes AS truth, row_number() OVER ()::INTEGER AS instance,
               dense_rank() OVER (ORDER BY case_id)::INTEGER AS case_no
        FROM instances SEMI JOIN cases USING (benchmark, case_id)
        WHERE benchmark = $benchmark AND (crashes OR NOT $only_crashing)
    ), counted AS (
        SELECT setting, instance_id, experiment, detector,
               count(*) FILTER (crashes) AS n_crash, count(*) FILTER (NOT crashes) AS n_safe
        FROM runs
        WHERE benchmark = $benchmark AND setting IN ($base, $other) AND list_contains($experiments, experiment)
        GROUP BY ALL
    ), answers AS (
        SELECT ask, series, setting = $base AS is_base, instance, case_no, truth, n_crash, n_safe
        FROM counted JOIN shown USING (experiment, detector, setting) JOIN known USING (instance_id)
    ), labels AS (
        SELECT ask, instance, credit
        FROM judgements JOIN credits USING (label)
        JOIN shown USING (experiment, detector, setting) JOIN known USING (instance_id)
        WHERE benchmark = $benchmark AND annotator = $annotator || regexp_extract(experiment, '@.*$')
          AND run_index = 0 AND repetition = 1 AND presentation = 'normal'
    ), predictions AS (
        SELECT a.*, {credit} AS credit,
               CASE WHEN n_crash + n_safe > 0 THEN {predicted} END AS predicted,
               truth AND n_crash > 0 AND {asks} AS asks
        FROM answers a LEFT JOIN labels USING (ask, instance)
    ), outcomes AS (
        SELECT series, is_base, case_no, instance, asks, asks AND credit IS NOT NULL AS is_labelled,
               CASE WHEN NOT truth THEN 1 - predicted WHEN predicted = 0 THEN 0 ELSE predicted * credit END AS outcome
        FROM predictions
    ), instances_asked AS (
        SELECT series, any_value(case_no) AS case_no,
               bool_or(is_base) AS has_base, NOT bool_and(is_base) AS has_other,
               max(outcome) FILTER (is_base) AS base, max(outcome) FILTER (NOT is_base) AS other,
               count(*) FILTER (is_base AND asks) AS asks_base,
               count(*) FILTER (NOT is_base AND asks) AS asks_other,
               count(*) FILTER (is_base AND is_labelled) AS labelled_base,
               count(*) FILTER (NOT is_base AND is_labelled) AS labelled_other
        FROM outcomes GROUP BY series, instance
    ), compared AS (
        SELECT series, bool_or(has_base) AND bool_or(has_other) AS is_paired FROM instances_asked GROUP BY ALL
    ), by_case AS (
        SELECT series, is_paired, count(*) AS n_asked,
               count(*) FILTER (kept) AS n_kept,
               {sums}
               count(*) FILTER (base = 1 AND other <> 1) AS only_base,
               count(*) FILTER (base <> 1 AND other = 1) AS only_other
        FROM (SELECT *, NOT is_paired OR (base IS NOT NULL AND other IS NOT NULL) AS kept
              FROM instances_asked JOIN compared USING (series))
        GROUP BY series, is_paired, case_no
    )
    SELECT *, count(*) AS n_cases FROM by_case GROUP BY ALL ORDER BY ALL
"""
_SUMS = """
               count(*) FILTER (kept AND has_{side}) AS asked_{side},
               count({side}) FILTER (kept) AS n_{side},
               coalesce(sum({side}) FILTER (kept), 0) AS right_{side},
               coalesce(sum(asks_{side}) FILTER (kept), 0) AS asks_{side},
               coalesce(sum(labelled_{side}) FILTER (kept), 0) AS labelled_{side},
"""
