"""Pairs of runs that agree, against counting them and against Fleiss's observed agreement."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from crane_core.stats.run_agreement import run_pairs

COUNTS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20
)


@given(COUNTS)
def test_pairs_are_those_that_one_can_count(counts: list[tuple[int, int]]) -> None:
    found = run_pairs([c for c, _ in counts], [s for _, s in counts])
    runs = [[True] * c + [False] * s for c, s in counts]
    pairs = [list(combinations(of, 2)) for of in runs]
    assert found.pairs.tolist() == [len(of) for of in pairs]
    assert found.agreeing.tolist() == [sum(a == b for a, b in of) for of in pairs]


def test_the_rate_is_the_observed_agreement_of_fleiss() -> None:
    rng = np.random.default_rng(7)
    said = rng.integers(0, 2, size=(40, 5))
    found = run_pairs(said.sum(axis=1), 5 - said.sum(axis=1))
    observed = found.agreeing.sum() / found.pairs.sum()
    table = aggregate_raters(said)[0]
    shares = table.sum(axis=0) / table.sum()
    by_chance = float((shares**2).sum())
    assert (observed - by_chance) / (1 - by_chance) == pytest.approx(
        fleiss_kappa(table)
    )


def test_one_run_has_no_pair() -> None:
    assert run_pairs([1, 0], [0, 1]).pairs.tolist() == [0, 0]


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        run_pairs([-1], [2])
    with pytest.raises(ValueError, match="shape"):
        run_pairs([1, 2], [2])
