"""The order in which an annotator sees items, including hidden repeats.

A repeat is never within `GAP` items of the first showing, so that the answer is given again and not remembered.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

Entry = TypeVar("Entry")
GAP = 20
"""Items between the two showings of one item, at least."""


@dataclass(frozen=True, slots=True)
class Showing:
    """An item, shown for the first time (1) or again (2)."""

    item: str
    showing: int


def annotator_order(
    items: Sequence[str], *, seed: str, share: float, once: Collection[str] = ()
) -> tuple[Showing, ...]:
    """All items shuffled, and about `share` of them a second time, at least GAP items after the first.

    once: further items, mixed in and never repeated. With too few items for such a gap there is no repeat. The same
    items and seed give the same order.
    """
    chance = Random(seed)
    everything = sorted([*items, *once])
    order = [
        Showing(item, 1) for item in chance.sample(everything, len(everything))
    ]
    # After one of the last GAP there is no room for the second showing.
    n_early = max(0, len(order) - GAP)
    early = [showing for showing in order[:n_early] if showing.item not in once]
    n_repeats = min(round(len(items) * share), len(early))
    repeated = chance.sample(early, n_repeats)
    # From the back, so that an insertion does not move those that come next.
    for first in sorted(repeated, key=order.index, reverse=True):
        earliest = order.index(first) + GAP + 1
        place = chance.randint(earliest, len(order))
        order.insert(place, Showing(first.item, 2))
    return tuple(order)


def shuffled(entries: Sequence[Entry], *, seed: str) -> list[Entry]:
    """All entries in an order that the seed decides."""
    return Random(seed).sample(entries, len(entries))
