"""Several failures lock a peer for a while, and the log says so without the secret."""

from __future__ import annotations

import logging

import pytest

from crane_core.identity.throttle import (
    LOCK_S,
    MAX_FAILURES,
    MAX_PEERS,
    WINDOW_S,
    Throttle,
)


class ThrottleClock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_the_fifth_failure_locks_that_peer_alone_for_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = ThrottleClock()
    throttle = Throttle("password", clock=clock)
    with caplog.at_level(logging.WARNING):
        for _ in range(MAX_FAILURES):
            assert throttle.locked_s("10.0.0.7") == 0
            throttle.failed("10.0.0.7")
    assert throttle.locked_s("10.0.0.7") == LOCK_S
    assert throttle.locked_s("10.0.0.8") == 0
    assert "Wrong password from 10.0.0.7 (5 of 5)" in caplog.text
    clock.now += LOCK_S
    assert throttle.locked_s("10.0.0.7") == 0


def test_failures_that_are_long_ago_or_before_a_success_do_not_count() -> None:
    clock = ThrottleClock()
    throttle = Throttle("password", clock=clock)
    for _ in range(3 * MAX_FAILURES):
        throttle.failed("10.0.0.7")
        clock.now += WINDOW_S / (MAX_FAILURES - 1)
    assert throttle.locked_s("10.0.0.7") == 0
    for _ in range(MAX_FAILURES - 2):
        throttle.failed("10.0.0.8")
    throttle.succeeded("10.0.0.8")
    for _ in range(MAX_FAILURES - 1):
        throttle.failed("10.0.0.8")
    assert throttle.locked_s("10.0.0.8") == 0


def test_memory_of_peers_is_bounded() -> None:
    throttle = Throttle("password", clock=ThrottleClock())
    logging.getLogger("crane_core.identity.throttle").disabled = True
    for number in range(MAX_PEERS + 50):
        throttle.failed(str(number))
    logging.getLogger("crane_core.identity.throttle").disabled = False
    assert len(throttle._peers) == MAX_PEERS
