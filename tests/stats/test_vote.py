"""The majority vote: one outcome per instance, nothing lost; pairs of runs that agree, against counting them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from crane_core.stats.vote import crash_share, majority, run_pairs, unanimous

COUNTS = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=30
)


def test_five_runs_need_three_and_four_answered_runs_need_three() -> None:
    vote = majority([3, 2, 3, 2, 0], [2, 3, 1, 2, 0])
    assert vote.crash.tolist() == [True, False, True, False, False]
    assert vote.safe.tolist() == [False, True, False, False, False]
    assert vote.tie.tolist() == [False, False, False, True, False]
    assert vote.unanswered.tolist() == [False, False, False, False, True]


@given(COUNTS)
def test_every_instance_has_exactly_one_outcome(
    pairs: list[tuple[int, int]],
) -> None:
    crash, safe = np.array(pairs).T
    vote = majority(crash, safe)
    assert (np.sum(vote, axis=0) == 1).all()
    assert (vote.crash == (2 * crash > crash + safe)).all()


@given(COUNTS)
def test_swapping_the_answers_swaps_the_verdict(
    pairs: list[tuple[int, int]],
) -> None:
    crash, safe = np.array(pairs).T
    assert (majority(crash, safe).crash == majority(safe, crash).safe).all()
    assert (unanimous(crash, safe) == unanimous(safe, crash)).all()


@given(COUNTS)
def test_share_of_crash_votes_agrees_with_the_vote(
    pairs: list[tuple[int, int]],
) -> None:
    crash, safe = np.array(pairs).T
    share, vote = crash_share(crash, safe), majority(crash, safe)
    assert (np.isnan(share) == vote.unanswered).all()
    assert (share[vote.crash] > 0.5).all()
    assert (share[vote.tie] == 0.5).all()
    assert (np.isin(share, [0.0, 1.0]) == unanimous(crash, safe)).all()


@given(COUNTS)
def test_pairs_are_those_that_one_can_count(
    counts: list[tuple[int, int]],
) -> None:
    found = run_pairs([c for c, _ in counts], [s for _, s in counts])
    runs = [[True] * c + [False] * s for c, s in counts]
    pairs = [list(combinations(of, 2)) for of in runs]
    assert found.pairs.tolist() == [len(of) for of in pairs]
    assert found.agreeing.tolist() == [
        sum(a == b for a, b in of) for of in pairs
    ]


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


@pytest.mark.parametrize("count", [majority, run_pairs])
def test_negative_counts_are_refused(count) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="negative"):
        count([-1], [3])
