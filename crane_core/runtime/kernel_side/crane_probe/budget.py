"""What looking at one variable may still cost.

Steps are counted before work is begun, so that the same value is cut at the same place each time; the clock is the
second guard, for what steps do not cover. It counts work, so that a busy machine cuts nothing that a quiet one shows.
"""

from __future__ import annotations

import time

_LONGEST = 2.5
"""Times as long by the wall: a look whose 10 s of work are spread over more than 25 s would meet the kernel's limit."""


class OverBudgetError(Exception):
    """The variable took longer than it may."""


class Clock:
    """So many seconds of this thread's work; other processes' turns do not count, up to a limit by the wall."""

    def __init__(self, seconds: float) -> None:
        now = time.perf_counter()
        self._deadline = now + seconds
        self._latest = now + _LONGEST * seconds
        # thread_time does not run while the thread waits: a value that sleeps is ended by the wall.
        self._worked = time.thread_time() + seconds

    @property
    def seconds_left(self) -> float:
        """Seconds that the work may still take, 0.0 when there are none."""
        now = time.perf_counter()
        if now >= self._latest:
            return 0.0
        # The greater of the two, so that a busy machine does not take time from a look.
        return max(0.0, self._deadline - now, self._worked - time.thread_time())

    @property
    def is_over(self) -> bool:
        """Whether no second is left."""
        # The wall first: reading it costs a tenth of asking the system for the thread's time.
        return (
            time.perf_counter() >= self._deadline and self.seconds_left == 0.0
        )


class LookBudget:
    """Steps, objects and seconds of one variable."""

    def __init__(self, *, steps: int, nodes: int, seconds: float) -> None:
        self._steps = steps
        self._nodes = nodes
        self._seconds = seconds
        self._clock = Clock(seconds)

    def affords(self, steps: int) -> bool:
        """Takes `steps` off the budget when that many are left; False leaves it as it is."""
        self.check()
        # Refused before it is begun: a cut in the middle would differ from run to run.
        if steps > self._steps:
            return False
        self._steps -= steps
        return True

    def enters(self) -> bool:
        """Takes one more object off the budget; False when none is left."""
        self.check()
        if self._nodes <= 0:
            return False
        self._nodes -= 1
        return True

    @property
    def seconds_left(self) -> float:
        """Seconds that looking at the variable may still take."""
        return self._clock.seconds_left

    def check(self) -> None:
        """Raises OverBudgetError if the time is up."""
        if self._clock.is_over:
            raise OverBudgetError(
                f"looking at it took more than {self._seconds:g} s"
            )
