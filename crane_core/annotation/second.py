"""Second labels by chance: uncertain items have them more often, every item with a chance that is known and above 0.

A batch is drawn for the items whose first label came since the last one. Each item is drawn for once, from what is
known by then: its first label, whether it is flagged, what a judge said, and how often pairs of labels of that kind
differed so far. So the chances do not depend on the second labels that they decide about, and weights of 1 / chance
are right (`stats.two_phase`). The seed and the labels decide the draw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from crane_core.annotation.assign import least_loaded
from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Item, Overlap, Plan
from crane_core.annotation.redeal import Signed, round_order
from crane_core.annotation.rounds import Round, RoundKind, SecondDraw
from crane_core.stats import two_phase


class FirstLabel(NamedTuple):
    """An item's first label, who gave it, and whether a second one was, and differs; None without a second one."""

    annotator: str
    label: str
    is_unlike: bool | None


class _Kind(NamedTuple):
    """What is known of an item when it is drawn for; pairs are counted by all of it, and by all but the stratum."""

    label: str
    is_flagged: bool
    judge_differs: bool | None
    stratum: int | None

    @property
    def wider(self) -> _Kind:
        return self._replace(stratum=None)


def first_labels(
    plan: Plan, journals: Mapping[str, Journal]
) -> dict[str, FirstLabel]:
    """The first label of each labelled item: as the draw recorded it, else that of the first annotator in the plan.

    Of several labels without a draw, as in calibration, which one is first makes no difference: all have both.
    """
    found = {}
    recorded = plan.second
    for item in plan.items:
        showing = Showing(item.item, 1)
        labels = {
            name: journal.given[showing].label
            for name, journal in journals.items()
            if showing in journal.given
        }
        if not labels:
            continue
        draw = recorded.get(item.item)
        person = draw.first if draw else next(iter(labels))
        # Sent back to be labelled again, the first label may be the one that is missing.
        if person not in labels:
            continue
        others = [one for name, one in labels.items() if name != person]
        is_unlike = any(one != labels[person] for one in others)
        found[item.item] = FirstLabel(
            person, labels[person], is_unlike if others else None
        )
    return found


def waiting_for_draw(plan: Plan, journals: Mapping[str, Journal]) -> list[Item]:
    """Items with a first label that no batch has drawn for; empty where second labels are not drawn by chance."""
    if plan.design.overlap is not Overlap.ADAPTIVE:
        return []
    had = plan.second.keys() | plan.calibration
    found = first_labels(plan, journals)
    return [
        item
        for item in plan.items
        if item.item in found and item.item not in had
    ]


def second_round(
    plan: Plan,
    journals: Mapping[str, Journal],
    signed: Signed,
    judge: Mapping[str, str] | None = None,
) -> Round:
    """Second labels for the items that wait for a draw. judge: item to the label of a judge, where it has one.

    Raises ValueError if no item waits, or only one person is present.
    """
    if plan.design.overlap is not Overlap.ADAPTIVE:
        raise ValueError("its plan does not draw second labels by chance")
    waiting = waiting_for_draw(plan, journals)
    if not waiting:
        raise ValueError("no item with a first label waits for a draw")
    if len(plan.present) < 2:
        raise ValueError("a second label needs a second annotator; add one")
    chance = Random(f"{plan.seed}/second/{len(plan.rounds) + 1}")
    # Items of a stratum stand together, so that each stratum has its share of the draw.
    ordered = sorted(waiting, key=lambda item: (item.stratum, chance.random()))
    firsts = first_labels(plan, journals)
    chances = two_phase.second_chances(
        _needs(plan, ordered, firsts, journals=journals, judge=judge or {}),
        plan.design.second_share,
    )
    is_drawn = two_phase.systematic_draw(chances, chance.random())
    second = {
        item.item: SecondDraw(
            first=firsts[item.item].annotator,
            chance=float(chances[place]),
            is_drawn=bool(is_drawn[place]),
        )
        for place, item in enumerate(ordered)
    }
    return replace(
        signed.round(RoundKind.SECOND, plan.present),
        orders=_orders(plan, journals, second, chance),
        second=second,
    )


def _needs(
    plan: Plan,
    waiting: Sequence[Item],
    firsts: Mapping[str, FirstLabel],
    *,
    journals: Mapping[str, Journal],
    judge: Mapping[str, str],
) -> list[float]:
    """How much each item needs a second label, from the pairs of its kind so far."""
    pairs: Counter[_Kind | None] = Counter()
    unlike: Counter[_Kind | None] = Counter()
    kinds = {
        item.item: _kind(item, firsts[item.item], journals, judge)
        for item in plan.items
        if item.item in firsts
    }
    for name, kind in kinds.items():
        is_unlike = firsts[name].is_unlike
        if is_unlike is None:
            continue
        for group in (None, kind.wider, kind):
            pairs[group] += 1
            unlike[group] += is_unlike

    def rate(
        group: _Kind | None, wider: two_phase.UnlikeRate | None
    ) -> two_phase.UnlikeRate:
        return two_phase.unlike_rate(pairs[group], unlike[group], wider)

    of_all = rate(None, None)
    return [
        rate(kind, rate(kind.wider, of_all)).need
        for kind in (kinds[item.item] for item in waiting)
    ]


def _kind(
    item: Item,
    first: FirstLabel,
    journals: Mapping[str, Journal],
    judge: Mapping[str, str],
) -> _Kind:
    said = judge.get(item.item)
    flags = journals[first.annotator].flags
    return _Kind(
        label=first.label,
        is_flagged=Showing(item.item, 1) in flags,
        judge_differs=None if said is None else said != first.label,
        stratum=item.stratum,
    )


def _orders(
    plan: Plan,
    journals: Mapping[str, Journal],
    second: Mapping[str, SecondDraw],
    chance: Random,
) -> dict[str, tuple[Showing, ...]]:
    """The orders with the drawn items behind them, each at the least loaded person who does not have it."""
    had = {}
    load = {}
    for name in plan.present:
        order = plan.orders[name]
        given = journals[name].given
        had[name] = {showing.item for showing in order}
        load[name] = sum(showing not in given for showing in order)
    new: dict[str, list[str]] = {name: [] for name in plan.present}
    drawn = sorted(item for item, draw in second.items() if draw.is_drawn)
    for item in chance.sample(drawn, len(drawn)):
        free = [name for name in plan.present if item not in had[name]]
        for name in least_loaded(free, load, 1, chance):
            new[name].append(item)
            load[name] += 1
    orders = {}
    for name, items in new.items():
        if items:
            behind = round_order(plan, name, items)
            orders[name] = plan.orders[name] + behind
    return orders
