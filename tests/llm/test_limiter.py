"""Starts are kept apart by time alone; the clock of these tests is moved by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest

from crane_core.llm.limiter import Limiter, limiter_of


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_nobody_waits_for_a_provider_that_takes_all(clock: Clock) -> None:
    limiter = Limiter(clock=clock)
    assert [limiter.claim() for _ in range(50)] == [100.0] * 50


def test_requests_per_minute_are_kept(clock: Clock) -> None:
    limiter = Limiter(requests_per_minute=30, clock=clock)
    assert [limiter.claim() for _ in range(4)] == [100.0, 102.0, 104.0, 106.0]
    clock.now = 200.0
    assert limiter.claim() == 200.0


def test_tokens_per_minute_are_kept(clock: Clock) -> None:
    limiter = Limiter(tokens_per_minute=6_000, clock=clock)
    assert [limiter.claim(n) for n in (500, 100, 0, 0)] == [
        100.0,
        105.0,
        106.0,
        106.0,
    ]


def test_all_wait_when_the_provider_says_so_and_come_back_one_after_another(
    clock: Clock,
) -> None:
    limiter = Limiter(clock=clock)
    limiter.busy(5.0)
    starts = [limiter.claim() for _ in range(5)]
    assert starts[0] == 105.0
    assert all(later > earlier for earlier, later in pairwise(starts))


def test_storm_widens_the_gap_once_and_successes_close_it(clock: Clock) -> None:
    limiter = Limiter(clock=clock)

    def gap() -> float:
        return -limiter.claim() + limiter.claim()

    for _ in range(30):
        limiter.busy(1.0)
    first = gap()
    clock.now += 60
    limiter.busy(1.0)
    assert gap() == pytest.approx(2 * first)
    for _ in range(200):
        limiter.went_well()
    clock.now += 60
    assert gap() == 0.0


def test_gap_has_an_end(clock: Clock) -> None:
    limiter = Limiter(clock=clock)
    for _ in range(60):
        limiter.busy(0.0)
        clock.now += 100
    assert -limiter.claim() + limiter.claim() <= 5.0


def test_provider_has_one_limiter() -> None:
    assert limiter_of("a.example.org") is limiter_of("a.example.org")
    assert limiter_of("a.example.org") is not limiter_of("b.example.org")
