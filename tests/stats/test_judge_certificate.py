"""A judge's rule and its bounds: worked by hand, by statsmodels' Wilson interval, and how often a bad judge passes."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from crane_core.stats.judge_certificate import (
    LabelRule,
    best_rule,
    called_correct,
    error_rates,
    self_preference,
    tuning_part,
)

GATE = 0.8


def test_a_label_that_is_missing_calls_nothing() -> None:
    votes = [[1, 1, 0], [0, 1, 0], [0, 0, 0], [1, np.nan, 1]]
    assert called_correct(votes, 2).tolist()[:3] == [1, 0, 0]
    assert np.isnan(called_correct(votes, 2)[3])


def test_bounds_are_one_sided_and_those_of_wilson_where_each_case_has_one_item() -> (
    None
):
    n = 4_000  # where Student's quantile is the normal one to four digits
    right = np.arange(n) < 2_000
    called = np.where(
        right, np.arange(n) % 10 < 9, np.arange(n) % 10 >= 8
    ).astype(float)
    found = error_rates(called, right, np.arange(n))
    assert (found.sensitivity.value, found.specificity.value) == (0.9, 0.8)
    for rate, k in (
        (found.sensitivity, 1_800),
        (found.specificity, 1_600),
    ):
        low, _ = proportion_confint(k, 2_000, alpha=0.10, method="wilson")
        assert rate.low == pytest.approx(low, abs=2e-4)
        assert rate.n == 2_000
    assert found.lowest == found.specificity.low


def test_alike_items_of_a_case_are_no_further_evidence() -> None:
    case = np.repeat(np.arange(20), 5)
    right = case < 10
    called = np.where(right, case > 0, case >= 19).astype(float)
    once = error_rates(called[::5], right[::5], case[::5])
    several = error_rates(called, right, case)
    assert several.sensitivity.low == pytest.approx(
        once.sensitivity.low, abs=0.02
    )


def test_the_best_rule_is_the_one_whose_worse_bound_is_highest() -> None:
    right = np.tile([1.0, 0.0], 20)
    case = np.arange(40)
    always = np.ones((40, 1))
    # Two of three labels follow the person, each third one says correct.
    votes = np.column_stack([right, right, np.ones(40)])
    assert best_rule([always, votes], right, case) == LabelRule(1, 2)
    assert best_rule([always], np.ones(40), case) is None, "nobody to reject"


def test_a_split_is_of_whole_cases_and_the_same_for_a_seed() -> None:
    case = np.repeat([f"c{n}" for n in range(21)], 3)
    part = tuning_part(case, seed=4)
    assert part.reshape(21, 3).sum(axis=1).tolist().count(3) == 10
    assert set(part.reshape(21, 3).sum(axis=1)) == {0, 3}
    assert (part == tuning_part(case, seed=4)).all()
    assert (part != tuning_part(case, seed=5)).any()


def test_self_preference_is_what_the_person_does_not_explain() -> None:
    # Ten cases with an own and another's answer: own answers are better, and one in five is favoured.
    case = np.repeat(np.arange(10), 2)
    is_own = np.tile([True, False], 10)
    right = np.where(is_own, case < 6, case < 3).astype(float)
    called = np.where(is_own, case < 8, case < 3).astype(float)
    found = self_preference(called, right, is_own, case)
    assert found.value == pytest.approx(0.2)
    assert found.low <= 0.2 <= found.high and found.low < found.high
    alone = self_preference(called[is_own], right[is_own], True, case[is_own])
    assert np.isnan(alone.value)


def bounds(
    rng: np.random.Generator, n_variants: int = 8
) -> tuple[float, float]:
    """The best of some judges, each exactly at the gate: its bound on the cases that chose it, and on the others."""
    case = np.repeat(np.arange(80), 2)
    right = (rng.random(160) < 0.5).astype(float)
    variants = [
        np.where(rng.random(160) < GATE, right, 1 - right)[:, np.newaxis]
        for _ in range(n_variants)
    ]
    part = tuning_part(case, seed=int(rng.integers(1_000_000)))
    rule = best_rule([v[part] for v in variants], right[part], case[part])
    assert rule is not None
    called = called_correct(variants[rule.variant], rule.needed)
    on_chosen, on_others = (
        error_rates(called[rows], right[rows], case[rows]).lowest
        for rows in (part, ~part)
    )
    return on_chosen, on_others


def test_a_judge_at_the_gate_passes_in_at_most_one_of_twenty() -> None:
    rng = np.random.default_rng(11)
    found = np.array([bounds(rng) for _ in range(150)])
    assert (found[:, 1] >= GATE).mean() <= 0.05
    flattered = found[:, 0] - found[:, 1]
    assert flattered.mean() > 0.02, "the cases that chose a rule flatter it"
