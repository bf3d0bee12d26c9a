"""Journals: acts in, state out. Whatever is pressed, in however many tabs, nothing is lost, doubled or met too soon."""

from __future__ import annotations

import random
from collections.abc import Iterable
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
LABEL, UNDO, SKIP = AnnotationAction.LABEL, AnnotationAction.UNDO, AnnotationAction.SKIP
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
        what = (
            "pilot",
            "ana",
            f"event-{self.n:04}",
            self.n,
            action,
            showing.item,
            showing.showing,
            "g1",
            f"t{self.n}",
        )
        return Annotation(*what, label=label, **more)  # type: ignore[arg-type]


@pytest.fixture
def act() -> JournalTab:
    return JournalTab()


def order_of(n: int, share: float = 0.05, seed: str = "7/ana") -> tuple[Showing, ...]:
    return annotator_order([f"{i:012x}" for i in range(n)], seed=seed, share=share)


def journal(n: int = 5, *acts: Annotation, share: float = 0.0) -> Journal:
    made = Journal(order_of(n, share))
    made.take(acts)
    return made


def test_items_come_in_the_order_of_the_plan(act: JournalTab) -> None:
    made = journal(5)
    a, b, c, *_ = made.order
    assert made.upcoming(3) == [a, b, c]
    made.take([act(LABEL, a, C), act(LABEL, b, P, reason="b")])
    assert made.upcoming(99) == list(made.order[2:])
    assert (made.given[a].label, made.given[b].label, made.given[b].reason) == (
        C,
        P,
        "b",
    )
    assert (made.n_done, made.n_acts, made.is_finished()) == (2, 2, False)
    made.take(act(LABEL, showing, W) for showing in made.order[2:])
    assert made.is_finished()


def test_a_label_belongs_to_its_item_and_not_to_the_current_one(
    act: JournalTab,
) -> None:
    """Ten fast keys make ten labels, in whatever order they arrive."""
    made = journal(12)
    acts = [
        act(LABEL, showing, DIAGNOSIS_LABELS[i % 3])
        for i, showing in enumerate(made.order[:10])
    ]
    wanted = {
        showing: made_act.label
        for showing, made_act in zip(made.order, acts, strict=False)
    }
    random.Random(3).shuffle(acts)
    made.take(acts)
    assert {showing: given.label for showing, given in made.given.items()} == wanted


def test_an_event_counts_once(act: JournalTab) -> None:
    made = journal(5)
    first = act(LABEL, made.order[0], C, seconds=4.0)
    undo = act(UNDO, made.order[0])
    made.take([first, first, undo, first, undo])
    assert made.n_done == 0
    made.take([replace(first, label=W)])
    assert made.given == {}


def test_undone_items_come_back_first_and_the_last_undone_before_the_others(
    act: JournalTab,
) -> None:
    made = journal(6)
    a, b, c, d, e, f = made.order
    made.take([act(LABEL, a, C), act(LABEL, b, P), act(LABEL, c, W)])
    made.take([act(UNDO, c), act(UNDO, b)])
    assert made.upcoming(9) == [b, c, d, e, f]
    assert made.undoable() == [a]
    made.take([act(LABEL, b, W)])
    assert made.upcoming(9) == [c, d, e, f]


def test_undo_goes_twenty_steps_back_and_every_item_is_met_again_in_its_order(
    act: JournalTab,
) -> None:
    made = journal(30)
    made.take(act(LABEL, showing, C) for showing in made.order[:25])
    back = made.undoable()
    assert back == list(reversed(made.order[5:25]))
    assert len(back) == UNDO_DEPTH == 20
    for showing in back:
        assert made.undoable()[0] == showing
        made.take([act(UNDO, showing)])
    assert made.n_done == 5
    assert made.upcoming(30) == list(made.order[5:])


def test_skipped_items_come_last_in_the_order_of_skipping(act: JournalTab) -> None:
    made = journal(5)
    a, b, c, d, e = made.order
    made.take([act(SKIP, a), act(SKIP, b)])
    assert made.upcoming(9) == [c, d, e, a, b]
    made.take([act(SKIP, a)])
    assert made.upcoming(9) == [c, d, e, b, a]
    made.take([act(LABEL, b, C)])
    assert made.upcoming(9) == [c, d, e, a]
    assert made.skipped == [a]


def test_an_undone_item_that_is_skipped_comes_last(act: JournalTab) -> None:
    made = journal(4)
    a, b, c, d = made.order
    made.take([act(LABEL, a, C), act(UNDO, a), act(SKIP, a)])
    assert made.upcoming(9) == [b, c, d, a]


def test_the_time_of_a_label_that_was_taken_back_counts_for_the_next_one(
    act: JournalTab,
) -> None:
    made = journal(5)
    a, *_ = made.order
    made.take([act(LABEL, a, W, seconds=40.0), act(UNDO, a)])
    before = made.as_it_is()
    made.take(
        [act(LABEL, a, C, seconds=0.5), act(UNDO, a), act(LABEL, a, P, seconds=1.0)]
    )
    assert made.given[a].seconds == 41.5
    before.take([act(LABEL, a, C, seconds=2.0)])
    assert before.given[a].seconds == 42.0


def test_a_second_label_stands_for_the_first_and_its_time_is_added(
    act: JournalTab,
) -> None:
    made = journal(5)
    a, b, *_ = made.order
    made.take(
        [
            act(LABEL, a, W, reason="a", seconds=10.0),
            act(LABEL, b, C),
            act(LABEL, a, C, seconds=2.5),
        ]
    )
    assert (made.given[a].label, made.given[a].reason, made.given[a].seconds) == (
        C,
        None,
        12.5,
    )
    assert made.n_done == 2
    assert made.undoable() == [a, b]


def test_a_reason_goes_to_the_label_that_stands(act: JournalTab) -> None:
    made = journal(5)
    a, b, *_ = made.order
    made.take(
        [act(REASON, b, reason="c"), act(LABEL, a, W), act(REASON, a, reason="d")]
    )
    assert made.given[a].reason == "d"
    assert b not in made.given
    made.take([act(REASON, a)])
    assert made.given[a].reason is None


def test_what_came_too_late_changes_nothing(act: JournalTab) -> None:
    """Another tab labelled the item meanwhile; its skip, and an undo of what nobody labelled, say nothing more."""
    made = journal(5)
    a, b, *_ = made.order
    made.take([act(LABEL, a, C)])
    before = made.as_it_is()
    made.take([act(SKIP, a), act(UNDO, b), act(REASON, b, reason="a"), act(UNFLAG, a)])
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
    assert (made.given, made.notes, made.flags, made.skipped) == ({}, {}, {}, [])
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
    assert (repr(read), read.upcoming(9), read.undoable(), sorted(read.events)) == told


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
        assert {showing for showing in made.order if showing.showing == 1} <= set(came)
        assert min(gaps(came), default=GAP) >= GAP
        assert made.is_finished()


def test_the_queue_is_planned_as_if_each_were_labelled_in_turn(act: JournalTab) -> None:
    made = Journal(order_of(60, 0.1))
    queue = made.upcoming(99)
    assert queue == labelled_through(made, act)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 40))
@examples(60)
def test_folding_at_once_or_in_parts_gives_the_same_journal(seed: int, n: int) -> None:
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


@given(
    left=st.lists(st.integers(0, 9), max_size=25),
    right=st.lists(st.integers(0, 9), max_size=25),
    data=st.data(),
)
def test_two_tabs_never_count_an_item_twice(
    left: list[int], right: list[int], data: st.DataObject
) -> None:
    """Any interleaving of two tabs that label the same ten items is one label per item: the last that was new."""
    order, act = order_of(10, 0.0), JournalTab()
    tabs = [
        [
            act(LABEL, order[i], data.draw(st.sampled_from(DIAGNOSIS_LABELS)))
            for i in tab
        ]
        for tab in (left, right)
    ]
    woven = interleaved(tabs, data.draw(st.randoms(use_true_random=False)))
    made = Journal(order)
    made.take(woven)
    assert {showing: given.label for showing, given in made.given.items()} == {
        Showing(sent.item, 1): sent.label for sent in dict.fromkeys(woven)
    }
    assert made.n_done == len({*left, *right}) == len(made.labelled)


def interleaved(
    tabs: Iterable[list[Annotation]], chance: random.Random
) -> list[Annotation]:
    """All acts, those of a tab in their order; some are sent again, at once or later."""
    waiting = [list(tab) for tab in tabs if tab]
    woven: list[Annotation] = []
    while waiting:
        tab = chance.choice(waiting)
        woven.append(tab.pop(0))
        woven += chance.sample(woven, chance.randrange(2))
        waiting = [left for left in waiting if left]
    return woven


class Annotating(RuleBasedStateMachine):
    """Somebody labels, skips, goes back, in two tabs, one of which acts on what it saw a while ago."""

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
                assert self.journal.upcoming(1) == [back[0]] or back[0].showing == 2

    @rule(n=st.integers(1, 5))
    def skip(self, n: int) -> None:
        for _ in range(n):
            for showing in self.journal.upcoming(1):
                self.send(self.act(SKIP, showing))

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), word=st.sampled_from(DIAGNOSIS_LABELS))
    def label_again(self, data: st.DataObject, word: Label) -> None:
        if self.sequence:
            self.send(self.act(LABEL, data.draw(st.sampled_from(self.sequence)), word))

    @rule(data=st.data(), action=st.sampled_from([LABEL, UNDO, SKIP, REASON, FLAG]))
    def press_in_the_other_tab(
        self, data: st.DataObject, action: AnnotationAction
    ) -> None:
        """What is pressed there arrives later, when the item may have been labelled, undone or skipped here."""
        places = [*self.journal.upcoming(3), *self.journal.undoable()[:3]]
        if places:
            word = data.draw(st.sampled_from(DIAGNOSIS_LABELS))
            showing = data.draw(st.sampled_from(places))
            self.stale.append(
                self.act(action, showing, word if action is LABEL else None, reason="a")
            )

    @precondition(lambda self: self.stale)
    @rule(data=st.data())
    def arrive_late(self, data: st.DataObject) -> None:
        self.send(self.stale.pop(data.draw(st.integers(0, len(self.stale) - 1))))

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        before = repr(self.journal)
        self.journal.take(data.draw(st.lists(st.sampled_from(self.sent), max_size=5)))
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
                showing: given.label for showing, given in self.journal.given.items()
            } == self.labels
            assert self.journal.n_done == len(self.labels)
            assert self.journal.labelled == self.sequence

    @invariant()
    def what_comes_is_new_and_complete(self) -> None:
        if hasattr(self, "journal"):
            coming = self.journal.upcoming(200)
            assert len(coming) == len(set(coming))
            assert self.labels.keys().isdisjoint(coming)
            firsts = {showing for showing in self.journal.order if showing.showing == 1}
            assert firsts - self.labels.keys() <= set(coming)
            assert self.journal.is_finished() == (not coming)

    def teardown(self) -> None:
        if not hasattr(self, "journal"):
            return
        while coming := self.journal.upcoming(1):
            self.label_as_offered(coming[0], C)
        left = [showing for showing in self.journal.order if showing not in self.labels]
        assert all(showing.showing == 2 for showing in left)
        for showing in left:
            after_first = (
                len(self.sequence) - 1 - self.sequence.index(Showing(showing.item, 1))
            )
            assert after_first < GAP, "a repeat that was due is never shown"


TestAnnotating = Annotating.TestCase
TestAnnotating.settings = examples(80, stateful_step_count=40)
