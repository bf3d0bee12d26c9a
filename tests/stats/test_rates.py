"""Confusion counts and rates, compared with scikit-learn and worked examples."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    precision_score,
    recall_score,
)

from crane_core.stats.rates import (
    RATES,
    Confusion,
    confusion,
    confusion_parts,
    diagnosis_credit,
    f1,
    precision,
    recall,
    total,
)

ANSWERS = st.lists(
    st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60
)
ORACLES: dict[str, Any] = {
    "Precision": precision_score,
    "Recall": recall_score,
    "F1": f1_score,
    "Accuracy": accuracy_score,
}


@given(ANSWERS, st.sampled_from(sorted(RATES)))
def test_rates_agree_with_scikit_learn(
    pairs: list[tuple[bool, bool]], name: str
) -> None:
    truth, detected = np.array(pairs).T
    options = {} if name == "Accuracy" else {"zero_division": np.nan}
    expected = ORACLES[name](truth, detected, **options)
    assert RATES[name](confusion(truth, detected)).value == pytest.approx(
        expected, nan_ok=True
    )


@given(ANSWERS, st.integers(0, 10**6))
def test_counts_and_weighted_counts_agree_with_scikit_learn(
    pairs: list[tuple[bool, bool]], seed: int
) -> None:
    truth, detected = np.array(pairs).T
    weight = np.random.default_rng(seed).random(len(truth))
    found = confusion(truth, detected, weight=weight)
    (tn, fp), (fn, tp) = confusion_matrix(
        truth, detected, labels=[False, True], sample_weight=weight
    )
    assert found[:4] == pytest.approx((tp, fp, tn, fn))
    assert sum(found) == pytest.approx(weight.sum())


def test_end_to_end_counts_only_correct_diagnoses_and_half_credit_half_of_partial_ones() -> (
    None
):
    truth = [True, True, True, True, False, False]
    detected = [True, True, True, False, True, False]
    outcomes = [
        "correct",
        "partial",
        "wrong",
        "misdetected",
        "misdetected",
        "correct",
    ]
    strict = confusion(truth, detected, credit=diagnosis_credit(outcomes))
    half = confusion(
        truth, detected, credit=diagnosis_credit(outcomes, partial=0.5)
    )
    assert strict == Confusion(tp=1, fp=1, tn=1, fn=3, left_out=0)
    assert half == Confusion(tp=1.5, fp=1, tn=1, fn=2.5, left_out=0)
    assert confusion(truth, detected) == Confusion(
        tp=3, fp=1, tn=1, fn=1, left_out=0
    )


def test_mean_of_runs_splits_an_instance_between_two_counts() -> None:
    assert confusion([True, False], [0.6, 0.2]) == pytest.approx(
        (0.6, 0.2, 0.8, 0.4, 0)
    )


def test_unanswered_and_unjudged_instances_are_left_out_and_counted() -> None:
    truth = [True, True, True, False]
    detected = [math.nan, 1, 0, 1]
    credit = diagnosis_credit([None, "unverifiable", None, None])
    found = confusion(truth, detected, credit=credit)
    assert found == Confusion(tp=0, fp=1, tn=0, fn=1, left_out=2)


def test_rates_without_anything_to_count_are_undefined_and_f1_without_a_hit_is_zero() -> (
    None
):
    assert math.isnan(precision(confusion([True], [False])).value)
    assert math.isnan(recall(confusion([False], [True])).value)
    assert f1(confusion([True], [False])).value == 0
    assert all(
        math.isnan(rate(confusion([], [])).value) for rate in RATES.values()
    )


@given(ANSWERS)
def test_a_rate_is_the_same_before_and_after_adding_up(
    pairs: list[tuple[bool, bool]],
) -> None:
    truth, detected = np.array(pairs).T
    parts = confusion_parts(truth, detected)
    for rate in RATES.values():
        assert rate(parts).value == pytest.approx(
            rate(total(parts)).value, nan_ok=True
        )


def test_unequal_lengths_and_impossible_shares_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        confusion([True, False], [True])
    with pytest.raises(ValueError, match="between 0 and 1"):
        confusion([True], [1.5])
