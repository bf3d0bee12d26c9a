"""What a target came to when it ran in a copy of its kernel: executed, not predicted.

Knows the form in which a kernel tells it, and believes none of it: words are bounded, the rest is of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from crane_core.runtime.limits import MIB

EXECUTED = "Rehearsal, executed in a copy"
EXECUTED_AGAIN = "Rehearsal, executed in a second kernel after the same cells"
USUAL_S = 2.0
LONGEST_S = 600.0
MEMORY_BYTES = 2048 * MIB
# The copy works with one thread where the kernel had many.
AGAIN_FACTOR = 3
AGAIN_MORE_S = 30.0
"""The cells may take so much longer when they run again."""
MEMORY_AGAIN_BYTES = 16 * 1024 * MIB
"""Of address space, where libraries and their threads are still to come: the kernel's own limit holds besides."""
DISK_BYTES = 256 * MIB
# A little more than the kernel's side sends, which is already bounded.
MOST_WORDS = 2_200
_SAID = ("exception", "message", "code_line", "why", "writes", "result")


class RehearsalEnd(StrEnum):
    """The four ends of a rehearsal."""

    CRASH = "crash"
    RAN_THROUGH = "ran through"
    STILL_RUNNING = "still running"
    UNKNOWN = "unknown"


class Rehearsal(NamedTuple):
    """`exception`, `message` and `line` (of the cell, from 1) belong to a crash, `why` to what is unknown.

    `seconds` is the time that the target took in the copy, `limit_s` the time that it had. `writes` says whether files
    could be written, to be dropped with the copy, or were refused; None where there was no copy. `lacks_threads`: it is
    unknown perhaps for want of the kernel's threads. `ran_again`: a second kernel ran the cells before the target too.
    `result` says what a target that ran through leaves, where `request` had its names.
    """

    outcome: RehearsalEnd
    limit_s: float
    seconds: float = 0.0
    exception: str | None = None
    message: str | None = None
    line: int | None = None
    code_line: str | None = None
    why: str | None = None
    writes: str | None = None
    lacks_threads: bool = False
    ran_again: bool = False
    result: str | None = None

    @property
    def how(self) -> str:
        """That it was executed, and where."""
        return EXECUTED_AGAIN if self.ran_again else EXECUTED

    @property
    def where(self) -> str:
        """Where it was executed, as the end of a phrase."""
        return (
            "in a second kernel after the same cells"
            if self.ran_again
            else "in a copy of the kernel"
        )

    @property
    def head(self) -> str:
        """The outcome, labelled as executed."""
        return f"{self.how}: {self.title}"

    @property
    def title(self) -> str:
        """The outcome in words."""
        if self.outcome is RehearsalEnd.CRASH:
            return f"crashed: {self.exception}"
        if self.outcome is RehearsalEnd.STILL_RUNNING:
            return f"still running after {self.limit_s:g} s"
        return str(self.outcome)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What is below the title, as name and text."""
        reason = (
            f"{self.exception}: {self.message}"
            if self.message
            else self.exception
        )
        place = f"{self.line}: {self.code_line}" if self.line else None
        told = (("line", place), ("reason", reason), ("reason", self.why))
        return [(name, text) for name, text in told if text]

    def to_json(self) -> dict[str, Any]:
        """All fields, and whether there was a copy in which the target ran."""
        return {
            **self._asdict(),
            "outcome": str(self.outcome),
            "executed_in_a_copy": self.writes is not None,
        }


Rehearse = Callable[[str, Sequence[str]], Rehearsal]
"""Runs the source of a cell in a copy of a kernel; the names are those that it assigns."""
Visit = Callable[[dict[str, Any], Rehearsal | None, Rehearse], None]
"""What is done in a kernel before its target: it gets the probe's state, the target's rehearsal, and can rehearse."""


def request(
    target: str, seconds: float, names: Sequence[str] = ()
) -> dict[str, Any]:
    """What the kernel's side gets; `target` is the source of a cell, which assigns these names."""
    bounds = {
        "seconds": seconds,
        "memory_bytes": MEMORY_BYTES,
        "disk_bytes": DISK_BYTES,
    }
    return {"target": target, **bounds, "again": None, "names": list(names)}


def again(
    asked: Mapping[str, Any],
    cells: Sequence[Mapping[str, Any]],
    took_s: float,
    **expected: Any,
) -> dict[str, Any]:
    """The same request to a fresh kernel, which runs these cells first; they took `took_s` in the kernel before.

    Each has its number as `cell`, its `code` and the class of the `exception` that it raised, or None. `look` and
    `state` are the question to the probe there and what it saw.
    """
    seconds = AGAIN_FACTOR * took_s + AGAIN_MORE_S
    more = {"cells": list(cells), "seconds": seconds, **expected}
    return {**asked, "memory_bytes": MEMORY_AGAIN_BYTES, "again": more}


def rehearsal_of(told: Any) -> Rehearsal:
    """The rehearsal as a kernel reports it; an impossible report counts as unknown."""
    facts = told if isinstance(told, dict) else {}
    limit_s = _number(facts.get("limit_s"))
    outcome = facts.get("outcome")
    # A crash without an exception says nothing that could be shown.
    if (
        outcome not in list(RehearsalEnd)
        or outcome == RehearsalEnd.CRASH
        and not facts.get("exception")
    ):
        return Rehearsal(
            RehearsalEnd.UNKNOWN,
            limit_s,
            why="the kernel gave no readable answer",
        )
    line = facts.get("line")
    words: dict[str, Any] = {name: _words(facts.get(name)) for name in _SAID}
    return Rehearsal(
        RehearsalEnd(outcome),
        limit_s,
        _number(facts.get("seconds")),
        # True is an int as well.
        line=line if type(line) is int and line > 0 else None,
        lacks_threads=facts.get("lacks_threads") is True,
        **words,
    )


def _words(told: Any) -> str | None:
    return (
        # Half a surrogate pair could not be written as JSON or shown.
        told[:MOST_WORDS].encode("utf-8", "backslashreplace").decode()
        if isinstance(told, str)
        else None
    )


def _number(told: Any) -> float:
    # NaN and infinity fail the comparison.
    return (
        float(told)
        if isinstance(told, int | float) and 0 <= told <= LONGEST_S * 2
        else 0.0
    )
