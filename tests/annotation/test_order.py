"""Orders: everything once, about one in twenty twice, and never soon after the first time."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.order import (
    GAP,
    Showing,
    annotator_order,
    n_readings,
)


def items(n: int) -> list[str]:
    return [f"{i:012x}" for i in range(n)]


def places(order: tuple[Showing, ...]) -> dict[str, list[tuple[int, int]]]:
    """Item to (showing, place), in order."""
    found: dict[str, list[tuple[int, int]]] = {}
    for place, showing in enumerate(order):
        found.setdefault(showing.item, []).append((showing.showing, place))
    return found


@given(n=st.integers(0, 300), share=st.floats(0, 0.5), seed=st.text(max_size=8))
def test_every_item_comes_once_and_a_repeat_never_within_twenty_items(
    n: int, share: float, seed: str
) -> None:
    order = annotator_order(items(n), seed=seed, share=share)
    found = places(order)
    assert sorted(found) == items(n)
    repeated = [showings for showings in found.values() if len(showings) > 1]
    assert len(repeated) == min(round(n * share), max(0, n - GAP))
    for (first, at), (second, again) in repeated:
        assert (first, second) == (1, 2)
        assert again - at - 1 >= GAP
    assert all(len(showings) <= 2 for showings in found.values())


@pytest.mark.parametrize(
    ("n", "repeats"),
    [(222, 11), (501, 25), (100, 5), (30, 2), (21, 1), (20, 0), (1, 0), (0, 0)],
)
def test_about_one_in_twenty_comes_back(n: int, repeats: int) -> None:
    order = annotator_order(items(n), seed="7/ana", share=0.05)
    assert sum(showing.showing == 2 for showing in order) == repeats
    assert len(order) == n + repeats


@given(seed=st.text(max_size=8), shuffled=st.permutations(items(40)))
def test_the_seed_decides_and_the_order_of_the_items_does_not(
    seed: str, shuffled: list[str]
) -> None:
    assert annotator_order(shuffled, seed=seed, share=0.1) == annotator_order(
        items(40), seed=seed, share=0.1
    )


def test_repeats_are_not_all_at_the_end_nor_at_a_fixed_distance() -> None:
    """Somebody who knows the rule cannot tell which item is a repeat."""
    distances: Counter[int] = Counter()
    last: Counter[bool] = Counter()
    for seed in range(200):
        order = annotator_order(items(60), seed=str(seed), share=0.05)
        for showings in places(order).values():
            if len(showings) == 2:
                distances[showings[1][1] - showings[0][1]] += 1
                last[showings[1][1] == len(order) - 1] += 1
    assert len(distances) > 20
    assert last[True] < last[False] / 4


def test_every_item_is_first_equally_often() -> None:
    firsts = Counter(
        annotator_order(items(5), seed=str(seed), share=0.0)[0].item
        for seed in range(1_000)
    )
    assert set(firsts) == set(items(5))
    assert max(firsts.values()) < 260  # 200 expected, standard deviation 12.6


def cases_of(sizes: list[int]) -> dict[str, str]:
    """Item to case, for cases of these sizes."""
    cases = [f"case-{i}" for i, size in enumerate(sizes) for _ in range(size)]
    return dict(zip(items(len(cases)), cases, strict=True))


@given(
    sizes=st.lists(st.integers(1, 12), max_size=30),
    share=st.floats(0, 0.5),
    seed=st.text(max_size=8),
)
def test_by_case_a_case_is_begun_once_and_repeats_part_none(
    sizes: list[int], share: float, seed: str
) -> None:
    case_of = cases_of(sizes)
    order = annotator_order(
        list(case_of), seed=seed, share=share, case_of=case_of
    )
    firsts = [showing for showing in order if showing.showing == 1]
    repeats = [showing for showing in order if showing.showing == 2]
    assert sorted(showing.item for showing in firsts) == sorted(case_of)
    assert n_readings(firsts, case_of) == len(sizes)
    assert len(repeats) <= round(len(case_of) * share)
    for repeat in repeats:
        place = order.index(repeat)
        mine = [
            order.index(Showing(item, 1))
            for item, case in case_of.items()
            if case == case_of[repeat.item]
        ]
        assert place - max(mine) - 1 >= GAP
        after = order[place + 1 :]
        # Between two cases, and next to no other repeat.
        assert order[place - 1].showing == 1
        if after:
            assert case_of[order[place - 1].item] != case_of[after[0].item]


def test_by_case_as_many_items_come_back_as_there_is_room() -> None:
    case_of = cases_of([5] * 40)
    for seed in range(20):
        order = annotator_order(
            list(case_of), seed=str(seed), share=0.05, case_of=case_of
        )
        assert sum(showing.showing == 2 for showing in order) == 10


def test_by_case_the_order_within_a_case_and_of_cases_is_random() -> None:
    case_of = cases_of([3, 3])
    firsts = Counter(
        annotator_order(
            list(case_of), seed=str(seed), share=0.0, case_of=case_of
        )[0].item
        for seed in range(1_200)
    )
    assert set(firsts) == set(case_of)
    assert max(firsts.values()) < 260  # 200 expected, standard deviation 12.9
