"""How the command line speaks, results on stdout and everything else on stderr, and how it learns that it must stop."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType


def tell(message: str) -> None:
    """Progress and remarks, out of the way of results."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def give(text: str) -> None:
    """A result."""
    sys.stdout.write(text.rstrip("\n") + "\n")
    sys.stdout.flush()


def give_exactly(text: str) -> None:
    """A result to the byte: UTF-8, nothing added at the end, line ends as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()


@contextmanager
def stop_on_interrupt() -> Iterator[Event]:
    """An event that the first Ctrl+C sets, so that the work can end well; the second one interrupts."""
    stop = Event()

    def first(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)
        tell("stopping; everything received is saved (Ctrl+C again: stop immediately)")

    before = signal.signal(signal.SIGINT, first)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
