"""Beside every notebook of the corpus: lets work beside a cell act only after the cell was asked about.

The corpus makes the file `go` between the answer and the run.
"""

import asyncio
import time
from pathlib import Path

GO = Path(__file__).resolve().with_name("go")
LONGEST_S = 300.0


def has_started():
    """Whether the target was sent to the kernel."""
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
