"""Rates and comparisons as tidy frames for charts and pages: which rule counts a run, which a diagnosis, by what group.

Takes a slice of the verdict frame (one benchmark, one experiment); the statistics themselves live in stats. Where a
campaign labelled a sample of the diagnoses, a label stands for all of its stratum (`label_stratum` of the frame, see
`judged`) that ask for one under the rule in force and in the slice asked about: weight N / n, N of them, n labelled
(Horvitz and Thompson 1952, post-stratified). So the weights add up to what is known: the crashes of the slice.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.domain import Setting
from crane_core.stats import intervals, multiplicity, paired, power, rates, sign_flip, vote

SEED = 20251018
"""Seed of every draw on a page: the same data give the same p-value and interval."""
YES_OR_NO = ("Accuracy", "Recall")
"""Rates over the same instances whatever the detector says, so that each instance is right or wrong."""


class Inputs(NamedTuple):
    """Two settings of a detector that are compared on the same instances: what `other` changes against `base`."""

    base: Setting
    other: Setting


WITH_STATE = Inputs(Setting.CODE, Setting.RUNTIME)
"""The comparison of the study: what runtime state changes."""


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


class PairedTest(StrEnum):
    """How the p-value of a comparison is made; the policy decides, never the data."""

    MCNEMAR = "exact McNemar test"
    SIGN_FLIP = "sign-flip permutation test by case"


COMPARED = ("without", "with_", "difference", "low", "high")
TESTED = ("gained", "lost", "p_value", "p_by_case")
RATE_COLUMNS = [
    "n", "n_cases", "part", "whole", "value", "low", "high", "left_out", "n_labelled", "n_to_label",
]  # fmt: skip
OUTCOME = ["truth", "n_crash", "n_safe", "human", "label_stratum"]
"""Columns that decide what a row counts; a frame of these alone is divided into groups in half the time."""
PARTIAL_CREDIT = {Credit.STRICT: 0.0, Credit.HALF: 0.5}


def detected(frame: pd.DataFrame, rule: VoteRule) -> NDArray[np.float64]:
    """Prediction per row in 0..1, nan where no run answered. A tie predicts no crash: more than half is asked for."""
    n_crash, n_safe = frame["n_crash"].to_numpy(), frame["n_safe"].to_numpy()
    share = vote.crash_share(n_crash, n_safe)
    if rule is VoteRule.MEAN:
        return share
    said = vote.majority(n_crash, n_safe).crash if rule is VoteRule.MAJORITY else (n_safe == 0) & (n_crash > 0)
    return np.where(np.isnan(share), np.nan, said.astype(np.float64))


def test_of(*, rule: VoteRule, credit: Credit, rate: str) -> PairedTest | None:
    """McNemar where an instance is right or wrong, sign flips where it is right by a share; none for other rates."""
    if rate not in YES_OR_NO:
        return None
    return PairedTest.SIGN_FLIP if rule is VoteRule.MEAN or credit is Credit.HALF else PairedTest.MCNEMAR


def asks_for_label(frame: pd.DataFrame, rule: VoteRule) -> NDArray[np.bool_]:
    """Rows whose outcome depends on a label: a crash that is predicted. Labels are of the majority's diagnosis."""
    found = detected(frame, VoteRule.ALL if rule is VoteRule.ALL else VoteRule.MAJORITY)
    asks: NDArray[np.bool_] = frame["truth"].to_numpy(dtype=bool) & (found > 0)
    return asks


def label_weights(frame: pd.DataFrame, rule: VoteRule) -> NDArray[np.float64]:
    """How many instances each row stands for: 0 where others stand for it, nan where no label of its stratum does."""
    asks = asks_for_label(frame, rule) & frame["label_stratum"].notna().to_numpy()
    weights = np.ones(len(frame))
    if not asks.any():
        return weights
    is_labelled = frame.loc[asks, "human"].notna()
    n = is_labelled.groupby(frame.loc[asks, "label_stratum"]).transform("sum").to_numpy(dtype=np.float64)
    all_of = is_labelled.groupby(frame.loc[asks, "label_stratum"]).transform("size").to_numpy(dtype=np.float64)
    weights[asks] = np.where(n > 0, np.where(is_labelled, all_of / np.maximum(n, 1.0), 0.0), np.nan)
    return weights


class Scored(NamedTuple):
    """Each row's share in TP, FP, TN, FN and left out, and how many rows depend on a label and have one.

    parts: None where a row depends on a label that nobody gave and no other stands for.
    """

    parts: rates.Confusion | None
    n_to_label: int
    n_labelled: int


def scored(frame: pd.DataFrame, rule: VoteRule, credit: Credit) -> Scored:
    """The rows under the chosen rules; an outcome that depends on a label counts with the weight of the label."""
    truth, predicted = frame["truth"].to_numpy(), detected(frame, rule)
    if credit is Credit.DETECTION:
        return Scored(rates.confusion_parts(truth, predicted), 0, 0)
    worth = rates.diagnosis_credit(frame["human"].tolist(), partial=PARTIAL_CREDIT[credit])
    weight, asks = label_weights(frame, rule), asks_for_label(frame, rule)
    is_covered = not np.isnan(weight).any()
    parts = rates.confusion_parts(truth, predicted, credit=worth, weight=weight) if is_covered else None
    return Scored(parts, int(np.count_nonzero(asks)), int(np.count_nonzero(asks & ~np.isnan(worth))))


def is_sampled(frame: pd.DataFrame, rule: VoteRule, credit: Credit) -> bool:
    """Whether labels stand for others anywhere: then nobody knows who wins which instance, and nothing is tested."""
    return credit is not Credit.DETECTION and bool((label_weights(frame, rule) != 1).any())


def paired_rows(frame: pd.DataFrame, *, rule: VoteRule, credit: Credit, inputs: Inputs = WITH_STATE) -> pd.DataFrame:
    """The rows that a comparison of two inputs is about, for rates and gains alike.

    Of a detector that was asked with both, the instances that have an outcome in both; of one that was asked with one
    of them, all of its rows.
    """
    both = frame[frame["setting"].isin(inputs)]
    n_settings = both.groupby("detector")["setting"].transform("nunique")
    is_known = pd.Series(~_is_left_out(both, rule, credit), both.index)
    n_known = is_known.groupby([both["detector"], both["instance_id"]]).transform("sum")
    return both[(n_settings < 2) | (n_known == 2)]


def _is_left_out(frame: pd.DataFrame, rule: VoteRule, credit: Credit) -> NDArray[np.bool_]:
    """Rows without a vote, or with a detected crash that nobody judged and no label can stand for."""
    predicted = detected(frame, rule)
    silent: NDArray[np.bool_] = np.isnan(predicted)
    if credit is Credit.DETECTION:
        return silent
    is_judged = ~np.isnan(rates.diagnosis_credit(frame["human"].tolist(), partial=PARTIAL_CREDIT[credit]))
    hangs = frame["truth"].to_numpy(dtype=bool) & (predicted > 0) & frame["label_stratum"].isna().to_numpy()
    unjudged: NDArray[np.bool_] = hangs & ~is_judged
    return silent | unjudged


def rate_table(frame: pd.DataFrame, *, by: list[str], rate: str, rule: VoteRule, credit: Credit) -> pd.DataFrame:
    """One row per group of `by`, with the rate and its interval.

    The interval is Wilson's for the effective number of instances (`intervals.clustered_rate`). Columns: those of `by`,
    n and n_cases (instances and cases that the rate is over), part and whole (the rate is part / whole), value, low,
    high (shares in 0..1, nan where undefined), left_out (not answered or not judged), n_labelled of n_to_label
    (instances that depend on a label, and those that have one). Undefined too: a rate that needs labels which nobody
    gave and no other stands for.
    """
    lean = frame[list(dict.fromkeys([*by, *OUTCOME]))].assign(case=frame["benchmark"] + "/" + frame["case_id"])
    rows = [
        dict(zip(by, group, strict=True)) | _rated(rows_of, rate, rule, credit)
        for group, rows_of in lean.groupby(by, sort=False, observed=True)
    ]
    return pd.DataFrame(rows, columns=[*by, *RATE_COLUMNS])


def _rated(frame: pd.DataFrame, rate: str, rule: VoteRule, credit: Credit) -> dict[str, float]:
    found = scored(frame, rule, credit)
    labels = {"n_labelled": found.n_labelled, "n_to_label": found.n_to_label}
    if found.parts is None:
        nothing = dict.fromkeys(("part", "whole", "value", "low", "high"), np.nan)
        return nothing | dict.fromkeys(("n", "n_cases", "left_out"), 0) | labels
    ratio = rates.RATES[rate](found.parts)
    estimate = intervals.clustered_rate(ratio.part, ratio.whole, frame["case"].to_numpy())
    return labels | {
        "n": estimate.n,
        "n_cases": estimate.n_clusters,
        "part": float(np.sum(ratio.part)),
        "whole": float(np.sum(ratio.whole)),
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "left_out": int(np.sum(found.parts.left_out)),
    }


def gain_table(
    frame: pd.DataFrame,
    *,
    rule: VoteRule,
    credit: Credit,
    rate: str = "Accuracy",
    inputs: Inputs = WITH_STATE,
) -> pd.DataFrame:
    """A rate with the one input against the other, per detector; with and without runtime state it is the headline.

    Over `paired_rows`. Columns: detector, detector_title, n, n_cases, without (rate with the base), with_ (with the
    other), difference, low, high (shares), gained and lost (instances that only one setting has right), p_value, test
    (see `test_of`), p_by_case (sign flips of whole cases), p_holm and p_by_case_holm (Holm over the detectors of the
    table), detectable (smallest difference that as many pairs, of which as many differ, reveal to the exact McNemar
    test with 80% power at Holm's strictest step, 0.05 over the number of detectors). gained, lost and detectable are
    NaN where right is not a yes or no (mean of runs, half credit), and so are the p-values for precision and F1. Where
    the labels of a sample stand for others, all of these are NaN for every detector. Rates that need labels of
    unlabelled verdicts are NaN altogether.
    """
    table = _gains(frame, ["detector"], rule, credit, rate, inputs)
    if table.empty:
        return table
    alpha = power.ALPHA / max(int(table["p_value"].notna().sum()), 1)
    differing = (table["gained"] + table["lost"]) / table["n"]
    return table.assign(
        p_holm=multiplicity.holm(table["p_value"]),
        p_by_case_holm=multiplicity.holm(table["p_by_case"]),
        detectable=[
            np.nan if np.isnan(share) else power.minimum_detectable_difference(int(n), share, alpha=alpha)
            for n, share in zip(table["n"], differing, strict=True)
        ],
    )


def change_table(
    frame: pd.DataFrame, *, by: str, rule: VoteRule, credit: Credit, rate: str, inputs: Inputs = WITH_STATE
) -> pd.DataFrame:
    """The same comparison per group of `by` and detector: the study's improvements (paper, Figure 5).

    Columns: those of `gain_table` but detectable and those of Holm, the group under the name `by`, and p_bh
    (Benjamini-Hochberg over the whole table, which is an exploratory grid).
    """
    table = _gains(frame, [by, "detector"], rule, credit, rate, inputs)
    return table.assign(p_bh=multiplicity.benjamini_hochberg(table["p_value"])) if len(table) else table


def _gains(
    frame: pd.DataFrame, by: list[str], rule: VoteRule, credit: Credit, rate: str, inputs: Inputs
) -> pd.DataFrame:
    both = frame[frame["setting"].isin(inputs)]
    test = None if is_sampled(both, rule, credit) else test_of(rule=rule, credit=credit, rate=rate)
    columns = list(dict.fromkeys([*by, "detector_title", "setting", "instance_id", "case_id", *OUTCOME]))
    pairs = paired_rows(both, rule=rule, credit=credit, inputs=inputs)[columns]
    rows = []
    for group, rows_of in pairs.groupby(by, sort=False, observed=True):
        if rows_of["setting"].nunique() == 2:
            rows.append(dict(zip(by, group, strict=True)) | _gain(rows_of, rule, credit, rate, test, inputs))
    return pd.DataFrame(rows)


def _gain(
    frame: pd.DataFrame, rule: VoteRule, credit: Credit, rate: str, test: PairedTest | None, inputs: Inputs
) -> dict[str, float | str | None]:
    a, b = (frame[frame["setting"] == setting].sort_values("instance_id") for setting in inputs)
    who = {"detector_title": a["detector_title"].iloc[0], "test": test and str(test)}
    without, with_ = scored(a, rule, credit), scored(b, rule, credit)
    if without.parts is None or with_.parts is None:
        return who | {"n": 0, "n_cases": 0} | dict.fromkeys((*COMPARED, *TESTED), np.nan)
    one, other = rates.RATES[rate](without.parts), rates.RATES[rate](with_.parts)
    cases = a["case_id"].to_numpy()
    estimate = intervals.clustered_difference(one.part, one.whole, other.part, other.whole, cases)
    return who | {
        "n": estimate.n,
        "n_cases": estimate.n_clusters,
        "without": one.value,
        "with_": other.value,
        "difference": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        **tested(one, other, cases, test),
    }


def tested(
    one: rates.Ratio, other: rates.Ratio, cases: NDArray[np.generic], test: PairedTest | None
) -> dict[str, float]:
    """The p-value and what belongs to it, over the instances that the rate is over."""
    counted = np.asarray(one.whole) > 0
    a, b = np.asarray(one.part)[counted], np.asarray(other.part)[counted]
    nothing = dict.fromkeys(TESTED, float("nan"))
    if test is None:
        return nothing
    by_case = sign_flip.sign_flip(b - a, cases[counted], seed=SEED)
    if test is PairedTest.SIGN_FLIP:
        return nothing | {"p_value": by_case, "p_by_case": by_case}
    counts = paired.discordance(a == 1, b == 1)
    return {
        "gained": counts.only_b,
        "lost": counts.only_a,
        "p_value": paired.mcnemar(counts.only_a, counts.only_b),
        "p_by_case": by_case,
    }
