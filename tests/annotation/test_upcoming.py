"""What comes next, against the plain definition: look through everything that waits for each single place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.journal import upcoming
from crane_core.annotation.order import GAP, Showing


def defined(labelled: list[Showing], waiting: list[Showing]) -> list[Showing]:
    done, left, coming = list(labelled), list(waiting), []
    while found := [showing for showing in left if _is_due(showing, done)]:
        left.remove(found[0])
        coming.append(found[0])
        done.append(found[0])
    return coming


def _is_due(showing: Showing, done: list[Showing]) -> bool:
    first = Showing(showing.item, 1)
    return showing.showing == 1 or (
        first in done and len(done) - done.index(first) > GAP
    )


@st.composite
def campaigns(
    draw: st.DrawFn,
) -> tuple[list[Showing], list[Showing]]:
    """Showings that are labelled and those that wait, in any order, also such as no campaign draws."""
    n = draw(st.integers(0, 3 * GAP))
    repeated = draw(st.sets(st.integers(0, max(0, n - 1)), max_size=8))
    showings = [Showing(f"i{number}", 1) for number in range(n)]
    showings += [Showing(f"i{number}", 2) for number in repeated if n]
    mixed = draw(st.permutations(showings))
    cut = draw(st.integers(0, len(mixed)))
    return mixed[:cut], mixed[cut:]


@given(campaigns())
def test_the_order_is_that_of_the_definition(
    campaign: tuple[list[Showing], list[Showing]],
) -> None:
    assert list(upcoming(*campaign)) == defined(*campaign)


def test_a_repeat_comes_before_later_ones_and_not_at_all_without_its_gap() -> (
    None
):
    firsts = [Showing(f"i{number}", 1) for number in range(GAP + 2)]
    again = Showing("i0", 2)
    waiting = [firsts[0], again, *firsts[1:]]
    assert list(upcoming([], waiting)) == [
        *firsts[: GAP + 1],
        again,
        firsts[GAP + 1],
    ]
    assert list(upcoming([], waiting[: GAP + 1])) == firsts[:GAP]
