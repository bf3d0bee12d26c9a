"""Clusters drawn together against clusters drawn one by one: the same distribution, whatever their order."""

import numpy as np
import pytest

from crane_core.stats.resampling import resampled_sums


def test_alike_clusters_drawn_together_vary_as_when_drawn_one_by_one() -> None:
    chance = np.random.default_rng(5)
    sums = chance.integers(0, 3, size=(300, 2)).astype(float)
    together = resampled_sums(sums, np.ones(300), seed=1, n_resamples=20_000)
    one_by_one = chance.integers(300, size=(20_000, 300))
    apart = sums[one_by_one].sum(axis=1)
    assert together.mean(axis=0) == pytest.approx(apart.mean(axis=0), rel=0.002)
    assert np.cov(together.T) == pytest.approx(np.cov(apart.T), rel=0.04, abs=3)
    for share in (0.025, 0.5, 0.975):
        assert np.quantile(together, share, axis=0) == pytest.approx(
            np.quantile(apart, share, axis=0), abs=1.5
        )


def test_order_and_grouping_do_not_matter() -> None:
    rows = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [3.0, 0.0]])
    whole = resampled_sums(rows, [1, 1, 1, 1], seed=4, n_resamples=50)
    assert (
        resampled_sums(rows[[3, 0, 1]], [1, 2, 1], seed=4, n_resamples=50)
        == whole
    ).all()
    assert whole.shape == (50, 2)


def test_one_kind_of_cluster_never_varies_and_none_has_no_sum() -> None:
    assert (
        resampled_sums(np.array([[2.0, 1.0]]), [5], seed=1, n_resamples=9)
        == [10, 5]
    ).all()
    assert (
        resampled_sums(np.zeros((0, 2)), [], seed=1, n_resamples=3)
        == np.zeros((3, 2))
    ).all()
