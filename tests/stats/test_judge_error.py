"""A judge's errors taken out of a difference: identities, coverage by simulation, and what is left undefined."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import ndtri

from crane_core.stats.intervals import difference_of_cases
from crane_core.stats.judge_error import (
    CorrectedDifference,
    DoubleLabels,
    JudgedRate,
    corrected_difference,
)


class Condition(NamedTuple):
    """A diagnosed crash per case: whether a person and the judge call it correct; and a fixed instance."""

    person: np.ndarray
    judge: np.ndarray
    settled: np.ndarray

    def rate(self) -> JudgedRate:
        n = len(self.judge)
        return JudgedRate(self.settled, self.judge, np.ones(n), np.full(n, 2))


def study(
    rng: np.random.Generator,
    n: int,
    *,
    sensitivity: float = 0.8,
    specificity: float = 0.85,
) -> tuple[Condition, Condition]:
    """40 and 60% correct diagnoses of the same cases, so that the true difference is 10 points of both instances."""
    of_case = rng.normal(size=n)
    found = []
    for share in (0.4, 0.6):
        hidden = 0.7 * of_case + 0.714 * rng.normal(size=n)
        person = hidden < ndtri(share)
        is_kept = rng.random(n) < np.where(person, sensitivity, specificity)
        settled = rng.random(n) < 0.7
        found.append(
            Condition(person, np.where(is_kept, person, ~person), settled)
        )
    return found[0], found[1]


def corrected(
    base: Condition, other: Condition, is_double: np.ndarray
) -> CorrectedDifference:
    both = (base, other)
    double = DoubleLabels(
        sum((one.person & one.judge & is_double).astype(int) for one in both),
        sum((one.person & is_double).astype(int) for one in both),
        sum((~one.person & ~one.judge & is_double).astype(int) for one in both),
        sum((~one.person & is_double).astype(int) for one in both),
    )
    return corrected_difference(base.rate(), other.rate(), double)


def test_a_judge_without_errors_leaves_the_difference_as_it_is() -> None:
    base, other = study(
        np.random.default_rng(1), 60, sensitivity=1.0, specificity=1.0
    )
    found = corrected(base, other, np.full(60, True))
    plain = difference_of_cases(
        base.settled * 1 + base.judge,
        other.settled * 1 + other.judge,
        np.full(60, 2),
    )
    assert (found.sensitivity, found.specificity) == (1.0, 1.0)
    assert found.value == pytest.approx(plain.value)
    # The two intervals place their imaginary case a little differently.
    assert (found.low, found.high) == pytest.approx(
        (plain.low, plain.high), abs=0.01
    )


def test_labelled_twice_both_inputs_have_the_count_of_the_person() -> None:
    """What the judge counts, corrected by its own errors, is what the person counts (Rogan and Gladen 1978)."""
    base, other = study(np.random.default_rng(2), 80)
    found = corrected(base, other, np.full(80, True))
    better = found.sensitivity + found.specificity - 1
    counted = [
        (one.judge.sum() - (1 - found.specificity) * 80) / better
        for one in (base, other)
    ]
    assert sum(counted) == pytest.approx(base.person.sum() + other.person.sum())
    settled = int(other.settled.sum()) - int(base.settled.sum())
    assert found.value == pytest.approx(
        (settled + counted[1] - counted[0]) / 160
    )


@pytest.mark.parametrize(("n", "share"), [(30, 1.0), (100, 0.4)])
def test_intervals_hold_the_true_difference(n: int, share: float) -> None:
    rng = np.random.default_rng(n)
    found = [
        corrected(*study(rng, n), rng.random(n) < share) for _ in range(300)
    ]
    known = [one for one in found if not np.isnan(one.value)]
    assert len(known) > 290
    n_held = sum(one.low <= 0.1 <= one.high for one in known)
    # 95% less three standard errors of 300 studies.
    assert n_held / len(known) >= 0.912
    # The judge alone would be off: it shrinks the difference to Se + Sp - 1 of it.
    assert np.mean([one.value for one in known]) == pytest.approx(0.1, abs=0.02)


def test_a_judge_no_better_than_chance_has_no_corrected_difference() -> None:
    base, other = study(
        np.random.default_rng(3), 60, sensitivity=0.2, specificity=0.2
    )
    found = corrected(base, other, np.full(60, True))
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.sensitivity + found.specificity < 1


def test_where_nothing_differs_the_interval_still_has_width() -> None:
    base, _ = study(
        np.random.default_rng(4), 40, sensitivity=1.0, specificity=1.0
    )
    found = corrected(base, base, np.full(40, True))
    assert found.value == 0.0
    assert found.low < 0 < found.high


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_cases_leave_it_undefined(n: int) -> None:
    base, other = study(np.random.default_rng(5), n)
    assert np.isnan(corrected(base, other, np.full(n, True)).value)
