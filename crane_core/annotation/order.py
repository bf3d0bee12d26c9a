"""The order in which an annotator sees items, including hidden repeats.

A repeat is never within `GAP` items of the first showing, so that the answer is given again and not remembered.
Items are shuffled, or their cases are and the items of a case follow each other.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
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
    items: Sequence[str],
    *,
    seed: str,
    share: float,
    once: Collection[str] = (),
    case_of: Mapping[str, str] | None = None,
) -> tuple[Showing, ...]:
    """All items shuffled, and about `share` of them a second time, at least GAP items after the first.

    once: further items, mixed in and never repeated. With too few items for such a gap there is no repeat. case_of:
    item to case, where the items of a case follow each other (see `case_order`). The same items and seed give the same
    order.
    """
    if case_of:
        return case_order(
            items, seed=seed, share=share, once=once, case_of=case_of
        )
    chance = Random(seed)
    everything = sorted([*items, *once])
    order = [
        Showing(item, 1) for item in chance.sample(everything, len(everything))
    ]
    # After one of the last GAP there is no room for the second showing.
    n_early = max(0, len(order) - GAP)
    early = [showing for showing in order[:n_early] if showing.item not in once]
    n_wanted = round(len(items) * share)
    repeated = chance.sample(early, min(n_wanted, len(early)))
    # From the back, so that an insertion does not move those that come next.
    for first in sorted(repeated, key=order.index, reverse=True):
        earliest = order.index(first) + GAP + 1
        place = chance.randint(earliest, len(order))
        order.insert(place, Showing(first.item, 2))
    return tuple(order)


def case_order(
    items: Sequence[str],
    *,
    seed: str,
    share: float,
    once: Collection[str] = (),
    case_of: Mapping[str, str],
) -> tuple[Showing, ...]:
    """Cases shuffled, and within each its items; hidden repeats are between two cases, at most one at a place.

    A repeat comes at least GAP items after the last of its case, because the ground truth of the case was read there.
    items, once: as in `annotator_order`, and each is in `case_of`.
    """
    chance = Random(seed)
    groups: dict[str, list[str]] = {}
    for item in sorted([*items, *once]):
        groups.setdefault(case_of[item], []).append(item)
    order: list[str] = []
    # Where each case ends: a repeat can be inserted there without parting a group.
    ends: dict[str, int] = {}
    for case in chance.sample(sorted(groups), len(groups)):
        group = groups[case]
        order += chance.sample(group, len(group))
        ends[case] = len(order)
    repeats: dict[int, Showing] = {}
    wanted = round(len(items) * share)
    for item in chance.sample(sorted(items), len(items)):
        earliest = ends[case_of[item]] + GAP
        late = [end for end in ends.values() if end >= earliest]
        places = [end for end in late if end not in repeats]
        if places and len(repeats) < wanted:
            repeats[chance.choice(places)] = Showing(item, 2)
    found = []
    for place, item in enumerate(order, start=1):
        found.append(Showing(item, 1))
        if place in repeats:
            found.append(repeats[place])
    return tuple(found)


def n_readings(order: Sequence[Showing], case_of: Mapping[str, str]) -> int:
    """How often this order changes to another case, the first included: readings of a ground truth."""
    cases = [case_of[showing.item] for showing in order]
    return sum(1 for _ in groupby(cases))


def shuffled(entries: Sequence[Entry], *, seed: str) -> list[Entry]:
    """All entries in an order that the seed decides."""
    return Random(seed).sample(entries, len(entries))
