"""Beside every notebook of the corpus: lets work beside a cell act only after the cell was asked about.

The corpus makes the file `sent` just before the run, and the file `go` once the guard has looked; without it, together.
"""

import asyncio
import time
from pathlib import Path

GO = Path(__file__).resolve().with_name("go")
SENT = GO.with_name("sent")
LONGEST_S = 300.0


def was_sent():
    """Whether the target was sent to the kernel."""
    return SENT.exists()


def has_started():
    """Whether work beside the target may act."""
    return GO.exists()


def wait():
    """For threads and processes."""
    end = time.monotonic() + LONGEST_S
    while not has_started() and time.monotonic() < end:
        time.sleep(0.01)


async def soon():
    """For tasks of the kernel's own loop."""
    end = time.monotonic() + LONGEST_S
    while not has_started() and time.monotonic() < end:
        await asyncio.sleep(0.01)
