"""Power of the exact McNemar test against plain enumeration and against statsmodels' p-values, and its inverse."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from statsmodels.stats.contingency_tables import mcnemar

from crane_core.stats.power import (
    ALPHA,
    POWER,
    mcnemar_power,
    minimum_detectable_difference,
    pairs_needed,
)


def enumerated(n: int, share: float, difference: float, alpha: float) -> float:
    """Every number of differing pairs, and every way in which they may turn."""
    turned = (share + difference) / (2 * share)
    return sum(
        binom.pmf(differing, n, share) * binom.pmf(k, differing, turned)
        for differing in range(1, n + 1)
        for k in range(differing + 1)
        if binomtest(k, differing, 0.5).pvalue <= alpha
    )


@pytest.mark.parametrize("alpha", [ALPHA, ALPHA / 3])
@pytest.mark.parametrize(
    ("n", "share", "difference"),
    [(30, 0.3, 0.2), (40, 0.2, 0.15), (12, 0.5, 0.4), (25, 0.9, 0.0)],
)
def test_it_is_what_enumeration_gives(
    n: int, share: float, difference: float, alpha: float
) -> None:
    assert mcnemar_power(n, share, difference, alpha=alpha) == pytest.approx(
        enumerated(n, share, difference, alpha), abs=1e-9
    )


@pytest.mark.parametrize(
    ("alpha", "n", "share"),
    [(ALPHA, 222, 0.2), (ALPHA / 3, 222, 0.22), (ALPHA / 3, 111, 0.3)],
)
def test_the_detectable_difference_is_found_as_often_as_is_said(
    alpha: float, n: int, share: float
) -> None:
    """By statsmodels' exact p-values of drawn tables."""
    smallest = minimum_detectable_difference(n, share, alpha=alpha)
    assert mcnemar_power(n, share, smallest, alpha=alpha) == pytest.approx(
        POWER, abs=1e-6
    )
    cells = np.random.default_rng(2).multinomial(
        n, [(share - smallest) / 2, (share + smallest) / 2, 1 - share], 600
    )
    found = [
        mcnemar([[0, only_a], [only_b, 0]], exact=True).pvalue <= alpha
        for only_a, only_b, _ in cells
    ]
    assert np.mean(found) == pytest.approx(POWER, abs=0.05)


def test_a_stricter_step_and_fewer_pairs_ask_for_more() -> None:
    assert minimum_detectable_difference(
        222, 0.2
    ) < minimum_detectable_difference(222, 0.2, alpha=ALPHA / 3)
    assert minimum_detectable_difference(
        222, 0.2
    ) < minimum_detectable_difference(111, 0.2)


@pytest.mark.parametrize(("n", "share"), [(5, 0.2), (0, 0.2), (100, 0.0)])
def test_too_few_pairs_reveal_nothing(n: int, share: float) -> None:
    assert math.isnan(minimum_detectable_difference(n, share))


@pytest.mark.parametrize(
    ("share", "difference"), [(0.2, 0.05), (0.3, 0.1), (0.2, 0.2), (0.5, 0.05)]
)
def test_pairs_needed_are_near_connors_approximation(
    share: float, difference: float
) -> None:
    """Connor 1987, which promises a little too much: the exact test needs up to a tenth more."""
    z_alpha, z_power = NormalDist().inv_cdf(0.975), NormalDist().inv_cdf(0.8)
    spread = z_alpha * math.sqrt(share) + z_power * math.sqrt(
        share - difference**2
    )
    approximated = (spread / difference) ** 2
    found = pairs_needed(share, difference)
    assert approximated < found < 1.1 * approximated
    assert mcnemar_power(int(found), share, difference) >= 0.8
    assert mcnemar_power(int(0.9 * found), share, difference) < 0.8


@pytest.mark.parametrize(
    ("share", "difference"),
    [(0.0, 0.05), (0.04, 0.05), (0.2, 0.0), (0.5, 1e-4)],
)
def test_no_number_of_pairs_is_enough(share: float, difference: float) -> None:
    assert math.isnan(pairs_needed(share, difference))
