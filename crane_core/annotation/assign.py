"""Who labels which items: all, a sample, or each item by some people. All randomness comes from a seed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from crane_core.annotation.plan import Item, Overlap


def calibration_first(
    items: Sequence[Item], n: int, *, seed: str
) -> tuple[Item, ...]:
    """The same items, `n` of them first: a systematic sample over the strata, so that each has its share.

    Raises ValueError if there are fewer than n.
    """
    if not 0 <= n <= len(items):
        raise ValueError(
            f"a calibration round of {n:,} items needs that many; the sample has {len(items):,}"
        )
    if n == 0:
        return tuple(items)
    # One random start and equal steps: every stratum is met in proportion to its size.
    start = Random(seed).random()
    first = set()
    for nth in range(n):
        place = (nth + start) * len(items) / n
        first.add(items[int(place)].item)
    chosen = [one for one in items if one.item in first]
    others = [one for one in items if one.item not in first]
    return (*chosen, *others)


def assigned(
    items: Sequence[Item],
    people: Sequence[str],
    overlap: Overlap,
    *,
    shared: Sequence[int],
    per_item: int,
    seed: str,
    case_of: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Names of the items that each annotator labels.

    items of a stratum stand in the order of their draw; shared: per stratum, how many of them all but the first
    annotator label where the overlap is SAMPLE; per_item: annotators of an item where it is SOME; case_of: item to
    case, where all items of a case have the same annotators.
    Raises ValueError if there are fewer people than an item needs.
    """
    everything = [item.item for item in items]
    if overlap in (Overlap.NONE, Overlap.SOME, Overlap.ADAPTIVE):
        n_people = per_item if overlap is Overlap.SOME else 1
        if case_of:
            return dealt_by_case(
                items, people, n_people, seed=seed, case_of=case_of
            )
        return dealt(items, people, n_people, seed=seed)
    if overlap is Overlap.ALL:
        return {person: list(everything) for person in people}
    sample = _shared_sample(items, shared)
    first, *others = people
    found = {person: list(sample) for person in others}
    return {first: everything} | found


def _shared_sample(items: Sequence[Item], shared: Sequence[int]) -> list[str]:
    """The first items of each stratum, which several people label."""
    of_stratum: dict[int, list[str]] = defaultdict(list)
    for item in items:
        of_stratum[item.stratum].append(item.item)
    found: list[str] = []
    for place, names in sorted(of_stratum.items()):
        found += names[: shared[place]]
    return found


def dealt(
    items: Iterable[Item], people: Sequence[str], per_item: int, *, seed: str
) -> dict[str, list[str]]:
    """Each item to `per_item` different people, stratum by stratum; loads differ by one item at most."""
    check_per_item(per_item, len(people))
    chance = Random(f"{seed}/dealt")
    # Stratum by stratum, so that each person's items come from all of them.
    shuffled = sorted(items, key=lambda item: (item.stratum, chance.random()))
    each_alone = [[item.item] for item in shuffled]
    return _dealt_out(each_alone, people, per_item, chance)


def dealt_by_case(
    items: Iterable[Item],
    people: Sequence[str],
    per_item: int,
    *,
    seed: str,
    case_of: Mapping[str, str],
) -> dict[str, list[str]]:
    """All items of a case to the same `per_item` people; loads differ by the items of one case at most."""
    check_per_item(per_item, len(people))
    chance = Random(f"{seed}/dealt")
    groups: dict[str, list[str]] = defaultdict(list)
    for item in items:
        groups[case_of[item.item]].append(item.item)
    # The largest cases first, so that small ones even out the loads at the end.
    shuffled = sorted(
        groups.values(),
        key=lambda names: (-len(names), chance.random()),
    )
    return _dealt_out(shuffled, people, per_item, chance)


def _dealt_out(
    groups: Iterable[list[str]],
    people: Sequence[str],
    per_item: int,
    chance: Random,
) -> dict[str, list[str]]:
    """Group after group to those with the fewest items."""
    found: dict[str, list[str]] = {person: [] for person in people}
    for names in groups:
        load = {person: len(mine) for person, mine in found.items()}
        for person in least_loaded(people, load, per_item, chance):
            found[person] += names
    return found


def check_per_item(per_item: int, n_people: int) -> None:
    """Raises ValueError if an item needs more annotators than there are."""
    if not 1 <= per_item <= n_people:
        raise ValueError(
            f"each item needs {per_item:,} annotators, and there are {n_people:,}"
        )


def least_loaded(
    people: Iterable[str], load: Mapping[str, int], n: int, chance: Random
) -> list[str]:
    """The n with the fewest items; ties are broken at random."""
    ranked = sorted(
        people,
        key=lambda person: (load[person], chance.random()),
    )
    return ranked[:n]
