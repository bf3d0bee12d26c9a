"""Prediction-powered shares: by hand, how often they hold the truth, and what a good judge is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crane_core.stats.intervals import clustered_rate
from crane_core.stats.prediction_powered import PoweredShare, powered_share


def test_by_hand() -> None:
    """cov = 1/6, var of all six judge labels = 2/9, w = (1/6) / ((1 + 4/2) 2/9) = 1/4."""
    human, judge, alone = [1, 1, 0, 1], [1, 1, 0, 0], [1, 1]
    found = powered_share(human, judge, alone, list("abcd"), list("ef"))
    assert found.weight == pytest.approx(1 / 4)
    assert found.value == pytest.approx(0.25 * 1 + (0.75 + 0.75 + 0 + 1) / 4)
    assert (found.n, found.n_more, found.n_clusters) == (4, 2, 6)


def test_without_a_judge_it_is_the_share_of_the_labels() -> None:
    human = np.array([1.0, 0, 1, 1, 0, 1, 1, 0, 1, 1])
    cases = np.repeat(np.arange(5), 2)
    alone = powered_share(human, 1 - human, [], cases, [])
    known = clustered_rate(human, np.ones(10), cases)
    assert alone[:3] == pytest.approx(known[:3])
    assert alone.weight == 0
    assert math.isnan(powered_share([], [], [1, 0], [], ["a", "b"]).value)


def test_labels_that_all_agree_are_not_certainty() -> None:
    found = powered_share(
        np.ones(30), np.ones(30), np.ones(70), np.arange(30), np.arange(30, 100)
    )
    assert found.value == found.high == 1 and 0.8 < found.low < 0.95


def drawn(seed: int, accuracy: float) -> tuple[PoweredShare, PoweredShare]:
    """One sample of 60 of 400 items in 100 cases, 70% of them correct: with the judge, and by the person alone."""
    rng = np.random.default_rng(seed)
    cases = np.repeat(np.arange(100), 4)
    of_case = np.repeat(rng.random(100), 4)
    truth = (
        np.where(rng.random(400) < 0.3, of_case, rng.random(400)) < 0.7
    ).astype(float)
    judge = np.where(rng.random(400) < accuracy, truth, 1 - truth)
    judge = np.where(rng.random(400) < 0.1, 1.0, judge)  # lenient, too
    seen = np.zeros(400, dtype=bool)
    seen[rng.choice(400, 60, replace=False)] = True
    powered = powered_share(
        truth[seen], judge[seen], judge[~seen], cases[seen], cases[~seen]
    )
    return powered, powered_share(truth[seen], judge[seen], [], cases[seen], [])


@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.95])
def test_it_holds_the_truth_however_good_the_judge_is(accuracy: float) -> None:
    held = [
        powered.low <= 0.7 <= powered.high
        for powered, _ in (drawn(seed, accuracy) for seed in range(400))
    ]
    assert 0.92 <= np.mean(held) <= 0.99


def test_it_holds_the_truth_of_credits_between_0_and_1_too() -> None:
    """Ten thousand items' mean credit is 0.5 * 1 + 0.3 * 0.5 = 0.65; the judge is right in 70%."""
    held = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        truth, guess = (
            rng.choice([1.0, 0.5, 0.0], 300, p=[0.5, 0.3, 0.2])
            for _ in range(2)
        )
        judge = np.where(rng.random(300) < 0.7, truth, guess)
        found = powered_share(
            truth[:60],
            judge[:60],
            judge[60:],
            np.arange(60),
            np.arange(60, 300),
        )
        held.append(found.low <= 0.65 <= found.high)
    assert 0.93 <= np.mean(held) <= 1.0


def test_a_good_judge_narrows_the_interval_and_a_bad_one_does_not_widen_it_much() -> (
    None
):
    def ratio(accuracy: float) -> float:
        pairs = [drawn(seed, accuracy) for seed in range(60)]
        return float(
            np.median(
                [
                    (one.high - one.low) / (other.high - other.low)
                    for one, other in pairs
                ]
            )
        )

    assert ratio(0.95) < 0.75
    assert ratio(0.5) < 1.05
