"""Ranks are claimed as far as tests reach: by hand, against the tests one by one, by definition on drawn tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from crane_core.stats.outcome import Outcome
from crane_core.stats.ranking import (
    RankRange,
    letter_groups,
    pair_tests,
    rank_ranges,
    shown_better,
)

NAN = float("nan")


def differing(n: int, *pairs: tuple[int, int]) -> np.ndarray:
    table = np.zeros((n, n), dtype=bool)
    for i, j in pairs:
        table[i, j] = table[j, i] = True
    return table


@pytest.mark.parametrize(
    ("pairs", "groups"),
    [
        ((), [(0, 1, 2)]),
        # Only the ends differ: the middle one is in both groups.
        (((0, 2),), [(0, 1), (1, 2)]),
        (((0, 1), (0, 2)), [(0,), (1, 2)]),
        (((0, 1), (0, 2), (1, 2)), [(0,), (1,), (2,)]),
    ],
)
def test_groups_of_three_by_hand(
    pairs: tuple[tuple[int, int], ...], groups: list[tuple[int, ...]]
) -> None:
    assert letter_groups(differing(3, *pairs)) == groups


def test_rank_ranges_by_hand() -> None:
    # The first is shown to be better than the last, and nothing else is shown.
    better = np.zeros((3, 3), dtype=bool)
    better[0, 2] = True
    assert rank_ranges(better) == [
        RankRange(1, 2),
        RankRange(1, 3),
        RankRange(2, 3),
    ]


def test_nothing_to_rank() -> None:
    assert letter_groups(np.zeros((0, 0))) == []
    assert rank_ranges(np.zeros((0, 0))) == []
    assert pair_tests(np.ones((1, 3)), [1, 2, 3], seed=1) == []


def test_every_pair_is_tested_on_what_both_have_and_adjusted_over_all() -> None:
    draw = np.random.default_rng(5)
    right = (
        draw.random((4, 60)) < np.array([0.95, 0.9, 0.6, 0.3])[:, None]
    ).astype(float)
    right[3, :5] = NAN
    found = pair_tests(right, np.arange(60), seed=1)
    raw = []
    for i, j in combinations(range(4), 2):
        common = ~np.isnan(right[i]) & ~np.isnan(right[j])
        gained = int(((right[i] == 0) & (right[j] == 1) & common).sum())
        lost = int(((right[i] == 1) & (right[j] == 0) & common).sum())
        raw.append(binomtest(gained, gained + lost).pvalue)
    adjusted = multipletests(raw, method="holm")[1]
    assert [one.p_mcnemar for one in found] == pytest.approx(adjusted)
    # With one instance a case both tests flip the same coins.
    assert [one.p_by_case for one in found] == pytest.approx(adjusted)
    assert [one.n for one in found] == [60, 60, 55, 60, 55, 55]
    better = shown_better(4, found)
    assert better[0, 3]
    assert better[2, 3]
    assert not better[0, 1]


def test_shares_are_tested_by_case_alone() -> None:
    (one,) = pair_tests(
        [[0.0] * 8, [0.5] * 8], [1, 1, 2, 2, 3, 3, 4, 4], seed=1
    )
    assert np.isnan(one.p_mcnemar)
    # Four cases that all differ alike: two of sixteen signs reach as far.
    assert one.p_by_case == pytest.approx(2 / 16)
    assert one.outcome is Outcome.NO_EVIDENCE


def test_rows_without_a_common_instance_are_not_compared() -> None:
    (one,) = pair_tests([[1.0, NAN], [NAN, 0.0]], [1, 2], seed=1)
    assert (one.n, one.outcome) == (0, Outcome.NOTHING)


def test_more_groups_than_anybody_reads_are_not_made() -> None:
    # Of 20 rows each differs from one other, so 2 ** 10 groups would share all the rest.
    pairs = [(one, one + 10) for one in range(10)]
    assert letter_groups(differing(20, *pairs)) == []


@given(st.integers(1, 7), st.data())
def test_groups_hold_exactly_the_pairs_that_do_not_differ(
    n: int, data: st.DataObject
) -> None:
    pairs = list(combinations(range(n), 2))
    chosen = (
        data.draw(st.lists(st.sampled_from(pairs), unique=True))
        if pairs
        else []
    )
    groups = letter_groups(differing(n, *chosen))
    together = {
        pair for group in groups for pair in combinations(sorted(group), 2)
    }
    assert together == set(pairs) - set(chosen)
    assert {one for group in groups for one in group} == set(range(n))
    assert not any(set(a) < set(b) for a in groups for b in groups)


@given(st.permutations(range(6)), st.integers(0, 2**15 - 1))
def test_a_range_holds_the_true_rank_where_no_test_is_wrong(
    order: list[int], shown: int
) -> None:
    pairs = list(combinations(range(6), 2))
    better = np.zeros((6, 6), dtype=bool)
    for bit, (above, below) in enumerate(pairs):
        better[order[above], order[below]] = bool(shown >> bit & 1)
    for rank, one in enumerate(order, start=1):
        best, worst = rank_ranges(better)[one]
        assert best <= rank <= worst
