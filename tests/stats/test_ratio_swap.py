"""The permutation test of a ratio of sums against all swaps written out, scipy's test, and the test of differences."""

from __future__ import annotations

from itertools import product
from time import process_time

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import permutation_test

from crane_core.stats import ratio_swap as module
from crane_core.stats.ratio_swap import ratio_swap
from crane_core.stats.sign_flip import sign_flip

Array = NDArray[np.float64]


def f1_parts(truth: Array, predicted: Array) -> tuple[Array, Array]:
    found = truth * predicted
    return 2 * found, 2 * found + (1 - truth) * predicted + truth * (
        1 - predicted
    )


def made(
    n_cases: int, seed: int, *, drift: float = 0.0
) -> tuple[Array, Array, Array, Array, NDArray[np.intp]]:
    """A crashing and a fixed instance of each case, predicted twice; the second time right more often by `drift`."""
    rng = np.random.default_rng(seed)
    truth = np.tile([1.0, 0.0], n_cases)
    right = rng.random((2, 2 * n_cases)) < np.array([[0.6], [0.6 + drift]])
    one, other = (np.where(told, truth, 1 - truth) for told in right)
    return (
        *f1_parts(truth, one),
        *f1_parts(truth, other),
        np.repeat(np.arange(n_cases), 2),
    )


def all_swaps(
    part_a: Array,
    whole_a: Array,
    part_b: Array,
    whole_b: Array,
    case: NDArray[np.intp],
) -> float:
    def difference(swapped: tuple[bool, ...]) -> float:
        is_swapped = np.array(swapped)[case]
        a, b = (
            np.where(is_swapped, two, one).sum()
            / np.where(is_swapped, w_two, w_one).sum()
            for one, two, w_one, w_two in (
                (part_a, part_b, whole_a, whole_b),
                (part_b, part_a, whole_b, whole_a),
            )
        )
        return abs(b - a)

    found = [
        difference(swapped)
        for swapped in product((False, True), repeat=int(case.max()) + 1)
    ]
    return float(np.mean(np.array(found) >= found[0] - 1e-9))


@pytest.mark.parametrize("seed", range(6))
def test_few_cases_are_counted_exactly(seed: int) -> None:
    data = made(9, seed, drift=0.3)
    assert ratio_swap(*data, seed=1) == pytest.approx(
        all_swaps(*data), abs=1e-12
    )


@pytest.mark.parametrize("seed", [3, 4])
def test_many_cases_agree_with_scipy(seed: int) -> None:
    part_a, whole_a, part_b, whole_b, case = made(60, seed, drift=0.12)
    sums = np.array(
        [
            np.bincount(case, column)
            for column in (part_a, whole_a, part_b, whole_b)
        ]
    )
    n = sums.shape[1]
    part, whole = np.concatenate(sums[[0, 2]]), np.concatenate(sums[[1, 3]])

    def statistic(a: Array, b: Array, axis: int) -> Array:
        first, second = a.astype(int), b.astype(int)
        rate_b = part[second].sum(axis=axis) / whole[second].sum(axis=axis)
        return np.abs(
            rate_b - part[first].sum(axis=axis) / whole[first].sum(axis=axis)
        )

    theirs = permutation_test(
        (np.arange(n), n + np.arange(n)),
        statistic,
        permutation_type="samples",
        alternative="greater",
        n_resamples=20_000,
        rng=seed,
    )
    ours = ratio_swap(part_a, whole_a, part_b, whole_b, case, seed=1)
    assert ours == pytest.approx(
        theirs.pvalue, abs=0.012
    )  # three standard errors of the draws of both


def test_drawing_gives_what_counting_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = made(30, 2, drift=0.15)
    exact = ratio_swap(*data, seed=1)
    monkeypatch.setattr(module, "MOST_COUNTED", 0)
    drawn = ratio_swap(*data, seed=1)
    assert drawn == pytest.approx(exact, abs=0.012)
    assert drawn == ratio_swap(*data, seed=1)


@pytest.mark.parametrize("seed", range(4))
def test_over_the_same_instances_it_is_the_sign_flip(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (rng.random((2, 24)) < np.array([[0.5], [0.7]])).astype(float)
    case, one = np.repeat(np.arange(12), 2), np.ones(24)
    assert ratio_swap(a, one, b, one, case, seed=1) == pytest.approx(
        sign_flip(b - a, case, seed=1), abs=1e-9
    )


def test_what_cannot_differ_is_never_significant() -> None:
    part_a, whole_a, part_b, whole_b, case = made(8, 1, drift=0.4)
    same = ratio_swap(part_a, whole_a, part_a, whole_a, case, seed=1)
    one_case = ratio_swap(
        part_a, whole_a, part_b, whole_b, np.zeros(16), seed=1
    )
    nothing = ratio_swap([], [], [], [], [], seed=1)
    assert (same, one_case) == (1.0, 1.0)
    assert np.isnan(nothing)


def test_an_undefined_rate_has_no_p_and_an_undefined_swap_supports_nothing() -> (
    None
):
    """Precision without a prediction is undefined."""
    assert np.isnan(ratio_swap([0, 0], [0, 0], [1, 1], [1, 1], [0, 1], seed=1))
    swaps = ratio_swap(
        [0, 1], [1, 1], [1, 0], [1, 0], [0, 1], seed=1
    )  # two of four leave a side without one
    assert swaps == 1.0


def test_it_holds_its_level() -> None:
    """Of studies in which the inputs are alike, 5% at most are found; 3 standard errors of 400."""
    found = [ratio_swap(*made(15, seed), seed=1) < 0.05 for seed in range(400)]
    assert np.mean(found) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_eleven_thousand_cases_take_no_time() -> None:
    data = made(11_000, 5, drift=0.01)
    began = process_time()
    assert 0 < ratio_swap(*data, seed=1) < 0.2
    assert process_time() - began < 2
