"""The order in which an annotator meets items, with some of them coming back unannounced.

A repeat is never within `GAP` items of the first showing, so that the answer is given again and not remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from crane_core.annotation.plan import Showing

GAP = 20
"""Items between the two showings of one item, at least."""


def annotator_order(items: Sequence[str], *, seed: str, share: float) -> tuple[Showing, ...]:
    """All items shuffled, and about `share` of them a second time, at least GAP items after the first.

    Too few items for such a gap: no repeat. The same items and seed give the same order.
    """
    chance = Random(seed)
    order = [Showing(item, 1) for item in chance.sample(sorted(items), len(items))]
    n_repeats = min(round(len(items) * share), max(0, len(items) - GAP))
    early = order[: max(0, len(items) - GAP)]
    for first in sorted(chance.sample(early, n_repeats), key=order.index, reverse=True):
        earliest = order.index(first) + GAP + 1
        order.insert(chance.randint(earliest, len(order)), Showing(first.item, 2))
    return tuple(order)
