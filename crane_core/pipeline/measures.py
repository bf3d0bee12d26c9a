"""Rates and comparisons as tidy frames for charts and pages: which rule counts a run, which a diagnosis, by what group.

Takes a slice of the verdict frame (one benchmark, one experiment); the statistics themselves live in stats. Where only
a sample of the diagnoses has labels, `label_weight` of the frame (see `judged`) makes every rate an estimate for all.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.domain import Setting
from crane_core.stats import intervals, multiplicity, paired, rates, vote

SEED = 20251018
"""Seed of every bootstrap on a page: the same data give the same interval."""
YES_OR_NO = ("Accuracy", "Recall")
"""Rates over the same instances whatever the detector says, so that each instance is right or wrong."""


class VoteRule(StrEnum):
    """How several runs become one prediction."""

    MAJORITY = "majority"
    MEAN = "mean of runs"
    ALL = "all five"


class Credit(StrEnum):
    """What a detected crash is worth (paper, section 4.4.2, and two other readings)."""

    STRICT = "correct diagnosis"
    HALF = "half credit for partial"
    DETECTION = "detection only"


COMPARED = ("without", "with_", "difference", "low", "high")
DISCORDANT = ("gained", "lost", "p_value", "detectable")
RATE_COLUMNS = [
    "n", "n_cases", "part", "whole", "value", "low", "high", "left_out", "n_labelled", "n_to_label",
]  # fmt: skip
PARTIAL_CREDIT = {Credit.STRICT: 0.0, Credit.HALF: 0.5}


def detected(frame: pd.DataFrame, rule: VoteRule) -> NDArray[np.float64]:
    """Prediction per row in 0..1, nan where no run answered. A tie foretells no crash: more than half is asked for."""
    n_crash, n_safe = frame["n_crash"].to_numpy(), frame["n_safe"].to_numpy()
    share = vote.crash_share(n_crash, n_safe)
    if rule is VoteRule.MEAN:
        return share
    said = vote.majority(n_crash, n_safe).crash if rule is VoteRule.MAJORITY else (n_safe == 0) & (n_crash > 0)
    return np.where(np.isnan(share), np.nan, said.astype(np.float64))


class Scored(NamedTuple):
    """Each row's share in TP, FP, TN, FN and left out, and how many rows hang on a label and have one.

    parts: None where a row hangs on a label that nobody gave and no other stands for. is_complete: no row counts for
    another, so that each instance is right or wrong by itself.
    """

    parts: rates.Confusion | None
    n_to_label: int
    n_labelled: int
    is_complete: bool


def scored(frame: pd.DataFrame, rule: VoteRule, credit: Credit) -> Scored:
    """The rows under the chosen rules; an outcome that hangs on a label counts with the weight of the label."""
    truth, foretold = frame["truth"].to_numpy(), detected(frame, rule)
    if credit is Credit.DETECTION:
        return Scored(rates.confusion_parts(truth, foretold), 0, 0, is_complete=True)
    worth = rates.diagnosis_credit(frame["human"].tolist(), partial=PARTIAL_CREDIT[credit])
    hangs = truth & (foretold > 0)
    weight = np.where(hangs, frame["label_weight"].to_numpy(), 1.0)
    is_covered = not np.isnan(weight).any()
    parts = rates.confusion_parts(truth, foretold, credit=worth, weight=weight) if is_covered else None
    n_labelled = int(np.count_nonzero(hangs & ~np.isnan(worth)))
    return Scored(parts, int(np.count_nonzero(hangs)), n_labelled, bool((weight == 1).all()))


def rate_table(frame: pd.DataFrame, *, by: list[str], rate: str, rule: VoteRule, credit: Credit) -> pd.DataFrame:
    """One row per group of `by`, with the rate and its interval.

    The interval is the bootstrap clustered by case, or Wilson's over the cases where they all say the same. Columns:
    those of `by`, n and n_cases (instances and cases that the rate is over), part and whole (the rate is part / whole),
    value, low, high (shares in 0..1, nan where undefined), left_out (not answered or not judged), n_labelled of
    n_to_label (instances that hang on a label, and those that have one). Undefined too: a rate that hangs on labels
    which nobody gave and no other stands for.
    """
    rows = [
        dict(zip(by, group, strict=True)) | _rated(rows_of, rate, rule, credit)
        for group, rows_of in frame.groupby(by, sort=False, observed=True)
    ]
    return pd.DataFrame(rows, columns=[*by, *RATE_COLUMNS])


def _rated(frame: pd.DataFrame, rate: str, rule: VoteRule, credit: Credit) -> dict[str, float]:
    found = scored(frame, rule, credit)
    labels = {"n_labelled": found.n_labelled, "n_to_label": found.n_to_label}
    if found.parts is None:
        nothing = dict.fromkeys(("part", "whole", "value", "low", "high"), np.nan)
        return nothing | dict.fromkeys(("n", "n_cases", "left_out"), 0) | labels
    ratio = rates.RATES[rate](found.parts)
    counted = np.asarray(ratio.whole) > 0
    cases = (frame["benchmark"] + "/" + frame["case_id"]).to_numpy()
    estimate = _with_width(intervals.clustered_rate(ratio.part, ratio.whole, cases, seed=SEED), cases[counted])
    return labels | {
        "n": int(np.count_nonzero(counted)),
        "n_cases": estimate.n_clusters,
        "part": float(np.sum(ratio.part)),
        "whole": float(np.sum(ratio.whole)),
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "left_out": int(np.sum(found.parts.left_out)),
    }


def _with_width(estimate: intervals.Estimate, cases: NDArray[np.object_]) -> intervals.Estimate:
    """The estimate over the cases that count; where they all say the same, with Wilson's interval over them."""
    n_cases = len(set(cases))
    if estimate.low < estimate.high or np.isnan(estimate.value):
        return estimate._replace(n_clusters=n_cases)
    low, high = intervals.wilson_share(estimate.value, n_cases)
    return estimate._replace(low=low, high=high, n_clusters=n_cases)


def gain_table(frame: pd.DataFrame, *, rule: VoteRule, credit: Credit, rate: str = "Accuracy") -> pd.DataFrame:
    """A rate with runtime state against without, per detector: the headline comparison.

    Columns: detector, detector_title, n, n_cases, without, with_, difference, low, high (shares), gained and lost
    (instances that only one setting has right), p_value (exact McNemar), p_holm (Holm over the detectors of the
    table), detectable (smallest difference these pairs would reveal, power 80%). The last five are NaN where right
    is not a yes or no for the same instances: under mean of runs or half credit, for precision and F1, and where labels
    of a sample stand for others. Of rates that hang on labels which no other stands for, everything is NaN.
    """
    rows = [_gain(rows_of, rule, credit, rate) for _, rows_of in frame.groupby("detector", sort=False)]
    table = pd.DataFrame([row for row in rows if row is not None])
    return table.assign(p_holm=multiplicity.holm(table["p_value"])) if len(table) else table


def change_table(frame: pd.DataFrame, *, by: str, rule: VoteRule, credit: Credit, rate: str) -> pd.DataFrame:
    """The same comparison per group of `by` and detector: the study's improvements (paper, Figure 5).

    Columns: those of `gain_table` but p_holm, the group under the name `by`, and p_bh (Benjamini-Hochberg over the
    whole table, which is an exploratory grid).
    """
    rows = []
    for (group, _), rows_of in frame.groupby([by, "detector"], sort=False, observed=True):
        found = _gain(rows_of, rule, credit, rate)
        if found is not None:
            rows.append({by: group} | found)
    table = pd.DataFrame(rows)
    return table.assign(p_bh=multiplicity.benjamini_hochberg(table["p_value"])) if len(table) else table


def _gain(frame: pd.DataFrame, rule: VoteRule, credit: Credit, rate: str) -> dict[str, object] | None:
    a = frame[frame["setting"] == Setting.CODE].set_index("instance_id")
    b = frame[frame["setting"] == Setting.RUNTIME].set_index("instance_id")
    both = a.index.intersection(b.index)
    if both.empty:
        return None
    a, b = a.loc[both], b.loc[both]
    who = {"detector": a["detector"].iloc[0], "detector_title": a["detector_title"].iloc[0]}
    without, with_ = scored(a, rule, credit), scored(b, rule, credit)
    if without.parts is None or with_.parts is None:
        return who | {"n": 0, "n_cases": 0} | dict.fromkeys((*COMPARED, *DISCORDANT), np.nan)
    one, other = rates.RATES[rate](without.parts), rates.RATES[rate](with_.parts)
    cases = a["case_id"].to_numpy()
    estimate = intervals.clustered_difference(one.part, one.whole, other.part, other.whole, cases, seed=SEED)
    row = who | {
        "n": int(np.count_nonzero((np.asarray(one.whole) > 0) | (np.asarray(other.whole) > 0))),
        "n_cases": estimate.n_clusters,
        "without": one.value,
        "with_": other.value,
        "difference": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
    }
    if not (without.is_complete and with_.is_complete):
        return row | dict.fromkeys(DISCORDANT, np.nan)
    return row | _discordance(one, other, rule, rate)


def _discordance(one: rates.Ratio, other: rates.Ratio, rule: VoteRule, rate: str) -> dict[str, float]:
    """Counts of instances that one setting alone has right, among those that both answered."""
    answered = (np.asarray(one.whole) == 1) & (np.asarray(other.whole) == 1)
    right = np.column_stack([one.part, other.part])[answered]
    if rule is VoteRule.MEAN or rate not in YES_OR_NO or not np.isin(right, (0.0, 1.0)).all():
        return dict.fromkeys(DISCORDANT, float("nan"))
    counts = paired.discordance(right[:, 0] == 1, right[:, 1] == 1)
    n_discordant = counts.only_a + counts.only_b
    share = n_discordant / len(right) if len(right) else 0.0
    return {
        "gained": counts.only_b,
        "lost": counts.only_a,
        "p_value": paired.mcnemar(counts.only_a, counts.only_b),
        "detectable": paired.minimum_detectable_difference(len(right), share),
    }
