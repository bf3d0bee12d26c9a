"""The next round of a running campaign: opens the main round, lets people come and go, sends items back.

Labelled items do not move. A person's open items go to others who do not have them, the least loaded first; randomness
comes from the plan's seed and the number of the round, so the same state leads to the same round.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

from crane_core.annotation.assign import least_loaded
from crane_core.annotation.draw import whole_assignment
from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing, annotator_order
from crane_core.annotation.plan import Overlap, Plan, cases_of, check_name
from crane_core.annotation.rounds import Again, Round, RoundKind


@dataclass(frozen=True, slots=True)
class PeopleChange:
    """Who joins and leaves. replace: who leaves to their successor; hand_back: who stays, but returns open items."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    replace: Mapping[str, str] = field(default_factory=dict)
    hand_back: tuple[str, ...] = ()

    @property
    def joined(self) -> tuple[str, ...]:
        """Who comes, each once."""
        successors = dict.fromkeys(self.replace.values())
        return (*self.add, *successors)

    @property
    def left(self) -> tuple[str, ...]:
        """Who goes."""
        return (*self.remove, *self.replace)

    @property
    def leaving(self) -> tuple[str, ...]:
        """Whose open items go to others."""
        return (*self.left, *self.hand_back)


@dataclass(frozen=True, slots=True)
class Signed:
    """When a round was made, by whom, and why."""

    at: str
    by: str
    why: str = ""

    def round(self, kind: RoundKind, annotators: tuple[str, ...]) -> Round:
        """A round without orders yet, among these annotators."""
        return Round(
            kind=kind,
            at=self.at,
            by=self.by,
            why=self.why,
            annotators=annotators,
        )


def is_main_open(plan: Plan) -> bool:
    """Whether there is only one round, or the round after calibration has started."""
    return not plan.calibration or any(
        entry.kind is RoundKind.MAIN for entry in plan.rounds
    )


def main_round(plan: Plan, signed: Signed) -> Round:
    """The main round of those who are present. Raises ValueError if there is none to open."""
    if is_main_open(plan):
        raise ValueError("its main round is open already")
    shared = [stratum.overlap for stratum in plan.strata]
    theirs = whole_assignment(
        plan.items, plan.present, plan.design, shared=shared, seed=plan.seed
    )
    gold = [entry.item for entry in plan.gold]
    orders = {}
    for person, names in theirs.items():
        before = plan.orders[person]
        # Items of the calibration are labelled already.
        had = {showing.item for showing in before}
        new = [name for name in (*names, *gold) if name not in had]
        orders[person] = before + round_order(plan, person, new)
    return replace(signed.round(RoundKind.MAIN, plan.present), orders=orders)


def again_round(
    plan: Plan,
    journals: Mapping[str, Journal],
    items: frozenset[str],
    signed: Signed,
) -> Round:
    """These items again, by the present annotators who labelled them. Raises ValueError if none of them did."""
    again = {}
    sent: set[str] = set()
    for person in plan.present:
        journal = journals[person]
        labelled = {showing.item for showing in journal.given}
        mine = items & labelled
        if mine:
            again[person] = Again(journal.n_acts, mine)
            sent |= mine
    if not again:
        raise ValueError(
            "nobody who is present has labelled any of these items"
        )
    return replace(
        signed.round(RoundKind.AGAIN, plan.present),
        again=again,
        items=tuple(sorted(sent)),
    )


def people_round(
    plan: Plan,
    journals: Mapping[str, Journal],
    change: PeopleChange,
    signed: Signed,
) -> Round:
    """The round after people came or went. Raises ValueError, which names the people who cannot."""
    _check(plan, change)
    left = change.left
    new = [name for name in change.joined if name not in plan.present]
    staying = [name for name in plan.present if name not in left]
    present = (*staying, *new)
    if not present:
        raise ValueError("nobody would be left to label")
    hands = _Hands(plan, journals, present)
    hands.deal_again(change)
    return replace(
        signed.round(RoundKind.PEOPLE, present),
        joined=tuple(new),
        left=left,
        orders=hands.orders(),
    )


def unassigned(plan: Plan) -> int:
    """Labels of the design without an annotator to give them, once the main round is open."""
    wanted = {
        Overlap.NONE: 1,
        Overlap.ADAPTIVE: 1,
        Overlap.SOME: plan.design.per_item,
    }
    n_wanted = wanted.get(plan.design.overlap, 0)
    if not is_main_open(plan):
        return 0
    times: Counter[str] = Counter()
    for order in plan.orders.values():
        times.update(one.item for one in order if one.showing == 1)
    drawn = {name for name, draw in plan.second.items() if draw.is_drawn}
    n_lacking = 0
    for item in plan.items:
        is_drawn = item.item in drawn
        n_wanted_here = n_wanted + is_drawn
        n_lacking += max(0, n_wanted_here - times[item.item])
    return n_lacking


def _check(plan: Plan, change: PeopleChange) -> None:
    _check_names(plan, change)
    leaving = set(change.leaving)
    is_named_twice = len(leaving) != len(change.leaving)
    if is_named_twice or not leaving.isdisjoint(change.joined):
        raise ValueError("each person can come, leave or hand back once")
    if not change.joined and not leaving:
        raise ValueError("nobody comes, leaves or hands back")
    first = plan.present[0]
    # The first annotator of an overlap sample labels everything, which cannot be dealt out to people with a sample.
    is_without_successor = first in leaving and first not in change.replace
    if plan.design.overlap is Overlap.SAMPLE and is_without_successor:
        raise ValueError(f"{first} labels every item; name who takes over")


def _check_names(plan: Plan, change: PeopleChange) -> None:
    """Raises ValueError unless those who come can have an order, and those who leave have one."""
    for name in change.joined:
        check_name(name, "an annotator")
    for name in change.add:
        if name in plan.present:
            raise ValueError(f"{name} labels in it already")
    for name in change.leaving:
        if name not in plan.present:
            raise ValueError(
                f"{name} does not label in it; present are {', '.join(plan.present)}"
            )


def round_order(
    plan: Plan, person: str, items: list[str]
) -> tuple[Showing, ...]:
    """A person's new items in the order of the next round, gold and hidden repeats among them."""
    gold = plan.gold_items
    return annotator_order(
        [item for item in items if item not in gold],
        seed=f"{plan.seed}/{person}/{len(plan.rounds) + 1}",
        share=plan.design.repeats,
        once=[item for item in items if item in gold],
        case_of=cases_of([*plan.items, *plan.gold], plan.design),
    )


class _Hands:
    """The items of each annotator while a round is made."""

    def __init__(
        self,
        plan: Plan,
        journals: Mapping[str, Journal],
        present: tuple[str, ...],
    ) -> None:
        self._plan = plan
        self._present = present
        self._first = plan.calibration
        self._chance = Random(f"{plan.seed}/round/{len(plan.rounds) + 1}")
        self._kept: dict[str, list[Showing]] = {}
        self._given: dict[str, frozenset[Showing]] = {}
        self._new: dict[str, list[str]] = {}
        for name in dict.fromkeys((*plan.orders, *present)):
            self._kept[name] = list(plan.orders.get(name, ()))
            given = journals[name].given if name in journals else ()
            self._given[name] = frozenset(given)
            self._new[name] = []

    def orders(self) -> dict[str, tuple[Showing, ...]]:
        """The whole order of each annotator, new items after the old ones."""
        found = {}
        for name, kept in self._kept.items():
            new = self._new[name]
            early = [item for item in new if item in self._first]
            late = [item for item in new if item not in self._first]
            # Calibration is the same for everyone, so its items come before those of the main round, and none twice.
            begin = self._chance.sample(early, len(early))
            order = (
                *kept,
                *(Showing(item, 1) for item in begin),
                *round_order(self._plan, name, late),
            )
            if order != self._plan.orders.get(name):
                found[name] = order
        return found

    def deal_again(self, change: PeopleChange) -> None:
        """Open items of who leaves or hands back go to who replaces them, then to the others."""
        owed = {}
        for name in change.leaving:
            owed[name] = self.take_back(name)
        for name in change.joined:
            self.give_what_all_label(name)
        for gone, successor in change.replace.items():
            owed[gone] = self.give(successor, owed[gone])
        for name in change.add:
            self.welcome(name)
        for name, items in owed.items():
            self.deal_out(items, but=name)

    def take_back(self, name: str) -> list[str]:
        """Names of the items that this person has not labelled; they go out of their order, with repeats and gold."""
        open_items = self._unlabelled(name)
        given = self._given[name]
        labelled = [s for s in self._kept[name] if s in given]
        # A repeat goes with its first showing, whichever of the two was labelled.
        self._kept[name] = [s for s in labelled if s.item not in open_items]
        # Everyone has the gold items, so nobody takes them over.
        gold = self._plan.gold_items
        return [item for item in open_items if item not in gold]

    def give(self, name: str, items: list[str]) -> list[str]:
        """Give this person all items that they lack; returns those that they have already."""
        had = self._items(name)
        had_already = []
        for item in items:
            if item in had:
                had_already.append(item)
            else:
                self._new[name].append(item)
        return had_already

    def give_what_all_label(self, name: str) -> None:
        """Calibration, and gold once the main round is open."""
        plan = self._plan
        n_first = plan.design.calibration
        self.give(name, [item.item for item in plan.items[:n_first]])
        if is_main_open(plan):
            self.give(name, [entry.item for entry in plan.gold])

    def deal_out(self, items: list[str], *, but: str) -> None:
        """Give items to those without them, the least loaded first; an item that all have keeps fewer people."""
        # By these designs, everybody present has the item or is meant to have it.
        if self._plan.design.overlap in (Overlap.ALL, Overlap.SAMPLE):
            return
        for item in self._chance.sample(items, len(items)):
            load = {}
            for name in self._present:
                if name != but and item not in self._items(name):
                    load[name] = self._load(name)
            for name in least_loaded(load, load, 1, self._chance):
                self._new[name].append(item)

    def welcome(self, name: str) -> None:
        """A fair share of the open items: by design everything, the shared sample, or some of the fullest orders."""
        plan = self._plan
        if not is_main_open(plan):
            return
        overlap = plan.design.overlap
        if overlap not in (Overlap.ALL, Overlap.SAMPLE):
            self._level(name)
            return
        wanted = [item.item for item in plan.items]
        if overlap is Overlap.SAMPLE:
            # The items that several people label are those in the orders of the others.
            shared: set[str] = set()
            for other in plan.annotators[1:]:
                shared |= {showing.item for showing in plan.orders[other]}
            wanted = [item for item in wanted if item in shared]
        self.give(name, wanted)

    def _level(self, name: str) -> None:
        """Take from the fullest order, item by item, until none is over one item longer than the newcomer's."""
        while True:
            had = self._items(name)
            least = self._load(name) + 1
            fuller = [one for one in self._present if self._load(one) > least]
            donors = [one for one in fuller if self._lacked(one, had)]
            if not donors:
                return
            donor = max(donors, key=self._load)
            item = self._chance.choice(self._lacked(donor, had))
            new = self._new[donor]
            kept = self._kept[donor]
            self._new[donor] = [one for one in new if one != item]
            self._kept[donor] = [one for one in kept if one.item != item]
            self._new[name].append(item)

    def _lacked(self, name: str, had: set[str]) -> list[str]:
        """Open items of this person that another person, who `had` items, lacks."""
        return [item for item in self._open(name) if item not in had]

    def _items(self, name: str) -> set[str]:
        kept = {showing.item for showing in self._kept[name]}
        return kept.union(self._new[name])

    def _open(self, name: str) -> list[str]:
        """Items of the main round that this person has not labelled."""
        everything = [*self._unlabelled(name), *self._new[name]]
        return [item for item in everything if item not in self._first]

    def _unlabelled(self, name: str) -> list[str]:
        """Kept items without a label at their first showing."""
        given = self._given[name]
        return [
            s.item
            for s in self._kept[name]
            if s.showing == 1 and s not in given
        ]

    def _load(self, name: str) -> int:
        return len(self._open(name))
