"""What one annotator did in a campaign, folded from the acts in their order: labels, what comes next, what can go back.

A label belongs to an item and a showing, never to "the current one", so the same act twice, a second tab or a late key
change nothing but that item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace

from crane_core.annotation.order import GAP
from crane_core.annotation.plan import Showing
from crane_core.domain import Annotation, AnnotationAction, Label

UNDO_DEPTH = 20
DIAGNOSIS_LABELS = (Label.CORRECT, Label.PARTIAL, Label.WRONG)
"""What an annotator can say of a diagnosis, from best to worst (paper, 4.4.3)."""


@dataclass(frozen=True, slots=True)
class Given:
    """The label in force of one showing. `seconds` adds up over all times it was labelled, taken back since or not."""

    label: Label
    reason: str | None
    submitted_at: str
    seconds: float
    sequence: int
    guideline: str


@dataclass(slots=True)
class Journal:
    """The state of one annotator. `order` is the plan's; everything else comes from acts, oldest first.

    An act on a showing that the order does not have, as a file of another plan may hold, changes nothing.
    """

    order: tuple[Showing, ...]
    given: dict[Showing, Given] = field(default_factory=dict)
    notes: dict[Showing, str] = field(default_factory=dict)
    flags: set[Showing] = field(default_factory=set)
    skipped: list[Showing] = field(default_factory=list)
    returned: list[Showing] = field(default_factory=list)
    labelled: list[Showing] = field(default_factory=list)
    spent: dict[Showing, float] = field(default_factory=dict)
    events: set[str] = field(default_factory=set)
    n_acts: int = 0
    last: Annotation | None = None
    _known: frozenset[Showing] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._known = frozenset(self.order)

    def take(self, acts: Iterable[Annotation]) -> None:
        """Fold further acts in; one whose event is known already changes nothing."""
        for act in acts:
            self.n_acts = max(self.n_acts, act.sequence)
            if act.event in self.events:
                continue
            self.events.add(act.event)
            if (showing := Showing(act.item, act.showing)) in self._known:
                self._take(showing, act)

    def as_it_is(self) -> Journal:
        """A separate journal, for reading while this one continues."""
        twin = copy(self)
        twin.given, twin.notes, twin.spent = dict(self.given), dict(self.notes), dict(self.spent)
        twin.flags, twin.events = set(self.flags), set(self.events)
        twin.skipped, twin.returned, twin.labelled = list(self.skipped), list(self.returned), list(self.labelled)
        return twin

    def _take(self, showing: Showing, act: Annotation) -> None:
        match act.action:
            case AnnotationAction.LABEL if act.label is not None:
                self._label(showing, act, act.label)
                self.last = act
            case AnnotationAction.UNDO:
                self._undo(showing)
                self.last = act
            case AnnotationAction.REASON if showing in self.given and self.given[showing].label is not Label.CORRECT:
                self.given[showing] = replace(self.given[showing], reason=act.reason)
            case AnnotationAction.NOTE:
                self.notes[showing] = act.note or ""
            case AnnotationAction.SKIP if showing not in self.given:
                _drop(self.returned, showing)
                _drop(self.skipped, showing)
                self.skipped.append(showing)
                self.last = act
            case AnnotationAction.FLAG:
                self.flags.add(showing)
            case AnnotationAction.UNFLAG:
                self.flags.discard(showing)
            case _:
                pass  # a reason for, or a skip of, what another tab has changed meanwhile: nothing to do

    def _label(self, showing: Showing, act: Annotation, label: Label) -> None:
        before = self.given.get(showing)
        seconds = self.spent[showing] = (act.seconds or 0.0) + self.spent.get(showing, 0.0)
        reason = None if label is Label.CORRECT else act.reason
        self.given[showing] = Given(label, reason, act.submitted_at, seconds, act.sequence, act.guideline)
        for places in (self.returned, self.skipped):
            _drop(places, showing)
        if before:
            self.labelled.remove(showing)
        self.labelled.append(showing)

    def _undo(self, showing: Showing) -> None:
        if showing in self.given:
            del self.given[showing]
            _drop(self.labelled, showing)
            self.returned.append(showing)

    def upcoming(self, n: int) -> list[Showing]:
        """The next showings, at most n: what was taken back, then the order, then what was skipped.

        A repeat is passed over until GAP items have been labelled since its first showing, and not shown at all when
        they run out; the first `n` are planned as if each were labelled in turn.
        """
        labelled = list(self.labelled)
        coming: list[Showing] = []
        waiting = list(self._waiting())
        while len(coming) < n:
            found = next((showing for showing in waiting if _is_due(showing, labelled)), None)
            if found is None:
                break
            waiting.remove(found)
            coming.append(found)
            labelled.append(found)
        return coming

    def _waiting(self) -> Iterator[Showing]:
        last = set(self.skipped)
        first = [showing for showing in reversed(self.returned) if showing not in self.given]
        yield from first
        yield from (s for s in self.order if s not in self.given and s not in last and s not in first)
        yield from (s for s in self.skipped if s not in self.given and s not in first)

    def undoable(self) -> list[Showing]:
        """The last labels that can be taken back, the latest first."""
        return list(reversed(self.labelled[-UNDO_DEPTH:]))

    @property
    def n_done(self) -> int:
        return len(self.given)

    def is_finished(self) -> bool:
        return not self.upcoming(1)


def _is_due(showing: Showing, labelled: list[Showing]) -> bool:
    """A first showing always; a repeat once its first one is labelled and GAP others since."""
    if showing.showing == 1:
        return True
    first = Showing(showing.item, 1)
    return first in labelled and len(labelled) - labelled.index(first) > GAP


def _drop(places: list[Showing], showing: Showing) -> None:
    if showing in places:
        places.remove(showing)
