"""A look at a kernel that runs already: what it has run, and what it holds. Runs no cell of the notebook.

Knows the messages, all of which leave the kernel's counters, history, outputs and names as they are. Like every
request, the look makes IPython call what a notebook registered for `post_execute`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from crane_core.errors import LookError
from crane_core.runtime import probe_source
from crane_core.runtime.endings import short
from crane_core.runtime.kernel import (
    ExpressionError,
    given_text,
    silent_evaluation,
)
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.live_history import Ran, ran_before, request
from crane_core.runtime.rehearsal import Rehearsal, rehearsal_of
from crane_core.runtime.rehearsal import request as rehearsal_request
from crane_core.runtime.shell_channel import ShellChannel, busy

IDLE_ANSWERS_WITHIN_S = 2.0
_OLDEST_PYTHON = (3, 8)


class AttachedProbeResult(NamedTuple):
    """The inputs that the kernel has run, and the probe's state before the target."""

    ran: list[Ran]
    state: dict[str, Any]


class LiveKernel(Protocol):
    """A kernel that runs already, here or elsewhere; `notebook` is its file on this machine, if it is known."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def notebook(self) -> Path | None:
        """The saved notebook."""

    def shell(self) -> ShellChannel:
        """Its shell channel, not yet open."""


class Attached:
    """A connection to a kernel that goes on running when it is closed."""

    def __init__(self, kernel: LiveKernel) -> None:
        self._kernel = kernel
        self._shell = kernel.shell()

    def __enter__(self) -> Self:
        """Raises KernelStartError."""
        self._shell.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._shell.__exit__(kind, error, where)

    def ran(self) -> list[Ran]:
        """What it has run so far. Raises KernelError while it is busy, and LookError where it is not Python."""
        # Asked before the history: an R kernel answers history, too, and its cells are not Python.
        about = self._answer("kernel_info_request", {}).get("language_info", {})
        if about.get("name") != "python" or _version(about) < _OLDEST_PYTHON:
            spoken = short(f"{about.get('name')} {about.get('version')}")
            raise LookError(
                f"The kernel {self._kernel.name} is {spoken}.",
                remedy="Choose one of Python 3.8 or later.",
            )
        whole = {
            "hist_access_type": "range",
            # Session 0 is the one that runs now; the database may hold those of years.
            "session": 0,
            "start": 0,
            "stop": None,
            "raw": True,
            "output": False,
        }
        told = self._answer("history_request", whole).get("history", [])
        inputs = {
            number: source
            for _, number, source in told
            # An input may be missing where a cell is running or history was cleared.
            if isinstance(number, int) and isinstance(source, str)
        }
        count = max(inputs, default=0) + 1
        return ran_before(
            [inputs.get(number, "") for number in range(count)], count
        )

    def look(self, ran: list[Ran], target: str) -> AttachedProbeResult:
        """What the target, the source of a cell, would meet now. Raises KernelError."""
        asked = request(ran, target)
        # Bytecode of our Python first, which spares the kernel the compiling; most have the same
        # Python.
        seen = self._evaluated(probe_source.look(asked, probe_source.OUR_MAGIC))
        if "magic" in seen:
            # The kernel has another Python: its own number asks for the modules as text.
            seen = self._evaluated(probe_source.look(asked, str(seen["magic"])))
        if not isinstance(seen.get("state"), dict):
            raise self._unreadable("it told no state")
        return AttachedProbeResult(ran, seen["state"])

    def rehearse(
        self, target: str, seconds: float, names: Sequence[str] = ()
    ) -> Rehearsal:
        """What the target, the source of a cell that assigns these names, comes to in a copy. Raises KernelError."""
        asked = rehearsal_request(target, seconds, names)
        told = self._evaluated(
            probe_source.rehearse(asked, probe_source.OUR_MAGIC), seconds
        )
        if "magic" in told:
            told = self._evaluated(
                probe_source.rehearse(asked, str(told["magic"])), seconds
            )
        return rehearsal_of(told)

    def _evaluated(
        self, expression: str, more_s: float = 0.0
    ) -> dict[str, Any]:
        answer = self._answer(
            "execute_request",
            silent_evaluation(expression),
            KernelLimits().look_s + more_s,
        )
        # A cell that raised before ours may abort what waits behind it.
        if answer.get("status") == "aborted":
            raise busy(self._kernel.name)
        try:
            told = json.loads(given_text(answer))
        except (ExpressionError, ValueError, RecursionError) as error:
            raise self._unreadable(str(error)) from error
        return told if isinstance(told, dict) else {}

    def _answer(
        self,
        kind: str,
        content: dict[str, Any],
        within_s: float | None = None,
    ) -> dict[str, Any]:
        limit_s = IDLE_ANSWERS_WITHIN_S if within_s is None else within_s
        return self._shell.answer(kind, content, limit_s)

    def _unreadable(self, why: str) -> LookError:
        return LookError(
            f"The kernel {self._kernel.name} could not be looked at: {short(why)}.",
            remedy="Check that it is a Python kernel.",
        )


def _version(about: dict[str, Any]) -> tuple[int, ...]:
    parts = str(about.get("version")).split(".")[:2]
    return tuple(int(part) for part in parts if part.isdecimal())
