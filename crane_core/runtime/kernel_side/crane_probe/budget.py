"""What looking at one variable may still cost.

Steps are counted before work is begun, so that the same value is cut at the same place each time; the clock is the
second guard, for what steps do not cover.
"""

from __future__ import annotations

import time


class OverBudgetError(Exception):
    """The variable took longer than it may."""


class Budget:
    """Steps, objects and seconds of one variable."""

    def __init__(self, *, steps: int, nodes: int, seconds: float) -> None:
        self._steps = steps
        self._nodes = nodes
        self._seconds = seconds
        self._deadline = time.perf_counter() + seconds

    def affords(self, steps: int) -> bool:
        """Takes `steps` off the budget when that many are left; False leaves it as it is."""
        self.check()
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
        return max(0.0, self._deadline - time.perf_counter())

    def check(self) -> None:
        """Raises OverBudgetError if the time is up."""
        if time.perf_counter() > self._deadline:
            raise OverBudgetError(f"looking at it took more than {self._seconds:g} s")
