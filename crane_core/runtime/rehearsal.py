"""What a target came to when it ran in a copy of its kernel: executed, not predicted.

Knows the form in which a kernel tells it, and believes none of it: words are bounded, the rest is of its kind.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from crane_core.runtime.limits import MIB

EXECUTED = "Rehearsal, executed in a copy"
USUAL_S = 2.0
LONGEST_S = 600.0
MEMORY_BYTES = 2048 * MIB
DISK_BYTES = 256 * MIB
MOST_WORDS = 2_200
_SAID = ("exception", "message", "code_line", "why", "writes")


class Outcome(StrEnum):
    """The four ends of a rehearsal."""

    CRASH = "crash"
    RAN_THROUGH = "ran through"
    STILL_RUNNING = "still running"
    UNKNOWN = "unknown"


class Rehearsal(NamedTuple):
    """`exception`, `message` and `line` (of the cell, from 1) belong to a crash, `why` to what is unknown.

    `seconds` is the time that the target took in the copy, `limit_s` the time that it had. `writes` says whether files
    could be written, to be dropped with the copy, or were refused; None where there was no copy.
    """

    outcome: Outcome
    limit_s: float
    seconds: float = 0.0
    exception: str | None = None
    message: str | None = None
    line: int | None = None
    code_line: str | None = None
    why: str | None = None
    writes: str | None = None

    @property
    def head(self) -> str:
        """The outcome, labelled as executed."""
        return f"{EXECUTED}: {self.title}"

    @property
    def title(self) -> str:
        """The outcome in words."""
        if self.outcome is Outcome.CRASH:
            return f"crashed: {self.exception}"
        if self.outcome is Outcome.STILL_RUNNING:
            return f"still running after {self.limit_s:g} s"
        return str(self.outcome)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What stands below the title, as name and text."""
        reason = f"{self.exception}: {self.message}" if self.message else self.exception
        place = f"{self.line}: {self.code_line}" if self.line else None
        told = (("line", place), ("reason", reason), ("reason", self.why))
        return [(name, text) for name, text in told if text]

    def to_json(self) -> dict[str, Any]:
        return {**self._asdict(), "outcome": str(self.outcome), "executed_in_a_copy": self.writes is not None}


def request(target: str, seconds: float) -> dict[str, Any]:
    """What the kernel's side is told; `target` is the source of a cell."""
    return {"target": target, "seconds": seconds, "memory_bytes": MEMORY_BYTES, "disk_bytes": DISK_BYTES}


def rehearsal_of(told: Any) -> Rehearsal:
    """The rehearsal as a kernel tells it; what it cannot have told counts as unknown."""
    facts = told if isinstance(told, dict) else {}
    limit_s = _number(facts.get("limit_s"))
    outcome = facts.get("outcome")
    if outcome not in list(Outcome) or outcome == Outcome.CRASH and not facts.get("exception"):
        return Rehearsal(Outcome.UNKNOWN, limit_s, why="the kernel gave no readable answer")
    line = facts.get("line")
    return Rehearsal(
        Outcome(outcome),
        limit_s,
        _number(facts.get("seconds")),
        line=line if type(line) is int and line > 0 else None,
        **{name: _words(facts.get(name)) for name in _SAID},
    )


def _words(told: Any) -> str | None:
    return told[:MOST_WORDS].encode("utf-8", "backslashreplace").decode() if isinstance(told, str) else None


def _number(told: Any) -> float:
    return float(told) if isinstance(told, int | float) and 0 <= told <= LONGEST_S * 2 else 0.0
