"""The order of acts: what one device made has its own order, whatever the clock said and whenever it arrived."""

from __future__ import annotations

from itertools import count
from random import Random

import pytest

from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.rounds import Again
from crane_core.domain import Annotation, AnnotationAction

Line = tuple[str | None, int | None, AnnotationAction, Showing, str | None]
X, Y = Showing("x", 1), Showing("y", 1)
LABEL, UNDO = AnnotationAction.LABEL, AnnotationAction.UNDO


def lines(*acts: Line) -> list[Annotation]:
    """The ledger's lines in this order: device, number, action, showing, label."""
    sequence = count(1)
    return [
        Annotation(
            "pilot", "ana", f"event-{device}-{number}-{n}", n, action, showing.item, showing.showing, "g1",
            f"2026-01-01T{23 - n:02}:00:00+00:00", label=label, device=device, number=number,
        )
        for (device, number, action, showing, label), n in zip(acts, sequence, strict=False)
    ]  # fmt: skip


def final(
    acts: list[Annotation], again: tuple[Again, ...] = ()
) -> dict[str, str]:
    """The labels in force, however the ledger is read: at once, or line by line."""
    at_once, one_by_one = Journal((X, Y), again), Journal((X, Y), again)
    at_once.take(acts)
    for act in acts:
        one_by_one.take([act])
    assert repr(at_once) == repr(one_by_one)
    return {
        showing.item: given.label for showing, given in at_once.given.items()
    }


CASES: dict[str, tuple[list[Line], dict[str, str]]] = {
    "a clock that was set back changes nothing": (
        [("phone-aa", 1, LABEL, X, "wrong"), ("phone-aa", 2, UNDO, X, None), ("phone-aa", 3, LABEL, X, "correct")],
        {"x": "correct"},
    ),
    "an act of another tab that arrives late takes its place": (
        [("phone-aa", 2, LABEL, X, "correct"), ("phone-aa", 1, LABEL, X, "wrong")],
        {"x": "correct"},
    ),
    "an undo that arrives before its label": (
        [("phone-aa", 2, UNDO, X, None), ("phone-aa", 1, LABEL, X, "wrong")],
        {},
    ),
    "between two devices the ledger's order holds": (
        [("phone-aa", 7, LABEL, X, "correct"), ("laptop-b", 1, LABEL, X, "wrong")],
        {"x": "wrong"},
    ),
    "a late act is before its device's next act, not before other devices'": (
        [("phone-aa", 1, LABEL, Y, "wrong"), ("laptop-b", 1, LABEL, X, "partial"), ("phone-aa", 3, LABEL, Y, "correct"),
         ("phone-aa", 2, LABEL, X, "wrong")],
        {"x": "wrong", "y": "correct"},
    ),
    "lines without a number keep their order": (
        [(None, None, LABEL, X, "wrong"), (None, None, LABEL, X, "correct")],
        {"x": "correct"},
    ),
    "a numbered act after lines without a number": (
        [(None, None, LABEL, X, "wrong"), ("phone-aa", 1, LABEL, X, "correct")],
        {"x": "correct"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_order_of_acts(name: str) -> None:
    acts, expected = CASES[name]
    assert final(lines(*acts)) == expected


def test_a_late_act_counts_as_made_before_the_items_were_sent_back() -> None:
    acts = lines(
        ("phone-aa", 2, LABEL, Y, "correct"),
        (None, None, LABEL, Y, "partial"),
        ("phone-aa", 1, LABEL, X, "wrong"),
    )
    again = (Again(after=2, items=frozenset({"x", "y"})),)
    assert final(acts, again) == {}, (
        "both labels were given before the act that the round names"
    )


def test_acts_of_one_device_have_one_outcome_in_whatever_order_they_arrive() -> (
    None
):
    made = [
        (
            "phone-aa",
            n,
            LABEL,
            X if n % 3 else Y,
            ("correct", "partial", "wrong")[n % 3],
        )
        for n in range(1, 13)
    ]
    for seed in range(30):
        shuffled = Random(seed).sample(made, len(made))
        assert final(lines(*shuffled)) == {"x": "wrong", "y": "correct"}
