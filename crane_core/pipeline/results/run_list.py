"""All runs: one row per detector, setting and experiment, with their cost and agreement."""

from collections.abc import Iterator

import pandas as pd

from crane_core.pipeline.results import exported_statistic, measures
from crane_core.pipeline.rows import as_rows
from crane_core.stats.intervals import clustered_rate
from crane_core.stats.vote import run_pairs
from crane_core.storage.jobs import imported_costs, job_list
from crane_core.storage.store import Store

KEY = ["benchmark", "experiment", "detector", "setting"]
OF_JOBS = [
    "started_at",
    "last_answer_at",
    "options",
    "n_retried",
    "input_tokens",
    "output_tokens",
    "n_uncounted",
    "usd",
    "usd_reported",
]
TIMES = ["seconds_median", "seconds_p95"]


def run_list(store: Store, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Local jobs first, the newest first, then imported runs.

    verdicts: `evaluate.verdict_frame`. Columns: benchmark, experiment, detector, detector_title, detector_kind,
    setting, n_instances (with a question), n_answers, n_unanswered, agreement, low, high (of the share of pairs of runs
    of one instance that say the same, 95%, clustered by case; missing if no instance has two answers), n_flips
    (instances whose runs differ), accuracy, accuracy_low, accuracy_high (detection alone, of the majority, as on
    Results), is_job; and for jobs started_at, last_answer_at, options, n_retried, input_tokens,
    output_tokens, n_uncounted, usd, usd_reported, seconds_median, seconds_p95; of imported runs those that their files
    state; missing elsewhere. A job of which no answer is loaded yet has counts of 0.
    """
    jobs = job_list(store.cursor()).rename(columns={"job": "experiment"})
    took = jobs[[*KEY, *OF_JOBS, *TIMES]]
    imported = imported_costs(store.cursor())
    # An empty frame would turn the types of the other's columns into objects.
    if not imported.empty:
        took = pd.concat([took, imported.rename(columns={"job": "experiment"})])
    rows = [
        _row(rows)
        for _, rows in verdicts.groupby(KEY, sort=True, observed=True)
    ]
    found = pd.DataFrame(
        rows, columns=[*KEY, "detector_title", "detector_kind", *_COUNTS]
    )
    right = measures.rate_table(
        verdicts,
        by=KEY,
        rate="Accuracy",
        rule=measures.VoteRule.MAJORITY,
        credit=measures.Credit.DETECTION,
    ).rename(columns=_ACCURACY)
    found = found.merge(right[[*KEY, *_ACCURACY.values()]], on=KEY, how="left")
    listed = found.merge(took, on=KEY, how="left")
    listed["is_job"] = listed["started_at"].notna()
    waiting = jobs[
        ~jobs["experiment"].isin(listed.loc[listed["is_job"], "experiment"])
    ]
    if not waiting.empty:
        zeros = dict.fromkeys(
            ("n_instances", "n_answers", "n_unanswered", "n_flips"), 0
        )
        listed = pd.concat(
            [
                listed,
                waiting[
                    [*KEY, "detector_title", "detector_kind", *OF_JOBS, *TIMES]
                ].assign(**zeros, is_job=True),
            ]
        )
    ordered = listed.sort_values(
        "started_at",
        ascending=False,
        na_position="last",
        kind="stable",
    )
    return ordered.reset_index(drop=True)


_ACCURACY = {
    "value": "accuracy",
    "low": "accuracy_low",
    "high": "accuracy_high",
}
_COUNTS = [
    "n_instances",
    "n_answers",
    "n_unanswered",
    "agreement",
    "low",
    "high",
    "n_flips",
]


def _row(rows: pd.DataFrame) -> dict[str, object]:
    first = rows.iloc[0]
    pairs = run_pairs(rows["n_crash"], rows["n_safe"])
    has_pairs = pairs.pairs.sum() > 0
    agreed = (
        clustered_rate(pairs.agreeing, pairs.pairs, rows["case_id"])
        if has_pairs
        else None
    )
    n_asked = rows["n_crash"] + rows["n_safe"] + rows["n_unanswered"]
    return {
        **{
            name: first[name]
            for name in [*KEY, "detector_title", "detector_kind"]
        },
        "n_instances": int((n_asked > 0).sum()),
        "n_answers": int(rows["n_crash"].sum() + rows["n_safe"].sum()),
        "n_unanswered": int(rows["n_unanswered"].sum()),
        "agreement": agreed.value if agreed else None,
        "low": agreed.low if agreed else None,
        "high": agreed.high if agreed else None,
        "n_flips": int(((rows["n_crash"] > 0) & (rows["n_safe"] > 0)).sum()),
    }


def exported_runs(
    material: exported_statistic.JudgedAnswers,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Share of pairs of runs of one instance that say the same, of every detector, input and experiment."""
    for row in as_rows(run_list(material.store, material.verdicts)):
        of = exported_statistic.ExportedStatistic(
            "Runs",
            "list",
            "pairs of runs that agree",
            benchmark=row["benchmark"],
            experiment=row["experiment"],
            detector=row["detector_title"],
            input=row["setting"],
            n=row["n_instances"],
        )
        if row["agreement"] is not None:
            yield of.rated(row, "agreement")
