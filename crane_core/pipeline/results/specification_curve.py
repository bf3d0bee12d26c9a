"""Does the conclusion depend on the choices? The effect of an input under every defensible reading of the answers.

A specification curve (Simonsohn, Simmons and Nelson 2020): vote rule x credit x who judged x test. Takes slices of the
verdict frame, one per annotator; the statistics are those of `measures.gain_table`.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results import measures, outcomes
from crane_core.pipeline.results.measures import SEED, Pairs
from crane_core.pipeline.rows import as_rows
from crane_core.stats.equivalence import SMALLEST_EFFECT
from crane_core.stats.joint_curve import curve_p, joint_interval, joint_quantile
from crane_core.stats.outcome import Outcome, outcome, outcome_text
from crane_core.stats.resampling import Interval

NOBODY = "nobody"
"""The judge where only detection counts: no diagnosis is used."""
COLUMNS = [
    "detector", "detector_title", "rule", "credit", "judged_by", "test", "n", "n_cases", "difference", "low", "high",
    "p_value", "bound", "p_smaller", "conclusion",
]  # fmt: skip
CHOICES = ("rule", "credit", "judged_by", "test")


class Test(StrEnum):
    """Which p-value decides; both are adjusted by Holm over the detectors."""

    MCNEMAR = "exact McNemar"
    BY_CASE = "sign flips by case"


def specification_curve(
    judged: Mapping[str, pd.DataFrame],
    inputs: measures.Inputs = measures.WITH_STATE,
    *,
    bound: float = SMALLEST_EFFECT,
) -> pd.DataFrame:
    """One row per detector, vote rule, credit, annotator and test, columns COLUMNS.

    judged: the rows of one benchmark and experiment as each annotator judged them (any name, if none did and
    `human` is empty). difference: accuracy with the other input minus with the base, low and high its 95% interval by
    case; p_value after Holm. bound: the smallest effect of interest, and p_smaller of the two one-sided tests of it,
    after Holm too. conclusion: the outcome that the row's test decides (`outcomes.under_bound`). A test that a reading
    does not have (McNemar for shares; any, where labels of a sample stand for others) has no row.
    """
    return curve_of(pairs_of(judged, inputs), bound=bound)


def pairs_of(
    judged: Mapping[str, pd.DataFrame],
    inputs: measures.Inputs = measures.WITH_STATE,
) -> dict[str, measures.Pairs]:
    """The instances with both inputs, found once per annotator for all readings."""
    return {
        name: measures.Pairs.of(_lean(frame), ["detector"], inputs)
        for name, frame in judged.items()
    }


def curve_of(
    judged: Mapping[str, measures.Pairs], *, bound: float = SMALLEST_EFFECT
) -> pd.DataFrame:
    """`specification_curve` of what `pairs_of` found."""
    rows: list[dict[str, object]] = []
    for reading in readings(judged):
        gains = reading.pairs.gains(reading.rule, reading.credit, "Accuracy")
        table = outcomes.under_bound(
            measures.adjusted(gains, with_power=False), bound
        )
        rows += [reading.named() | row for row in _found(table)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _lean(frame: pd.DataFrame) -> pd.DataFrame:
    """What `measures` asks of a frame, with names as categories: each is looked up dozens of times."""
    names = [
        "benchmark", "detector", "detector_title", "setting", "case_id", "instance_id", "human", "label_stratum",
    ]  # fmt: skip
    others = [
        name for name in (*measures.OUTCOME, "label_credit") if name in frame
    ]
    lean = frame[list(dict.fromkeys([*names, *others]))]
    return lean.astype(dict.fromkeys(names, "category"))


class Reading(NamedTuple):
    """One way of reading the answers: how runs become a prediction, what a diagnosis is worth, and who judged it."""

    rule: measures.VoteRule
    credit: measures.Credit
    annotator: str
    pairs: measures.Pairs

    def named(self) -> dict[str, object]:
        """The reading as the curve's columns name it."""
        is_detection = self.credit is measures.Credit.DETECTION
        return {
            "rule": str(self.rule),
            "credit": str(self.credit),
            "judged_by": NOBODY if is_detection else self.annotator,
        }


def readings(judged: Mapping[str, measures.Pairs]) -> Iterator[Reading]:
    """Every reading that has outcomes; detection alone once, because it needs no label."""
    first = next(iter(judged), None)
    for rule, (annotator, pairs), credit in product(
        measures.VoteRule, judged.items(), measures.Credit
    ):
        is_detection = credit is measures.Credit.DETECTION
        # Detection needs no label, so it is one reading under every judge.
        has_outcomes = annotator == first
        if not is_detection:
            has_outcomes = bool(pairs.rows["human"].notna().any())
        if has_outcomes:
            yield Reading(rule, credit, annotator, pairs)


def _found(gains: pd.DataFrame) -> Iterator[dict[str, object]]:
    for gain in gains.to_dict("records"):
        same = {name: gain[name] for name in COLUMNS if name in gain}
        tests = {Test.BY_CASE: gain["p_by_case_holm"]}
        # McNemar needs a yes or no per instance, which shares do not give.
        if gain["test"] == measures.PairedTest.MCNEMAR:
            tests = {Test.MCNEMAR: gain["p_holm"]} | tests
        for test, p in tests.items():
            if not np.isnan(p):
                conclusion = outcome_text(
                    outcome(
                        gain["difference"], [p], p_smaller=gain["p_smaller"]
                    ),
                    gain["bound"],
                )
                yield same | {
                    "test": str(test),
                    "p_value": p,
                    "conclusion": conclusion,
                }


class Option(NamedTuple):
    """One option of a choice: how many of its `n` tests have the outcome."""

    name: str
    n_found: int
    n: int

    @property
    def share(self) -> float:
        """The share of the option's tests that have the outcome, 0 to 1."""
        return self.n_found / self.n


class Decisive(NamedTuple):
    """A choice (a column of CHOICES) with the options whose tests have an outcome most and least often."""

    choice: str
    outcome: Outcome
    most: Option
    least: Option

    @property
    def spread(self) -> float:
        """How far the two options lie apart, as a difference of shares."""
        return self.most.share - self.least.share


def decisive(curve: pd.DataFrame) -> Decisive | None:
    """The choice that gains, or else losses, depend on most; None if all options have both equally often."""
    found = [
        _of_choice(curve, choice, name)
        for name in (Outcome.GAIN, Outcome.LOSS)
        for choice in CHOICES
    ]
    first = max(found, key=lambda one: one.spread)
    return first if first.spread > 0 else None


def _of_choice(
    curve: pd.DataFrame,
    choice: str,
    name: Outcome,
) -> Decisive:
    is_found = curve["conclusion"] == name
    groups = is_found.groupby(curve[choice], sort=False)
    options = [
        Option(str(option), int(of.sum()), len(of)) for option, of in groups
    ]
    by_share = sorted(options, key=lambda option: option.share)
    return Decisive(
        choice,
        name,
        by_share[-1],
        by_share[0],
    )


READING = ["rule", "credit", "judged_by"]
JOINT_COLUMNS = [
    "detector", "detector_title", *READING, "n", "n_cases", "difference", "low", "high", "joint_low", "joint_high",
]  # fmt: skip


class JointCurve(NamedTuple):
    """The curve of all detectors and readings.

    median: difference over the rows of `table`, a share; p_value: that both inputs are alike for every detector and
    reading (`curve_p`). table: a row per detector and reading, JOINT_COLUMNS; joint_low and joint_high hold for all
    rows together with 95%. n_cases: of all rows. Readings in which labels of a sample stand for others have no tests
    and are not in it.
    """

    median: float
    p_value: float
    n_cases: int
    table: pd.DataFrame

    def largest(self) -> dict[str, Any] | None:
        """The row with the largest gain; None without a gain."""
        if self.table.empty or self.table["difference"].max() <= 0:
            return None
        return max(as_rows(self.table), key=lambda row: row["difference"])


def joint_curve(
    curve: pd.DataFrame, judged: Mapping[str, Pairs]
) -> JointCurve | None:
    """The joint inference over the rows of `specification_curve.curve_of`; None for an empty curve.

    judged: what the curve was made of (`specification_curve.pairs_of`).
    """
    if curve.empty:
        return None
    # A row per test: the tests of one reading have one difference.
    table = curve.drop_duplicates(["detector", *READING])
    shares_of = {
        (shown["rule"], shown["credit"], shown["judged_by"], detector): shares
        for reading in readings(judged)
        for shown in [reading.named()]
        for detector, shares in reading.pairs.case_shares(
            reading.rule, reading.credit
        ).items()
    }
    named = zip(*(table[name] for name in (*READING, "detector")), strict=True)
    # A case without an answer in a reading does not move it.
    shares = pd.concat([shares_of[one] for one in named], axis=1).fillna(0.0)
    moved = shares.to_numpy(dtype=float)
    quantile = joint_quantile(moved, seed=SEED)
    joint = [
        joint_interval(
            Interval(row["low"], row["high"]),
            row["difference"],
            row["n_cases"],
            quantile,
        )
        for row in as_rows(table)
    ]
    table = table.assign(
        joint_low=[one.low for one in joint],
        joint_high=[one.high for one in joint],
    )
    return JointCurve(
        median=float(np.median(table["difference"])),
        p_value=curve_p(moved, seed=SEED),
        n_cases=len(shares),
        table=table[JOINT_COLUMNS].reset_index(drop=True),
    )
