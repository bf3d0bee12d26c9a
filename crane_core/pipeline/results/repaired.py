"""What jobs that execute found: what rehearsed targets did, and how many crashing notebooks have a fix.

Of a fix: whether it runs through, and how near the published it is. Of rehearsed targets, crashing and fixed notebooks
apart: how many crashed, ran through, or gave no verdict. Knows what is counted of how many. Refuses to know how fixes
are found and tried; see `detection.repairs`.
"""

import json
from typing import Any

import pandas as pd

from crane_core.domain import JsonObject, Version
from crane_core.pipeline.results.measures import Credit, VoteRule, rate_table
from crane_core.pipeline.rows import as_rows
from crane_core.stats.intervals import rate_of_cases

BY = ["benchmark", "detector_title", "experiment"]


def repaired(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per benchmark, detector and experiment; runs: of `storage.jobs.repair_runs`.

    Columns: BY; n (crashing notebooks whose target crashed in a copy), n_not_crashed (whose target ran through there),
    n_open (notebooks without a verdict); n_fixed_1 and n_fixed_k (of n, those whose first fix or any fix that is shown
    runs through in a fresh kernel), each with value_, low_ and high_ (share, 95%, by case); n_shown fixes, n_crash of
    which crash in a fresh kernel; n_same_cells of n_first first fixes, n_same_state of n_compared; n_regressions of
    n_fixed fixed notebooks that get a fix; n_requests, n_tokens.
    """
    # An imported run may lack the details, and nothing can be counted without them.
    told = runs.assign(details=runs["diagnostics"].fillna("").map(_details))
    rows = [
        dict(zip(BY, key, strict=True)) | _row(of_job)
        for key, of_job in told.groupby(BY, sort=False)
    ]
    return pd.DataFrame(rows, columns=[*BY, *COLUMNS])


def _details(text: str) -> JsonObject | None:
    try:
        [details] = json.loads(text)
    except ValueError:
        return None
    return details if isinstance(details, dict) else None


def _row(runs: pd.DataFrame) -> dict[str, Any]:
    is_open = runs["crashes"].isna() | runs["details"].isna()
    known = runs[~is_open]
    crashing = [
        row["details"]
        for row in as_rows(known)
        if row["version"] == Version.REPRODUCED
    ]
    fixed = [
        row["details"]
        for row in as_rows(known)
        if row["version"] == Version.FIXED
    ]
    crashed = [each for each in crashing if each["crashed_in_a_copy"]]
    firsts = [each["fixes"][0] for each in crashed if each["fixes"]]
    shown = [fix for each in crashed for fix in each["fixes"]]
    compared = [fix for fix in firsts if fix["has_same_state"] is not None]
    return {
        "n": len(crashed),
        "n_not_crashed": len(crashing) - len(crashed),
        "n_open": int(is_open.sum()),
        **_fixed("1", [_runs_through(each["fixes"][:1]) for each in crashed]),
        **_fixed("k", [_runs_through(each["fixes"]) for each in crashed]),
        "n_shown": len(shown),
        "n_crash": sum(not fix["runs_through"] for fix in shown),
        "n_first": len(firsts),
        "n_same_cells": sum(fix["has_same_cells"] for fix in firsts),
        "n_compared": len(compared),
        "n_same_state": sum(fix["has_same_state"] for fix in compared),
        "n_fixed": len(fixed),
        "n_regressions": sum(bool(each["fixes"]) for each in fixed),
        "n_requests": sum(each["requests"] for each in (*crashing, *fixed)),
        "n_tokens": sum(
            each["input_tokens"] + each["output_tokens"]
            for each in (*crashing, *fixed)
        ),
    }


def _runs_through(fixes: list[JsonObject]) -> bool:
    return any(fix["runs_through"] for fix in fixes)


def _fixed(which: str, is_fixed: list[bool]) -> dict[str, Any]:
    """The count at 1 or at k, with the share; nothing is known of no notebook."""
    rate = rate_of_cases(is_fixed, [True] * len(is_fixed)) if is_fixed else None
    return {
        f"n_fixed_{which}": sum(is_fixed),
        f"value_{which}": rate.value if rate else None,
        f"low_{which}": rate.low if rate else None,
        f"high_{which}": rate.high if rate else None,
    }


COLUMNS = [
    "n", "n_not_crashed", "n_open",
    "n_fixed_1", "value_1", "low_1", "high_1", "n_fixed_k", "value_k", "low_k", "high_k",
    "n_shown", "n_crash", "n_first", "n_same_cells", "n_compared", "n_same_state",
    "n_fixed", "n_regressions", "n_requests", "n_tokens",
]  # fmt: skip


BY_VERSION = ["detector_title", "experiment", "version"]


def rehearsed(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per detector, experiment and version of the notebook; frame: rows of `evaluate.verdict_frame`.

    Columns: BY_VERSION, n_crashed, n_through, n_open (no verdict), and of `measures.rate_table` value, low and high
    (the share that did what the notebook claims, of n with a verdict) and n_cases.
    """
    counted = frame.assign(
        n_crashed=frame["n_crash"] > 0,
        n_through=frame["n_safe"] > 0,
        n_open=frame["n_crash"] + frame["n_safe"] == 0,
    )
    counts = (
        counted.groupby(BY_VERSION, sort=False)[
            ["n_crashed", "n_through", "n_open"]
        ]
        .sum()
        .reset_index()
    )
    rates = rate_table(
        frame,
        by=BY_VERSION,
        rate="Accuracy",
        rule=VoteRule.MAJORITY,
        credit=Credit.DETECTION,
    )
    return counts.merge(
        rates[[*BY_VERSION, "n", "n_cases", "value", "low", "high"]],
        on=BY_VERSION,
    )
