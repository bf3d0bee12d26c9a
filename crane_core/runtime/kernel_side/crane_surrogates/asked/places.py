"""Places of operands that may be surrogates, and how a library's file lists names with them."""

from __future__ import annotations

from typing import Sequence

NONE: Sequence[int] = ()
FIRST: Sequence[int] = range(1)
TWO: Sequence[int] = range(2)
THREE: Sequence[int] = range(3)
# More places than any call has.
ALL: Sequence[int] = range(1_000)
REST: Sequence[int] = range(1, 1_000)


def listed(*groups: tuple[Sequence[int], str]) -> dict[str, Sequence[int]]:
    """The places of each word; what a later group says of a word counts."""
    return {word: places for places, text in groups for word in text.split()}


def prefixed(prefix: str, text: str) -> str:
    """The words of a text, each behind the prefix."""
    return " ".join(prefix + word for word in text.split())


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())
