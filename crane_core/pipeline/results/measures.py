"""Rates and comparisons as tidy frames for charts and pages: which rule counts a run, which a diagnosis, by what group.

Takes a slice of the verdict frame (one benchmark, one experiment); the statistics themselves live in stats. Where a
campaign labelled a sample of the diagnoses, a label represents all of its stratum (`label_stratum` of the frame, see
`judged`) that ask for one under the rule in force and in the slice: weight N / n, N of them, n labelled
(Horvitz and Thompson 1952, post-stratified). So the weights add up to what is known: the crashes of the slice.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.domain import Setting
from crane_core.pipeline.results.outcomes import one_family, one_grid
from crane_core.stats import (
    intervals,
    paired,
    power,
    rates,
    ratio_swap,
    sign_flip,
    vote,
)

SEED = 20251018
"""Seed of every draw on a page: the same data give the same p-value and interval."""
YES_OR_NO = ("Accuracy", "Recall")
"""Rates over the same instances whatever the detector says, so that each instance is right or wrong."""


class Inputs(NamedTuple):
    """Two settings of a detector that are compared on the same instances: the change from `base` to `other`."""

    base: Setting
    other: Setting


WITH_STATE = Inputs(Setting.CODE, Setting.RUNTIME)
"""The comparison of the study: the effect of runtime state."""


class VoteRule(StrEnum):
    """How several answers become one prediction."""

    MAJORITY = "majority"
    MEAN = "mean of answers"
    ALL = "all answers"


class Credit(StrEnum):
    """The credit of a detected crash (paper, section 4.4.2, and two other readings)."""

    STRICT = "correct diagnosis"
    HALF = "half credit for partial"
    DETECTION = "detection only"


class PairedTest(StrEnum):
    """The test of a comparison; the policy decides, never the data."""

    MCNEMAR = "exact McNemar test"
    SIGN_FLIP = "sign-flip permutation test by case"
    SWAP = "permutation test by case, inputs swapped"


COMPARED = ("without", "with_", "difference", "low", "high")
TESTED = ("gained", "lost", "p_value", "p_by_case")
RATE_COLUMNS = [
    "n", "n_cases", "part", "whole", "value", "low", "high", "left_out", "n_labelled", "n_to_label",
]  # fmt: skip
ESTIMATED = ("value", "low", "high", "n", "n_cases")
"""What tables call the members of a `RateEstimate`."""
OUTCOME = ["truth", "n_crash", "n_safe", "human", "label_stratum"]
"""Columns that decide what a row counts."""
PARTIAL_CREDIT = {Credit.STRICT: 0.0, Credit.HALF: 0.5}


def detected(frame: pd.DataFrame, rule: VoteRule) -> NDArray[np.float64]:
    """Prediction per row in 0..1, nan if no run answered. A tie predicts no crash: more than half is needed."""
    n_crash, n_safe = frame["n_crash"].to_numpy(), frame["n_safe"].to_numpy()
    share = vote.crash_share(n_crash, n_safe)
    if rule is VoteRule.MEAN:
        return share
    said = (
        vote.majority(n_crash, n_safe).crash
        if rule is VoteRule.MAJORITY
        else (n_safe == 0) & (n_crash > 0)
    )
    return np.where(np.isnan(share), np.nan, said.astype(np.float64))


def test_of(
    *,
    rule: VoteRule,
    credit: Credit,
    rate: str,
) -> PairedTest:
    """McNemar where an instance is right or wrong, sign flips where it is right by a share, swaps for other rates."""
    if rate not in YES_OR_NO:
        return PairedTest.SWAP
    return (
        PairedTest.SIGN_FLIP
        if rule is VoteRule.MEAN or credit is Credit.HALF
        else PairedTest.MCNEMAR
    )


class Outcomes(NamedTuple):
    """The columns that determine each row's count, read from a frame once; all arrays have shape (n,).

    predicted: as `detected`. asks: see `asks_for_label`. is_labelled: the diagnosis has a label. worth:
    its credit, nan if it has no label; None where detection is enough. stratum: of the label, -1 without one.
    """

    truth: NDArray[np.bool_]
    predicted: NDArray[np.float64]
    asks: NDArray[np.bool_]
    is_labelled: NDArray[np.bool_]
    worth: NDArray[np.float64] | None
    stratum: NDArray[np.intp]

    def of(self, rows: NDArray[np.intp]) -> Outcomes:
        """Those of some of the rows."""
        return Outcomes(
            *(None if array is None else array[rows] for array in self)  # type: ignore[arg-type]
        )


def outcomes(
    frame: pd.DataFrame,
    rule: VoteRule,
    credit: Credit,
) -> Outcomes:
    """The outcomes of the rows under the chosen rules."""
    label = frame["human"]
    worth = None
    if credit is not Credit.DETECTION:
        worth = credit_of(label, PARTIAL_CREDIT[credit])
        if (
            credit is Credit.HALF and "label_credit" in frame
        ):  # a campaign's own labels state their credit
            stated = frame["label_credit"].to_numpy(dtype=float)
            worth = np.where(np.isnan(stated), worth, stated)
    return Outcomes(
        truth=frame["truth"].to_numpy(dtype=bool),
        predicted=detected(frame, rule),
        asks=asks_for_label(frame, rule),
        is_labelled=label.notna().to_numpy(),
        worth=worth,
        stratum=pd.factorize(frame["label_stratum"])[0],
    )


def credit_of(labels: pd.Series[Any], partial: float) -> NDArray[np.float64]:
    """`diagnosis_credit` of a column. Each word once: of a hundred thousand rows, four differ."""
    label, words = pd.factorize(labels)
    each = rates.diagnosis_credit(words, partial=partial)
    credit: NDArray[np.float64] = np.append(each, np.nan)[label]
    return credit


def asks_for_label(frame: pd.DataFrame, rule: VoteRule) -> NDArray[np.bool_]:
    """Rows whose outcome depends on a label: a crash that is predicted. Labels are of the majority's diagnosis."""
    # Under the mean of answers the diagnosis is still that of the majority, which people labelled.
    found = detected(
        frame, VoteRule.ALL if rule is VoteRule.ALL else VoteRule.MAJORITY
    )
    asks: NDArray[np.bool_] = frame["truth"].to_numpy(dtype=bool) & (found > 0)
    return asks


def estimate_row(found: Iterable[float]) -> dict[str, float]:
    """An estimate with its interval and counts as members of a table's row."""
    return dict(zip(ESTIMATED, found, strict=True))


def label_weights(frame: pd.DataFrame, rule: VoteRule) -> NDArray[np.float64]:
    """How many instances each row represents: 0 where others represent it, nan if no label of its stratum does."""
    return _weights(outcomes(frame, rule, Credit.DETECTION))


def _weights(rows: Outcomes) -> NDArray[np.float64]:
    weights = np.ones(len(rows.truth))
    asks = rows.asks & (rows.stratum >= 0)
    if asks.any():
        stratum, is_labelled = rows.stratum[asks], rows.is_labelled[asks]
        # Horvitz and Thompson (1952): a labelled diagnosis stands for as many as its stratum has per label.
        n_labelled = np.bincount(stratum, is_labelled)[stratum]
        n_asking = np.bincount(stratum)[stratum]
        share = np.where(
            is_labelled, n_asking / np.maximum(n_labelled, 1.0), 0.0
        )
        weights[asks] = np.where(n_labelled > 0, share, np.nan)
    return weights


class Scored(NamedTuple):
    """Each row's share in TP, FP, TN, FN and left out, and how many rows depend on a label and have one.

    parts: None if a row depends on a label that is missing and that no other replaces.
    """

    parts: rates.Confusion | None
    n_to_label: int
    n_labelled: int


def scored(
    frame: pd.DataFrame,
    rule: VoteRule,
    credit: Credit,
) -> Scored:
    """The rows under the chosen rules; an outcome that depends on a label counts with the weight of the label."""
    return _scored(outcomes(frame, rule, credit))


def _scored(rows: Outcomes) -> Scored:
    if rows.worth is None:
        return Scored(rates.confusion_parts(rows.truth, rows.predicted), 0, 0)
    weight = _weights(rows)
    parts = None
    if not np.isnan(weight).any():
        parts = rates.confusion_parts(
            rows.truth,
            rows.predicted,
            credit=rows.worth,
            weight=weight,
        )
    n_labelled = np.count_nonzero(rows.asks & ~np.isnan(rows.worth))
    return Scored(parts, int(np.count_nonzero(rows.asks)), int(n_labelled))


def is_sampled(
    frame: pd.DataFrame,
    rule: VoteRule,
    credit: Credit,
) -> bool:
    """Whether any label represents others: then the winner of each instance is unknown, and nothing is tested."""
    return _is_sampled(outcomes(frame, rule, credit))


def _is_sampled(rows: Outcomes) -> bool:
    return rows.worth is not None and bool((_weights(rows) != 1).any())


def paired_rows(
    frame: pd.DataFrame,
    *,
    rule: VoteRule,
    credit: Credit,
    inputs: Inputs = WITH_STATE,
) -> pd.DataFrame:
    """The rows that a comparison of two inputs is about, for rates and gains alike.

    Of a detector with both, the instances that have an outcome in both; of one that was asked with one
    of them, all of its rows.
    """
    both = frame[frame["setting"].isin(inputs)]
    detector = pd.factorize(both["detector"])[0]
    instance = pd.factorize(both["instance_id"])[0]
    is_other = (both["setting"] == inputs.other).to_numpy(dtype=bool)
    n_other, n_base = (
        np.bincount(detector, is_other),
        np.bincount(detector, ~is_other),
    )
    # A detector that has only one of the inputs is shown with all its rows, since nothing is compared.
    is_single = (n_other == 0) | (n_base == 0)
    is_known = ~_is_left_out(outcomes(both, rule, credit))
    pair = detector * (instance.max(initial=0) + 1) + instance
    n_known = np.bincount(pair, is_known)
    kept: pd.DataFrame = both[is_single[detector] | (n_known[pair] == 2)]
    return kept


def _is_left_out(rows: Outcomes) -> NDArray[np.bool_]:
    """Rows without a vote, or with a detected crash without a label that no other can replace."""
    silent: NDArray[np.bool_] = np.isnan(rows.predicted)
    if rows.worth is None:
        return silent
    unjudged: NDArray[np.bool_] = (
        rows.truth
        & (rows.predicted > 0)
        & (rows.stratum < 0)
        & np.isnan(rows.worth)
    )
    return silent | unjudged


Group = tuple[Hashable, ...]


def _groups(
    frame: pd.DataFrame, by: list[str]
) -> Iterator[tuple[Group, NDArray[np.intp]]]:
    """Each group of `by` in order of appearance, and where its rows stand. Rows without a value in `by` are in none."""
    number = frame.groupby(by, sort=False, observed=True).ngroup().to_numpy()
    in_order = np.argsort(number, kind="stable")[np.count_nonzero(number < 0) :]
    if not len(in_order):
        return
    starts = np.flatnonzero(np.diff(number[in_order], prepend=-1))
    names = zip(
        *(frame[name].iloc[in_order[starts]].tolist() for name in by),
        strict=True,
    )
    yield from zip(names, np.split(in_order, starts[1:]), strict=True)


def rate_table(
    frame: pd.DataFrame,
    *,
    by: list[str],
    rate: str,
    rule: VoteRule,
    credit: Credit,
) -> pd.DataFrame:
    """One row per group of `by`, with the rate and its interval.

    The interval is Wilson's for the effective number of instances (`intervals.clustered_rate`). Columns: those of `by`,
    n and n_cases (instances and cases that the rate is over), part and whole (the rate is part / whole), value, low,
    high (shares in 0..1, nan where undefined), left_out (not answered or not judged), n_labelled of n_to_label
    (instances that depend on a label, and those that have one). Undefined too: a rate that needs labels which are
    missing and which no other replaces.
    """
    of_rows, case = outcomes(frame, rule, credit), _cases(frame)
    rows = [
        dict(zip(by, group, strict=True))
        | _rated(of_rows.of(where), case[where], rate)
        for group, where in _groups(frame, by)
    ]
    return pd.DataFrame(rows, columns=[*by, *RATE_COLUMNS])


def _cases(frame: pd.DataFrame) -> NDArray[np.intp]:
    """The number of each row's case: an integer is found again faster than a name."""
    return np.asarray(
        frame.groupby(["benchmark", "case_id"]).ngroup(), dtype=np.intp
    )


def _rated(
    of_rows: Outcomes,
    case: NDArray[np.intp],
    rate: str,
) -> dict[str, float]:
    found = _scored(of_rows)
    labels = {"n_labelled": found.n_labelled, "n_to_label": found.n_to_label}
    if found.parts is None:
        nothing = dict.fromkeys(
            ("part", "whole", "value", "low", "high"), np.nan
        )
        return nothing | dict.fromkeys(("n", "n_cases", "left_out"), 0) | labels
    ratio = rates.RATES[rate](found.parts)
    estimate = intervals.clustered_rate(ratio.part, ratio.whole, case)
    return {
        **labels,
        **estimate_row(estimate),
        "part": float(np.sum(ratio.part)),
        "whole": float(np.sum(ratio.whole)),
        "left_out": int(np.sum(found.parts.left_out)),
    }


def gain_table(
    frame: pd.DataFrame,
    *,
    rule: VoteRule,
    credit: Credit,
    rate: str = "Accuracy",
    inputs: Inputs = WITH_STATE,
    with_power: bool = True,
) -> pd.DataFrame:
    """A rate with the one input against the other, per detector; with and without runtime state it is the headline.

    Over `paired_rows`. Columns: detector, detector_title, n, n_cases, without (rate with the base), with_ (with the
    other), difference, low, high (shares), gained and lost (instances that only one setting has right), p_value, test
    (see `test_of`), p_by_case (by flipping or swapping whole cases), p_holm and p_by_case_holm (Holm over the detectors
    of the table), bound, p_smaller and the outcome that all decide (`outcomes.under_bound`), and unless `with_power` is
    false, detectable: the smallest difference that as many pairs, of which as many differ, reveal to the exact McNemar
    test with 80% power at Holm's strictest step, 0.05 over the number of detectors. gained, lost and detectable are NaN
    where right is not a yes or no (mean of answers, half credit, precision, F1). Where the labels of a sample stand for
    others, all of these are NaN for every detector. Rates that need labels of unlabelled verdicts are NaN altogether.
    """
    gains = Pairs.of(frame, ["detector"], inputs).gains(rule, credit, rate)
    return adjusted(gains, with_power=with_power)


def adjusted(table: pd.DataFrame, *, with_power: bool = True) -> pd.DataFrame:
    """Comparisons with what goes by their number: p_holm, p_by_case_holm, outcome and, with power, detectable."""
    if table.empty:
        return table
    table = one_family(table)
    return table.assign(detectable=_detectable(table)) if with_power else table


def _detectable(gains: pd.DataFrame) -> list[float]:
    # Holm's strictest step, over the detectors that were tested.
    n_tests = max(int(gains["p_value"].notna().sum()), 1)
    alpha = power.ALPHA / n_tests
    differing = (gains["gained"] + gains["lost"]) / gains["n"]
    found = []
    for n, share in zip(gains["n"], differing, strict=True):
        smallest = np.nan
        if not np.isnan(share):
            smallest = power.minimum_detectable_difference(
                int(n), share, alpha=alpha
            )
        found.append(smallest)
    return found


def change_table(
    frame: pd.DataFrame,
    *,
    by: str,
    rule: VoteRule,
    credit: Credit,
    rate: str,
    inputs: Inputs = WITH_STATE,
) -> pd.DataFrame:
    """The same comparison per group of `by` and detector: the study's improvements (paper, Figure 5).

    Columns: those of `gain_table` but detectable and those of Holm, the group under the name `by`, p_bh and
    p_by_case_bh (Benjamini-Hochberg over the whole table, which is an exploratory grid), as the outcome takes them.
    """
    table = Pairs.of(frame, [by, "detector"], inputs).gains(rule, credit, rate)
    return one_grid(table) if len(table) else table


class Pairs(NamedTuple):
    """The instances with both inputs, found once for any number of readings.

    rows: those of both inputs. case: the number of each row's case. groups: of each group what it is called, and where
    the rows of its instances stand, with the base and with the other input in one order of instances.
    """

    rows: pd.DataFrame
    case: NDArray[np.intp]
    groups: list[tuple[dict[str, Hashable], NDArray[np.intp], NDArray[np.intp]]]

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        by: list[str],
        inputs: Inputs,
    ) -> Pairs:
        """Find, in each group of `by`, the instances that were answered with both inputs."""
        both = frame[frame["setting"].isin(inputs)]
        instance = pd.factorize(both["instance_id"], sort=True)[0]
        is_other = (both["setting"] == inputs.other).to_numpy(dtype=bool)
        groups = []
        for group, where in _groups(both, by):
            one, other = where[~is_other[where]], where[is_other[where]]
            _, a, b = np.intersect1d(
                instance[one],
                instance[other],
                assume_unique=True,
                return_indices=True,
            )
            who = dict(zip(by, group, strict=True))
            who["detector_title"] = both["detector_title"].iat[where[0]]
            groups.append((who, one[a], other[b]))
        return cls(both, _cases(both), groups)

    def gains(
        self,
        rule: VoteRule,
        credit: Credit,
        rate: str,
    ) -> pd.DataFrame:
        """A row per group with an instance that has an outcome with both inputs; see `gain_table`."""
        of_rows = outcomes(self.rows, rule, credit)
        test = None
        if not _is_sampled(of_rows):
            test = test_of(rule=rule, credit=credit, rate=rate)
        is_known = ~_is_left_out(of_rows)
        rows = []
        for who, base, other in self.groups:
            kept = is_known[base] & is_known[other]
            a, b = base[kept], other[kept]
            if len(a):
                found = _gain(
                    of_rows.of(a),
                    of_rows.of(b),
                    self.case[a],
                    rate,
                    test,
                )
                rows.append(who | {"test": test and str(test)} | found)
        return pd.DataFrame(rows)

    def case_shares(
        self, rule: VoteRule, credit: Credit
    ) -> dict[Hashable, pd.Series[float]]:
        """Of each detector, what each case adds to the difference of accuracy, by case_id; they add up to it."""
        of_rows = outcomes(self.rows, rule, credit)
        is_known = ~_is_left_out(of_rows)
        case_id = self.rows["case_id"].to_numpy()
        found: dict[Hashable, pd.Series[float]] = {}
        for who, base, other in self.groups:
            kept = is_known[base] & is_known[other]
            a, b = base[kept], other[kept]
            without, with_ = _scored(of_rows.of(a)), _scored(of_rows.of(b))
            if without.parts is None or with_.parts is None or not len(a):
                continue
            one = rates.accuracy(without.parts)
            two = rates.accuracy(with_.parts)
            moved = two.part / np.sum(two.whole) - one.part / np.sum(one.whole)
            found[who["detector"]] = pd.Series(moved).groupby(case_id[a]).sum()
        return found


def _gain(
    a: Outcomes,
    b: Outcomes,
    cases: NDArray[np.intp],
    rate: str,
    test: PairedTest | None,
) -> dict[str, float]:
    without, with_ = _scored(a), _scored(b)
    # A missing label that no other stands for leaves the rate unknown; it is not guessed.
    if without.parts is None or with_.parts is None:
        return {"n": 0, "n_cases": 0} | dict.fromkeys(
            (*COMPARED, *TESTED), np.nan
        )
    one, other = (
        rates.RATES[rate](without.parts),
        rates.RATES[rate](with_.parts),
    )
    estimate = intervals.clustered_difference(
        one.part,
        one.whole,
        other.part,
        other.whole,
        cases,
    )
    return {
        "n": estimate.n,
        "n_cases": estimate.n_clusters,
        "without": one.value,
        "with_": other.value,
        "difference": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        **tested(
            one,
            other,
            cases,
            test,
        ),
    }


def tested(
    one: rates.Ratio,
    other: rates.Ratio,
    cases: NDArray[np.generic],
    test: PairedTest | None,
) -> dict[str, float]:
    """The p-value and what belongs to it, over the instances that the rate is over."""
    # Recall is over the crashing instances alone; the others would only add ties.
    counted = np.asarray(one.whole) > 0
    a, b = np.asarray(one.part)[counted], np.asarray(other.part)[counted]
    nothing = dict.fromkeys(TESTED, float("nan"))
    if test is None:
        return nothing
    if test is PairedTest.SWAP:
        # Both wholes count: with F1 and precision an instance may be in the rate with one input only.
        p = ratio_swap.ratio_swap(
            one.part,
            one.whole,
            other.part,
            other.whole,
            cases,
            seed=SEED,
        )
        return nothing | {"p_value": p, "p_by_case": p}
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
