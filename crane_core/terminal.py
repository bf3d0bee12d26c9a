"""How the command line speaks: results on stdout, everything else on stderr."""

from __future__ import annotations

import sys


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
