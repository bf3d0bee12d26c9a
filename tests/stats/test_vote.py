"""The majority vote: one outcome per instance, nothing lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.stats.vote import crash_share, majority, unanimous

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
def test_every_instance_has_exactly_one_outcome(pairs: list[tuple[int, int]]) -> None:
    crash, safe = np.array(pairs).T
    vote = majority(crash, safe)
    assert (np.sum(vote, axis=0) == 1).all()
    assert (vote.crash == (2 * crash > crash + safe)).all()


@given(COUNTS)
def test_swapping_the_answers_swaps_the_verdict(pairs: list[tuple[int, int]]) -> None:
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


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        majority([-1], [3])
