"""The design effect against hand-worked examples, scipy's analysis of variance, and simulated clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway

from crane_core.stats.design_effect import (
    correlation_of_cases,
    design_effect,
    intraclass_correlation,
    margin,
)
from crane_core.stats.sample_size import required_sample


def test_intraclass_correlation_worked_by_hand() -> None:
    # Totals 2, 0, 1: MSB = (2.5 - 1.5) / 2 = 1/2, MSW = (3 - 2.5) / 3 = 1/6, m0 = 2, so rho = (1/3) / (2/3).
    found = intraclass_correlation(
        [1, 1, 0, 0, 1, 0], ["a", "a", "b", "b", "c", "c"], seed=1
    )
    assert found.value == pytest.approx(0.5)
    assert (found.n, found.n_clusters) == (6, 3)


def test_unequal_clusters_agree_with_scipys_f() -> None:
    chance = np.random.default_rng(4)
    groups = [chance.integers(0, 2, size) for size in (2, 9, 1, 4, 6, 6, 3)]
    f = f_oneway(*groups).statistic
    n, k = sum(map(len, groups)), len(groups)
    m0 = (n - sum(len(group) ** 2 for group in groups) / n) / (k - 1)
    cluster = np.repeat(np.arange(k), [len(group) for group in groups])
    found = intraclass_correlation(np.concatenate(groups), cluster, seed=1)
    assert found.value == pytest.approx((f - 1) / (f + m0 - 1))


@pytest.mark.parametrize(("rho", "p"), [(0.2, 0.5), (0.45, 0.8), (0.7, 0.8)])
def test_simulated_clusters_give_back_their_rho(rho: float, p: float) -> None:
    """Beta-binomial clusters: shares with mean p and intraclass correlation rho."""
    values, cluster = simulated(
        np.random.default_rng(8), n_clusters=20_000, rho=rho, p=p
    )
    found = intraclass_correlation(values, cluster, seed=1, n_resamples=400)
    assert found.value == pytest.approx(rho, abs=0.02)
    assert found.low < rho < found.high


def test_the_mean_of_simulated_clusters_varies_as_the_design_effect_says() -> (
    None
):
    chance = np.random.default_rng(2)
    sizes = chance.integers(1, 7, 80)
    means = [
        simulated(chance, 80, rho=0.5, p=0.6, sizes=sizes)[0].mean()
        for _ in range(2_000)
    ]
    found = design_effect(sizes.tolist(), 0.5)
    assert np.var(means) / (0.6 * 0.4 / sizes.sum()) == pytest.approx(
        found.deff, rel=0.1
    )


def simulated(
    chance: np.random.Generator,
    n_clusters: int,
    *,
    rho: float,
    p: float,
    sizes: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    cluster = np.repeat(
        np.arange(n_clusters),
        chance.integers(1, 7, n_clusters) if sizes is None else sizes,
    )
    shares = chance.beta(
        p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho, n_clusters
    )
    return (chance.random(len(cluster)) < shares[cluster]).astype(
        float
    ), cluster


@pytest.mark.parametrize(
    ("values", "cluster"),
    [
        ([1, 0, 1], ["a"] * 3),
        ([1, 0, 1], ["a", "b", "c"]),
        ([1, 1, 1, 1], ["a", "a", "b", "b"]),
    ],
)
def test_without_clusters_or_variation_there_is_no_correlation(
    values: list[int], cluster: list[str]
) -> None:
    found = intraclass_correlation(values, cluster, seed=1, n_resamples=50)
    assert np.isnan(found.value)
    assert np.isnan(found.low)


def test_the_interval_has_its_level_over_cases() -> None:
    chance = np.random.default_rng(5)
    hits = 0
    for seed in range(200):
        values, cluster = simulated(chance, 90, rho=0.45, p=0.8)
        found = intraclass_correlation(
            values, cluster, seed=seed, n_resamples=500
        )
        hits += found.low <= 0.45 <= found.high
    assert 0.89 <= hits / 200 <= 0.98


def test_counts_of_alike_cases_give_what_the_values_give() -> None:
    values, cluster = simulated(
        np.random.default_rng(3), n_clusters=400, rho=0.3, p=0.7
    )
    sizes, right = np.bincount(cluster), np.bincount(cluster, values)
    different, n_cases = np.unique(
        np.column_stack([right, sizes]), axis=0, return_counts=True
    )
    from_values = intraclass_correlation(values, cluster, seed=1)
    shuffled = np.random.default_rng(9).permutation(len(different))
    from_counts = correlation_of_cases(
        *different[shuffled].T, n_cases[shuffled], seed=1
    )
    assert from_counts[3:] == from_values[3:] == (len(values), 400, 0)
    assert from_counts[:3] == pytest.approx(from_values[:3], rel=0, abs=1e-12)


def test_design_effect_worked_by_hand() -> None:
    # Sizes 1, 2, 3: m = 14/6, deff = 1 + 8/6 * 0.45 = 1.6, and six items weigh like 3.75.
    found = design_effect([1, 2, 3], 0.45)
    assert (found.n, found.n_clusters) == (6, 3)
    assert found.size == pytest.approx(14 / 6)
    assert found.deff == pytest.approx(1.6)
    assert found.n_effective == pytest.approx(3.75)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=30), st.floats(-1, 1))
def test_items_weigh_between_one_per_cluster_and_all(
    sizes: list[int], rho: float
) -> None:
    found = design_effect(sizes, rho)
    assert 1 - 1e-9 <= found.n_effective <= found.n + 1e-9
    if rho <= 0:
        assert found.n_effective == found.n


@pytest.mark.parametrize(
    ("sizes", "rho"),
    [([], 0.1), ([2, 0], 0.1), ([2], 1.1), ([2], float("nan"))],
)
def test_what_is_no_design_is_refused(sizes: list[int], rho: float) -> None:
    with pytest.raises(ValueError, match="cluster sizes"):
        design_effect(sizes, rho)


def test_margin_turns_equation_1_round() -> None:
    # Paper, 4.4.3: 218 of 501 hold within five points; one item fewer does not.
    assert required_sample(501) == 218
    assert margin(218, population=501) <= 0.05 < margin(217, population=501)
    assert margin(501, population=501) == 0
    assert margin(100) == pytest.approx(0.098)
    with pytest.raises(ValueError, match="at most the population"):
        margin(502, population=501)
