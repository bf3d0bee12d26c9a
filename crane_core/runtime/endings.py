"""Why a kernel ended that should not have, in words for the user, with the remedy."""

from __future__ import annotations

import signal

from crane_core.errors import CellStoppedError, KernelEndedError, KernelError
from crane_core.runtime.guarded import End
from crane_core.runtime.limits import MIB, KernelLimits

MAX_WORDS = 300
"""Characters of a message of others that stand in one of ours."""


def ended(
    end: End, what: str, cell: int | None, limits: KernelLimits
) -> KernelError:
    """The error for a kernel that ended while `what` was going on; `cell` is the code cell that ran, if one did."""
    # Without a cell it is the look that took too long, which has its own limit.
    allowed_s = limits.look_s if cell is None else limits.cell_s
    stopped = {
        "time": (
            f"ran longer than {allowed_s:g} s",
            "Allow more with --timeout-s.",
        ),
        "memory": (
            f"used more than {limits.memory_bytes // MIB:,} MiB of memory",
            "Allow more with --memory-mib.",
        ),
        "output": (
            f"printed more than {limits.output_bytes // MIB:,} MiB",
            "Allow more with --output-mib.",
        ),
        "processes": (
            f"had more than {limits.processes} processes running",
            "Start fewer processes.",
        ),
        "disk": (
            f"wrote more than {limits.disk_bytes // MIB:,} MiB of files",
            "Write fewer or smaller files.",
        ),
    }
    if end.why in stopped:
        did, remedy = stopped[end.why]
        return CellStoppedError(
            f"{what} {did} and was stopped.", remedy=remedy, cell=cell
        )
    # Last words of a kernel that ended well are its log, not a reason.
    said = (
        f"; its last output: {short(end.last_words)}"
        if end.last_words and end.status
        else ""
    )
    how = (
        "killed the kernel and its watchdog"
        if end.why == "watchdog"
        else f"ended the kernel ({_status(end.status)})"
    )
    return KernelEndedError(
        f"{what} {how}{said}.",
        remedy="Remove the code that ends the process.",
        cell=cell,
    )


def _status(status: int | None) -> str:
    if status is None or status >= 0:
        return f"exit code {status or 0}"
    # A real-time signal has a number and no name.
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


def short(text: str) -> str:
    """Words of others on one line, cut."""
    words = " ".join(text.split()).rstrip(".")
    return words if len(words) <= MAX_WORDS else words[:MAX_WORDS] + "…"
