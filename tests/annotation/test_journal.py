"""Journals: acts in, state out. Whatever is pressed, in however many tabs, nothing is lost, doubled or met too soon."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from crane_core.annotation.journal import DIAGNOSIS_LABELS, UNDO_DEPTH, Journal
from crane_core.annotation.order import GAP, Showing, annotator_order
from crane_core.domain import Annotation, AnnotationAction, Label
from tests.examples import examples

C, P, W = DIAGNOSIS_LABELS
LABEL, UNDO, SKIP = (
    AnnotationAction.LABEL,
    AnnotationAction.UNDO,
    AnnotationAction.SKIP,
)
REASON, NOTE, FLAG, UNFLAG = (
    AnnotationAction.REASON,
    AnnotationAction.NOTE,
    AnnotationAction.FLAG,
    AnnotationAction.UNFLAG,
)


class JournalTab:
    """Makes acts with their own events and sequence numbers."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(
        self,
        action: AnnotationAction,
        showing: Showing,
        label: Label | None = None,
        **more: object,
    ) -> Annotation:
        self.n += 1
        return Annotation(
            campaign="pilot",
            annotator="ana",
            event=f"event-{self.n:04}",
            sequence=self.n,
            action=action,
            item=showing.item,
            showing=showing.showing,
            guideline="g1",
            submitted_at=f"t{self.n}",
            label=label,
            **more,  # type: ignore[arg-type]
        )


@pytest.fixture
def act() -> JournalTab:
    return JournalTab()


def order_of(
    n: int, share: float = 0.05, seed: str = "7/ana"
) -> tuple[Showing, ...]:
    return annotator_order(
        [f"{i:012x}" for i in range(n)], seed=seed, share=share
    )


def journal(n: int = 5, *acts: Annotation, share: float = 0.0) -> Journal:
    made = Journal(order_of(n, share))
    made.take(acts)
    return made


@pytest.mark.parametrize(
    ("acts", "coming", "undoable"),
    [
        ("", "abcde", ""),
        ("La Lb", "cde", "ba"),
        ("La Lb Lc Ld Le", "", "edcba"),
        # Undone items come back first, and the last undone before the others.
        ("La Lb Lc Uc Ub", "bcde", "a"),
        ("La Lb Lc Uc Ub Lb", "cde", "ba"),
        # Skipped items come last, in the order of skipping; an undone one too.
        ("Sa Sb", "cdeab", ""),
        ("Sa Sb Sa", "cdeba", ""),
        ("Sa Sb Sa Lb", "cdea", "b"),
        ("La Ua Sa", "bcdea", ""),
        # A second label stands for the first, and is the latest.
        ("La Lb La", "cde", "ab"),
    ],
)
def test_what_comes_and_what_can_be_undone(
    act: JournalTab, acts: str, coming: str, undoable: str
) -> None:
    made = journal(5)
    named = dict(zip("abcde", made.order, strict=True))
    actions = {"L": LABEL, "U": UNDO, "S": SKIP}
    made.take(act(actions[do], named[item], C) for do, item in acts.split())
    assert made.upcoming(99) == [named[item] for item in coming]
    assert made.undoable() == [named[item] for item in undoable]
    assert made.is_finished() == (not coming)


def test_an_event_counts_once(act: JournalTab) -> None:
    made = journal(5)
    first = act(LABEL, made.order[0], C)
    made.take([first, replace(first, label=W)])
    assert [given.label for given in made.given.values()] == [C]


def test_the_time_of_a_label_that_was_taken_back_counts_for_the_next_one(
    act: JournalTab,
) -> None:
    made = journal(5)
    a, *_ = made.order
    made.take([act(LABEL, a, W, seconds=40.0), act(UNDO, a)])
    before = made.as_it_is()
    made.take(
        [
            act(LABEL, a, C, seconds=0.5),
            act(UNDO, a),
            act(LABEL, a, P, seconds=1.0),
        ]
    )
    assert made.given[a].seconds == 41.5
    before.take([act(LABEL, a, C, seconds=2.0)])
    assert before.given[a].seconds == 42.0


def test_a_second_label_has_no_reason_of_the_first_and_its_time_is_added(
    act: JournalTab,
) -> None:
    made = journal(5)
    a = made.order[0]
    made.take(
        [
            act(LABEL, a, W, reason="a", seconds=10),
            act(LABEL, a, C, seconds=2.5),
        ]
    )
    given = made.given[a]
    assert (given.label, given.reason, given.seconds) == (C, None, 12.5)


def test_a_reason_goes_to_the_label_in_force(act: JournalTab) -> None:
    made = journal(5)
    a, b, *_ = made.order
    made.take([act(REASON, b, reason="c"), act(LABEL, a, P, reason="b")])
    assert (made.given[a].reason, b in made.given) == ("b", False)
    made.take([act(REASON, a, reason="d")])
    assert made.given[a].reason == "d"
    made.take([act(REASON, a)])
    assert made.given[a].reason is None


def test_what_came_too_late_changes_nothing(act: JournalTab) -> None:
    """Another tab labelled the item meanwhile; its skip, and an undo of what nobody labelled, say nothing more."""
    made = journal(5)
    a, b, *_ = made.order
    made.take([act(LABEL, a, C)])
    before = made.as_it_is()
    made.take(
        [act(SKIP, a), act(UNDO, b), act(REASON, b, reason="a"), act(UNFLAG, a)]
    )
    assert (made.given, made.labelled, made.skipped, made.returned) == (
        before.given,
        before.labelled,
        before.skipped,
        before.returned,
    )


def test_notes_and_flags_stay_through_an_undo(act: JournalTab) -> None:
    made = journal(5)
    a, b, *_ = made.order
    made.take(
        [
            act(NOTE, a, note="unsure"),
            act(FLAG, a),
            act(LABEL, a, P),
            act(UNDO, a),
            act(FLAG, b),
            act(UNFLAG, b),
        ]
    )
    assert (made.notes, set(made.flags)) == ({a: "unsure"}, {a})
    made.take([act(NOTE, a, note=None)])
    assert made.notes[a] == ""


def test_a_label_without_a_label_is_none(act: JournalTab) -> None:
    assert journal(5, act(LABEL, order_of(5, 0.0)[0])).given == {}


def test_acts_of_another_plan_change_nothing(act: JournalTab) -> None:
    strange = [
        act(action, Showing("of another plan", 1), C, note="x")
        for action in AnnotationAction
    ]
    made = journal(5, *strange, act(LABEL, Showing(order_of(5)[0].item, 2), C))
    assert (made.given, made.notes, made.flags, made.skipped) == (
        {},
        {},
        {},
        [],
    )
    assert made.upcoming(9) == list(made.order)


def test_what_is_read_does_not_change_while_acts_go_on(act: JournalTab) -> None:
    made = journal(9)
    a, b, c, d, *_ = made.order
    made.take(
        [
            act(LABEL, a, W),
            act(LABEL, b, C),
            act(UNDO, b),
            act(SKIP, c),
            act(FLAG, a),
            act(NOTE, a, note="x"),
        ]
    )
    read = made.as_it_is()
    told = (repr(read), read.upcoming(9), read.undoable(), sorted(read.events))
    made.take(
        [
            act(REASON, a, reason="a"),
            act(LABEL, d, C),
            act(UNFLAG, a),
            act(NOTE, a, note="y"),
            act(UNDO, a),
        ]
    )
    made.take([act(SKIP, b), act(LABEL, c, C)])
    assert (
        repr(read),
        read.upcoming(9),
        read.undoable(),
        sorted(read.events),
    ) == told


def labelled_through(made: Journal, act: JournalTab) -> list[Showing]:
    """Label what comes, one after the other, to the end; the showings in the order in which they came."""
    came = []
    while coming := made.upcoming(1):
        came += coming
        made.take([act(LABEL, coming[0], C)])
    return came


def gaps(came: list[Showing]) -> list[int]:
    """Items between the two showings of every repeat."""
    return [
        came.index(again) - came.index(Showing(again.item, 1)) - 1
        for again in came
        if again.showing == 2
    ]


def test_undisturbed_everything_is_shown_as_planned(act: JournalTab) -> None:
    made = journal(100, share=0.05)
    assert labelled_through(made, act) == list(made.order)
    assert len(gaps(list(made.order))) == 5


def test_a_first_showing_that_is_skipped_takes_its_repeat_along(
    act: JournalTab,
) -> None:
    """The repeat waits for 20 others after the first, or, where there are none left, is not shown at all."""
    for seed in range(30):
        made = Journal(order_of(60, 0.1, str(seed)))
        repeats = [showing for showing in made.order if showing.showing == 2]
        made.take(act(SKIP, Showing(again.item, 1)) for again in repeats[:3])
        came = labelled_through(made, act)
        assert len(came) == len(set(came))
        assert {
            showing for showing in made.order if showing.showing == 1
        } <= set(came)
        assert min(gaps(came), default=GAP) >= GAP
        assert made.is_finished()


def test_the_queue_is_planned_as_if_each_were_labelled_in_turn(
    act: JournalTab,
) -> None:
    made = Journal(order_of(60, 0.1))
    queue = made.upcoming(99)
    assert queue == labelled_through(made, act)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 40))
@examples(60)
def test_folding_at_once_or_in_parts_gives_the_same_journal(
    seed: int, n: int
) -> None:
    chance, act = random.Random(seed), JournalTab()
    order = order_of(n, 0.1, str(seed))
    acts = [
        act(
            chance.choice(list(AnnotationAction)),
            chance.choice(order),
            chance.choice(DIAGNOSIS_LABELS),
            reason="a",
        )
        for _ in range(60)
    ]
    whole, parts = Journal(order), Journal(order)
    whole.take(acts)
    cut = chance.randrange(60)
    parts.take(acts[:cut])
    parts.take(acts[max(0, cut - 10) :])
    assert repr(parts) == repr(whole)


class Annotating(RuleBasedStateMachine):
    """A person labels, skips, goes back, in two tabs, one of which acts on what it saw a while ago.

    Labels arrive in any order and twice; the model is the last new word on every showing.
    """

    def __init__(self) -> None:
        super().__init__()
        self.act = JournalTab()
        self.sent: list[Annotation] = []
        self.stale: list[Annotation] = []
        self.labels: dict[Showing, Label] = {}
        self.sequence: list[Showing] = []

    @initialize(
        n=st.integers(1, 70),
        share=st.sampled_from([0.0, 0.05, 0.2, 0.5]),
        seed=st.integers(0, 99),
    )
    def begin(self, n: int, share: float, seed: int) -> None:
        self.journal = Journal(order_of(n, share, str(seed)))

    def send(self, act: Annotation) -> None:
        """To the journal, and to a model of it that is nothing but the last word on every showing."""
        self.journal.take([act])
        self.sent.append(act)
        showing = Showing(act.item, act.showing)
        if act.action is LABEL:
            self._forget(showing)
            self.labels[showing] = act.label or C
            self.sequence.append(showing)
        elif act.action is UNDO:
            self._forget(showing)

    def _forget(self, showing: Showing) -> None:
        self.labels.pop(showing, None)
        if showing in self.sequence:
            self.sequence.remove(showing)

    def label_as_offered(self, showing: Showing, word: Label) -> None:
        assert showing not in self.labels, "shown twice"
        if showing.showing == 2:
            first = self.sequence.index(Showing(showing.item, 1))
            assert len(self.sequence) - 1 - first >= GAP, "a repeat too soon"
        self.send(self.act(LABEL, showing, word, seconds=1.0))

    @rule(n=st.integers(1, 30), word=st.sampled_from(DIAGNOSIS_LABELS))
    def label_the_queue(self, n: int, word: Label) -> None:
        """As a browser does that has the next items already."""
        for showing in self.journal.upcoming(n):
            self.label_as_offered(showing, word)

    @rule(n=st.integers(1, 25))
    def go_back(self, n: int) -> None:
        for _ in range(n):
            if back := self.journal.undoable():
                assert back == list(reversed(self.sequence))[:UNDO_DEPTH]
                self.send(self.act(UNDO, back[0]))
                assert (
                    self.journal.upcoming(1) == [back[0]]
                    or back[0].showing == 2
                )

    @rule(n=st.integers(1, 5))
    def skip(self, n: int) -> None:
        for _ in range(n):
            for showing in self.journal.upcoming(1):
                self.send(self.act(SKIP, showing))

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), word=st.sampled_from(DIAGNOSIS_LABELS))
    def label_again(self, data: st.DataObject, word: Label) -> None:
        if self.sequence:
            self.send(
                self.act(LABEL, data.draw(st.sampled_from(self.sequence)), word)
            )

    @rule(
        data=st.data(),
        action=st.sampled_from([LABEL, UNDO, SKIP, REASON, FLAG]),
    )
    def press_in_the_other_tab(
        self, data: st.DataObject, action: AnnotationAction
    ) -> None:
        """What is pressed there arrives later, when the item may have been labelled, undone or skipped here."""
        places = [*self.journal.upcoming(3), *self.journal.undoable()[:3]]
        if places:
            word = data.draw(st.sampled_from(DIAGNOSIS_LABELS))
            showing = data.draw(st.sampled_from(places))
            self.stale.append(
                self.act(
                    action,
                    showing,
                    word if action is LABEL else None,
                    reason="a",
                )
            )

    @precondition(lambda self: self.stale)
    @rule(data=st.data())
    def arrive_late(self, data: st.DataObject) -> None:
        self.send(
            self.stale.pop(data.draw(st.integers(0, len(self.stale) - 1)))
        )

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        before = repr(self.journal)
        self.journal.take(
            data.draw(st.lists(st.sampled_from(self.sent), max_size=5))
        )
        assert repr(self.journal) == before

    @rule()
    def restart(self) -> None:
        fresh = Journal(self.journal.order)
        fresh.take(self.sent)
        assert repr(fresh) == repr(self.journal)
        self.journal = fresh

    @invariant()
    def labels_are_the_last_word_on_each_showing(self) -> None:
        if hasattr(self, "journal"):
            assert {
                showing: given.label
                for showing, given in self.journal.given.items()
            } == self.labels
            assert self.journal.n_done == len(self.labels)
            assert self.journal.labelled == self.sequence

    @invariant()
    def what_comes_is_new_and_complete(self) -> None:
        if hasattr(self, "journal"):
            coming = self.journal.upcoming(200)
            assert len(coming) == len(set(coming))
            assert self.labels.keys().isdisjoint(coming)
            firsts = {
                showing
                for showing in self.journal.order
                if showing.showing == 1
            }
            assert firsts - self.labels.keys() <= set(coming)
            assert self.journal.is_finished() == (not coming)

    def teardown(self) -> None:
        if not hasattr(self, "journal"):
            return
        while coming := self.journal.upcoming(1):
            self.label_as_offered(coming[0], C)
        left = [
            showing
            for showing in self.journal.order
            if showing not in self.labels
        ]
        assert all(showing.showing == 2 for showing in left)
        for showing in left:
            after_first = (
                len(self.sequence)
                - 1
                - self.sequence.index(Showing(showing.item, 1))
            )
            assert after_first < GAP, "a repeat that was due is never shown"


TestAnnotating = Annotating.TestCase
TestAnnotating.settings = examples(80, stateful_step_count=40)
