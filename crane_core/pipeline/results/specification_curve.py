"""Does the conclusion depend on the choices? The effect of an input under every defensible reading of the answers.

A specification curve (Simonsohn, Simmons and Nelson 2020): vote rule x credit x who judged x test. Takes slices of the
verdict frame, one per annotator; the statistics are those of `measures.gain_table`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results.measures import (
    OUTCOME,
    WITH_STATE,
    Credit,
    Inputs,
    PairedTest,
    Pairs,
    VoteRule,
    adjusted,
)
from crane_core.stats.outcome import Outcome, outcome

NOBODY = "nobody"
"""The judge where only detection counts: no diagnosis is used."""
COLUMNS = [
    "detector", "detector_title", "rule", "credit", "judged_by", "test", "n", "n_cases", "difference", "low", "high",
    "p_value", "conclusion",
]  # fmt: skip
CHOICES = ("rule", "credit", "judged_by", "test")


class Test(StrEnum):
    """Which p-value decides; both are adjusted by Holm over the detectors."""

    MCNEMAR = "exact McNemar"
    BY_CASE = "sign flips by case"


def specification_curve(
    judged: Mapping[str, pd.DataFrame], inputs: Inputs = WITH_STATE
) -> pd.DataFrame:
    """One row per detector, vote rule, credit, annotator and test, columns COLUMNS.

    judged: the rows of one benchmark and experiment as each annotator judged them (any name, if none did and
    `human` is empty). difference: accuracy with the other input minus with the base, low and high its 95% interval by
    case; p_value after Holm. A test that a reading does not have (McNemar for shares; any, where labels of
    a sample stand for others) has no row.
    """
    pairs = {
        name: Pairs.of(_lean(frame), ["detector"], inputs)
        for name, frame in judged.items()
    }
    return pd.DataFrame(
        [row for reading in _readings(pairs) for row in reading], columns=COLUMNS
    )


def _lean(frame: pd.DataFrame) -> pd.DataFrame:
    """What `measures` asks of a frame, with names as categories: each is looked up dozens of times."""
    names = [
        "benchmark",
        "detector",
        "detector_title",
        "setting",
        "case_id",
        "instance_id",
        "human",
        "label_stratum",
    ]
    asked = [
        *names,
        *(
            column
            for column in (*OUTCOME, "label_credit")
            if column in frame and column not in names
        ),
    ]
    return frame[asked].astype(dict.fromkeys(names, "category"))


def _readings(judged: Mapping[str, Pairs]) -> Iterator[list[dict[str, object]]]:
    for rule in VoteRule:
        for place, (annotator, pairs) in enumerate(judged.items()):
            for credit in Credit:
                # Detection uses no diagnosis, so no judge changes it: it is read once, with the first
                # annotator.
                is_detection = credit is Credit.DETECTION
                if (
                    is_detection
                    and place
                    or not is_detection
                    and pairs.rows["human"].isna().all()
                ):
                    continue
                who = {
                    "rule": str(rule),
                    "credit": str(credit),
                    "judged_by": NOBODY if is_detection else annotator,
                }
                gains = adjusted(
                    pairs.gains(rule, credit, "Accuracy"), with_power=False
                )
                yield [who | row for row in _found(gains)]


def _found(gains: pd.DataFrame) -> Iterator[dict[str, object]]:
    for gain in gains.to_dict("records"):
        for test, p in (
            (Test.MCNEMAR, gain["p_holm"]),
            (Test.BY_CASE, gain["p_by_case_holm"]),
        ):
            # McNemar needs a yes or no per instance, which shares do not give.
            is_defined = test is Test.BY_CASE or gain["test"] == PairedTest.MCNEMAR
            if is_defined and not np.isnan(p):
                same = {name: gain[name] for name in COLUMNS if name in gain}
                yield same | {
                    "test": str(test),
                    "p_value": p,
                    "conclusion": str(outcome(gain["difference"], [p])),
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


def _of_choice(curve: pd.DataFrame, choice: str, name: Outcome) -> Decisive:
    is_found = curve["conclusion"] == name
    groups = is_found.groupby(curve[choice], sort=False)
    options = [Option(str(option), int(of.sum()), len(of)) for option, of in groups]
    by_share = sorted(options, key=lambda option: option.share)
    return Decisive(choice, name, by_share[-1], by_share[0])
