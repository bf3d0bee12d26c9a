"""The mean with its bootstrap interval, against scipy and by hand."""

import numpy as np
import pytest
from scipy import stats

from crane_core.stats.mean import mean


def test_the_interval_is_that_of_scipy_at_any_seed() -> None:
    values = np.random.default_rng(7).lognormal(size=60)
    found = mean(values, seed=1)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, rng=np.random.default_rng(3)
    )
    assert found.value == pytest.approx(values.mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx(
        expected.confidence_interval, rel=0.05
    )
    assert found == mean(values, seed=1)


@pytest.mark.parametrize("values", [[], [2.0], [3.0, 3.0]])
def test_too_few_or_alike_have_no_interval(values: list[float]) -> None:
    found = mean(values, seed=1)
    assert found.n == len(values)
    assert np.isnan([found.low, found.high]).all()
    assert np.isnan(found.value) == (not values)
