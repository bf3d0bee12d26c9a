"""How alike two names are spelled: the part of both that is in the same order in the other.

Knows texts alone. Python's own difflib is not used: a kernel has seldom loaded it, and looking loads nothing.
"""

from __future__ import annotations

from heapq import nlargest

_ALIKE = 0.7
"""The part of two names that they must have in common."""


def closest(asked: str, names: list[str], n: int) -> list[str]:
    """At most `n` names that are spelled much like the needed one, the closest first, then as they come."""
    # Negative places, because nlargest prefers the greater and the first should win.
    near = [
        (likeness(asked, name), -at, name)
        for at, name in enumerate(names)
        if _may_be(asked, name)
    ]
    return [
        name
        for _, _, name in nlargest(n, [one for one in near if one[0] >= _ALIKE])
    ]


def likeness(one: str, other: str) -> float:
    """From 0, nothing in common, to 1, equal: twice the longest common subsequence over both lengths."""
    length = len(one) + len(other)
    return 2 * _in_common(one, other) / length if length else 1.0


def _may_be(one: str, other: str) -> bool:
    """False if the lengths alone keep two names apart."""
    # Cheap, and most names of a wide frame fail it.
    return 2 * min(len(one), len(other)) >= _ALIKE * (len(one) + len(other))


def _in_common(one: str, other: str) -> int:
    """Length of the longest common subsequence: a bit for each letter of `one`, 0 where it is used."""
    places: dict[str, int] = {}
    for at, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << at
    every = (1 << len(one)) - 1
    free = every
    for letter in other:
        met = free & places.get(letter, 0)
        # A whole row of the table at once: the addition carries to the next free place.
        free = (free + met | free - met) & every
    return len(one) - bin(free).count("1")
