"""The stop rule: hand-worked margins, Cochran's formulas, and coverage where labelling stops as soon as it may."""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

from crane_core.stats.stopping import MIN_CLUSTERS, reached_margin

SIZES = (90, 99, 79, 88, 71, 74)
"""The strata of the study's population (paper, table 1)."""
WANTED = 0.06
FIRST, STEP = 30, 10
N_RUNS = 1_000


def test_the_margin_of_one_stratum_by_hand() -> None:
    found = reached_margin([1] * 30 + [0] * 10, [0] * 40, [100])
    # 40 labels of 100 are worth 40 / (1 - 0.4) of an infinite population.
    n, z = 40 / 0.6, student.ppf(0.975, 39)
    reach = z * sqrt(0.75 * 0.25 / n + z**2 / (4 * n**2))
    low = (0.75 + z**2 / (2 * n) - reach) / (1 + z**2 / n)
    assert found.share == 0.75
    assert found.margin == pytest.approx(0.75 - low)
    assert found.deff == pytest.approx(1)


def test_of_a_large_population_the_interval_is_wilson_s() -> None:
    found = reached_margin([1] * 3_000 + [0] * 1_000, [0] * 4_000, [10**9])
    wanted = proportion_confint(3_000, 4_000, method="wilson")
    assert (found.low, found.high) == pytest.approx(wanted, rel=1e-4)


def test_strata_have_cochran_s_variance() -> None:
    # The large stratum has the fewer labels, so these are worth less than a simple random sample.
    values = [1] * 10 + [0] * 10 + [1] * 5 + [0] * 5
    found = reached_margin(values, [0] * 20 + [1] * 10, [50, 150])
    variance = 0.25**2 * 0.6 * 0.25 / 20 + 0.75**2 * (1 - 10 / 150) * 0.25 / 10
    assert found.share == pytest.approx(0.5)
    n_eff = found.share * (1 - found.share) / variance
    assert found.deff == pytest.approx(30 / (1 - 30 / 200) / n_eff)


def test_the_whole_population_has_no_margin_and_an_empty_stratum_none_yet() -> (
    None
):
    assert reached_margin([1, 0, 1], [0, 0, 1], [2, 1]).margin == 0
    assert isnan(reached_margin([1, 0], [0, 0], [2, 1]).margin)
    assert isnan(reached_margin([], [], [2]).margin)
    with pytest.raises(ValueError, match="more labels than members"):
        reached_margin([1, 0], [0, 0], [1])


def test_one_cluster_has_no_margin_that_could_stop() -> None:
    found = reached_margin([1, 0, 1], [0, 0, 0], [30], cluster=["a"] * 3)
    assert (found.low, found.high) == (0, 1)


@given(n=st.integers(2, 400), ones=st.integers(0, 400), wanted=st.floats(0.005, 0.5))  # fmt: skip
def test_the_labels_needed_reach_the_margin_and_one_fewer_does_not(
    n: int, ones: int, wanted: float
) -> None:
    values = [1] * min(ones, n) + [0] * max(0, n - ones)
    found = reached_margin(values, [0] * n, [500])
    needed = found.needed(wanted)
    assert found.at(needed) <= wanted + 1e-6
    assert needed == 1 or found.at(needed - 1) > wanted - 1e-6
    assert found.at(n) == pytest.approx(found.margin)


def stops(
    chance: np.random.Generator, share: float, *, by_case: bool
) -> tuple[bool, int]:
    """One campaign that stops at the first look with the margin: whether it holds the truth, and how many labels."""
    strata = np.repeat(np.arange(len(SIZES)), SIZES)
    n = len(strata)
    # 111 cases, whose verdicts are alike: half of them have the label of their case.
    case = chance.permutation(np.arange(n) % 111)
    of_case = chance.random(111) < share
    own = chance.random(n) < share
    labels = np.where(chance.random(n) < 0.5, of_case[case], own)
    order = chance.permutation(n)
    if by_case:
        place_of = chance.permutation(111)
        order = order[np.argsort(place_of[case[order]], kind="stable")]
    found = reached_margin(labels[order], strata[order], SIZES)
    for n_labelled in range(FIRST, n + STEP, STEP):
        drawn = order[:n_labelled]
        if len(set(case[drawn])) < MIN_CLUSTERS:
            continue
        found = reached_margin(
            labels[drawn],
            strata[drawn],
            SIZES,
            cluster=case[drawn] if by_case else None,
        )
        if found.margin <= WANTED:
            break
    # Where all is labelled, the share is the truth but for the last digit.
    truth = labels.mean()
    return found.low - 1e-9 <= truth <= found.high + 1e-9, found.n


@pytest.mark.slow
@pytest.mark.parametrize("by_case", [False, True])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.92])
def test_the_interval_covers_where_labelling_stops_at_the_margin(
    share: float, *, by_case: bool
) -> None:
    chance = np.random.default_rng(20_261_127)
    runs = [stops(chance, share, by_case=by_case) for _ in range(N_RUNS)]
    covered = np.mean([holds for holds, _ in runs])
    n_median = np.median([n for _, n in runs])
    assert 0.93 <= covered <= 0.98
    assert n_median < sum(SIZES)
