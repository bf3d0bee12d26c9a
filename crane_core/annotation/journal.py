"""What one annotator did in a campaign, folded from the acts in order: labels, next showings, possible undos.

A label belongs to an item and a showing, never to "the current one", so the same act twice, a second tab or a late key
change nothing but that item. Acts have the order of the ledger's lines, but those of one device have the order in which
they were made there: one that arrives late takes its place before the next that its device made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.annotation.order import GAP, Showing
from crane_core.annotation.plan import Plan
from crane_core.annotation.rounds import Again
from crane_core.domain import Annotation, AnnotationAction

UNDO_DEPTH = 20
DIAGNOSIS_LABELS = study_labels().codes
"""The study's labels of a diagnosis, from best to worst (paper, 4.4.3). A campaign's are those of its plan."""


@dataclass(frozen=True, slots=True)
class LabelInForce:
    """The label in force of one showing. `seconds` is the sum over all times it was labelled, including undone ones.

    `source` names the file that the label was imported from. `event`, `device` and `number` are those of the act.
    """

    label: str
    reason: str | None
    submitted_at: str
    seconds: float
    sequence: int
    guideline: str
    source: str | None = None
    event: str = ""
    device: str | None = None
    number: int | None = None


class _Placed(NamedTuple):
    """An act in its order, and the place of the ledger's line that it counts as."""

    at: int
    act: Annotation


@dataclass(slots=True)
class Journal:
    """The state of one annotator.

    `order`, `again` and `labels` are the plan's; everything else comes from acts, oldest first. An act on a showing
    that is not in the order, or with a label that is not in the set, as in a file of another plan, changes nothing.
    `flags` holds the act that flagged each flagged showing, `shown` the label when another's was shown.
    """

    order: tuple[Showing, ...]
    again: tuple[Again, ...] = ()
    labels: LabelSet = field(default_factory=study_labels)
    given: dict[Showing, LabelInForce] = field(default_factory=dict)
    notes: dict[Showing, str] = field(default_factory=dict)
    flags: dict[Showing, Annotation] = field(default_factory=dict)
    shown: dict[Showing, str] = field(default_factory=dict)
    skipped: list[Showing] = field(default_factory=list)
    returned: list[Showing] = field(default_factory=list)
    labelled: list[Showing] = field(default_factory=list)
    spent: dict[Showing, float] = field(default_factory=dict)
    events: set[str] = field(default_factory=set)
    n_acts: int = 0
    last: Annotation | None = None
    _n_again: int = 0
    _placed: list[_Placed] = field(default_factory=list, repr=False)
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)
    _known: frozenset[Showing] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._known = frozenset(self.order)

    def take(self, acts: Iterable[Annotation]) -> None:
        """Fold further acts in; an act whose event is already known changes nothing."""
        n_before = len(self._placed)
        was_last = [self._place(act) for act in acts]
        # An act that arrived late takes an earlier place, so everything after it has to be folded once more.
        if not all(was_last):
            self._forget()
            n_before = 0
        for placed in self._placed[n_before:]:
            self._fold(placed)
        self._send_back(before=self.n_acts + 1)

    def _place(self, act: Annotation) -> bool:
        """Give an act its place; whether that is the last one."""
        self.n_acts = max(self.n_acts, act.sequence)
        # A browser sends an act again until it hears that it was stored.
        if act.event in self.events:
            return True
        self.events.add(act.event)
        # Acts of older versions, of files and of leads have no device; they keep the order of the ledger.
        if act.device is None or act.number is None:
            self._placed.append(_Placed(act.sequence, act))
            return True
        if act.number >= self._numbers.get(act.device, 0):
            self._numbers[act.device] = act.number
            self._placed.append(_Placed(act.sequence, act))
            return True
        place = next(
            i
            for i, one in enumerate(self._placed)
            if _was_made_after(one.act, act.device, act.number)
        )
        following = self._placed[place]
        self._placed.insert(place, _Placed(following.at, act))
        return False

    def _forget(self) -> None:
        """Undo the folding of all acts, which keep their places."""
        self.given = {}
        self.notes = {}
        self.flags = {}
        self.shown = {}
        self.spent = {}
        self.skipped = []
        self.returned = []
        self.labelled = []
        self.last = None
        self._n_again = 0

    def _fold(self, placed: _Placed) -> None:
        self._send_back(before=placed.at)
        showing = Showing(placed.act.item, placed.act.showing)
        if showing in self._known:
            self._take(showing, placed.act)

    def _send_back(self, *, before: int) -> None:
        """Apply the relabelling that rounds ask for, once all acts that they refer to have been folded in."""
        for entry in self.again[self._n_again :]:
            if entry.after >= before:
                return
            self._n_again += 1
            latest_first = self.labelled[::-1]
            for showing in latest_first:
                if showing.item in entry.items:
                    self._undo(showing)
            self.skipped = [
                one for one in self.skipped if one.item not in entry.items
            ]

    def last_number(self, device: object) -> int:
        """How many acts of a device are known."""
        return self._numbers.get(str(device), 0)

    def as_it_is(self) -> Journal:
        """A separate journal, for reading while this one continues."""
        twin = copy(self)
        twin.given = dict(self.given)
        twin.notes = dict(self.notes)
        twin.flags = dict(self.flags)
        twin.shown = dict(self.shown)
        twin.spent = dict(self.spent)
        twin.skipped = list(self.skipped)
        twin.returned = list(self.returned)
        twin.labelled = list(self.labelled)
        twin.events = set(self.events)
        twin._placed = list(self._placed)
        twin._numbers = dict(self._numbers)
        return twin

    def _take(self, showing: Showing, act: Annotation) -> None:
        match act.action:
            case AnnotationAction.LABEL:
                self._label(showing, act)
            case AnnotationAction.UNDO:
                self._undo(showing)
                self.last = act
            case AnnotationAction.REASON if showing in self.given:
                label = self.given[showing]
                if self._takes(act, label.label):
                    self.given[showing] = replace(label, reason=act.reason)
            case AnnotationAction.NOTE:
                self.notes[showing] = act.note or ""
            case AnnotationAction.SKIP if showing not in self.given:
                _drop(self.returned, showing)
                _drop(self.skipped, showing)
                self.skipped.append(showing)
                self.last = act
            case AnnotationAction.FLAG:
                self.flags.setdefault(showing, act)
            case AnnotationAction.SHOWN if showing in self.given:
                self.shown.setdefault(showing, self.given[showing].label)
            case AnnotationAction.UNFLAG:
                self.flags.pop(showing, None)
            case _:
                pass  # a reason for, or a skip of, what another tab has changed meanwhile: nothing to do

    def _takes(self, act: Annotation, label: str) -> bool:
        """Whether the label offers the reason of the act; one without reasons has none to take back either."""
        offered = self.labels.of(label).reasons
        return bool(offered) and act.reason in (None, *offered)

    def _label(self, showing: Showing, act: Annotation) -> None:
        label = act.label
        if label is None or label not in self.labels:
            return
        self.last = act
        is_labelled_again = showing in self.given
        seconds = act.seconds or 0.0
        seconds += self.spent.get(showing, 0.0)
        self.spent[showing] = seconds
        self.given[showing] = LabelInForce(
            label=label,
            reason=act.reason if self._takes(act, label) else None,
            submitted_at=act.submitted_at,
            seconds=seconds,
            sequence=act.sequence,
            guideline=act.guideline,
            source=act.source,
            event=act.event,
            device=act.device,
            number=act.number,
        )
        _drop(self.returned, showing)
        _drop(self.skipped, showing)
        if is_labelled_again:
            self.labelled.remove(showing)
        self.labelled.append(showing)

    def _undo(self, showing: Showing) -> None:
        if showing in self.given:
            del self.given[showing]
            _drop(self.labelled, showing)
            self.returned.append(showing)

    def upcoming(self, n: int) -> list[Showing]:
        """The next showings, at most n: undone ones, then the order, then skipped ones.

        A repeat is passed over until GAP items have been labelled since its first showing, and not shown at all when
        they run out; the first `n` are planned as if each were labelled in turn.
        """
        following = upcoming(self.labelled, self._waiting())
        return list(islice(following, n))

    def _waiting(self) -> Iterator[Showing]:
        returned = [
            showing
            for showing in reversed(self.returned)
            if showing not in self.given
        ]
        first = set(returned)
        last = set(self.skipped)
        yield from returned
        for showing in self.order:
            if showing in self.given or showing in last:
                continue
            if showing not in first:
                yield showing
        for showing in self.skipped:
            if showing not in self.given and showing not in first:
                yield showing

    def n_changed_after_shown(self) -> int:
        """How many labels have changed since another person's was shown."""
        return sum(
            showing in self.given and self.given[showing].label != label
            for showing, label in self.shown.items()
        )

    def undoable(self) -> list[Showing]:
        """The last labels that can be undone, the latest first."""
        return list(reversed(self.labelled[-UNDO_DEPTH:]))

    @property
    def n_done(self) -> int:
        """How many showings have a label in force."""
        return len(self.given)

    def is_finished(self) -> bool:
        """Whether nothing is left to show; a repeat whose gap cannot be filled any more does not count."""
        return not self.upcoming(1)


def journal_for(plan: Plan, annotator: str) -> Journal:
    """The empty journal of one annotator of a plan."""
    again = tuple(
        entry.again[annotator]
        for entry in plan.rounds
        if annotator in entry.again
    )
    return Journal(
        plan.orders[annotator],
        again,
        plan.labels,
    )


def _was_made_after(act: Annotation, device: str, number: int) -> bool:
    return (
        act.device == device and act.number is not None and act.number > number
    )


def _drop(places: list[Showing], showing: Showing) -> None:
    if showing in places:
        places.remove(showing)


def upcoming(
    labelled: Sequence[Showing], waiting: Iterable[Showing]
) -> Iterator[Showing]:
    """The showings of `waiting`, each as soon as it may come, as if those before it were labelled in turn.

    First showings may always come; a repeat once its first one is labelled and GAP others since. A repeat that has been
    passed over comes before all that follow it in `waiting`, and never if the others run out. The planning
    counts as labels because browsers fetch some items ahead, where the gap must hold too.
    """
    passed = _Passed(labelled)
    for place, showing in enumerate(waiting):
        if passed.is_any_due():
            yield from passed.now_due()
        if showing.showing == 1:
            passed.count(showing)
            yield showing
        else:
            passed.add(place, showing)
    yield from passed.now_due()


class _Passed:
    """Repeats that had to wait, and what has been labelled or planned by now."""

    def __init__(self, labelled: Sequence[Showing]) -> None:
        self._n = len(labelled)
        self._at: dict[str, int] = {}
        for place, showing in enumerate(labelled):
            if showing.showing == 1:
                self._at[showing.item] = place
        self._without_first: dict[str, list[tuple[int, Showing]]] = {}
        # By the number of labels from which each may come, and those that may, by their places among the waiting.
        self._not_due: list[tuple[int, int, Showing]] = []
        self._due: list[tuple[int, Showing]] = []

    def count(self, showing: Showing) -> None:
        """One more is labelled."""
        if showing.showing == 1:
            self._at[showing.item] = self._n
            for place, repeat in self._without_first.pop(showing.item, ()):
                self._wait(place, repeat)
        self._n += 1

    def add(self, place: int, repeat: Showing) -> None:
        """A repeat with this place among the waiting."""
        if repeat.item in self._at:
            self._wait(place, repeat)
        else:
            unknown = self._without_first.setdefault(repeat.item, [])
            unknown.append((place, repeat))

    def is_any_due(self) -> bool:
        """Whether one may come now; almost never true, and called for each showing."""
        if not self._not_due:
            return False
        due, _, _ = self._not_due[0]
        return due <= self._n

    def now_due(self) -> Iterator[Showing]:
        """The repeats that may come now, counted; each may make others due."""
        while True:
            while self.is_any_due():
                _, place, repeat = heappop(self._not_due)
                heappush(self._due, (place, repeat))
            if not self._due:
                return
            _, repeat = heappop(self._due)
            self.count(repeat)
            yield repeat

    def _wait(self, place: int, repeat: Showing) -> None:
        due = self._at[repeat.item] + GAP + 1
        heappush(self._not_due, (due, place, repeat))
