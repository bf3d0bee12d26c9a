"""Threads: whose turn it is, and that nobody finds another's."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.thread import ThreadState, threads
from crane_core.domain import (
    Annotation,
    AnnotationAction,
    CampaignMessage,
    MessageAction,
    Side,
)

ITEM = Showing("a" * 12, 1)
OTHER = Showing("b" * 12, 1)
TIME = "2026-01-02T03:04:05+00:00"
ASKED = CampaignMessage(
    "pilot",
    "m-1",
    "ana",
    ITEM.item,
    1,
    MessageAction.WRITE,
    Side.ANNOTATOR,
    "ana",
    TIME,
    "Two causes?",
)
ANSWERED = replace(
    ASKED, event="m-2", side=Side.LEAD, written_by="lea", text="The first."
)
RESOLVED = replace(
    ANSWERED, event="m-3", action=MessageAction.RESOLVE, text=None, flag="f-1"
)


def journal(*flags: str) -> Journal:
    """ana's, with the item flagged by these events, each time taken back before the next."""
    made = Journal((ITEM, OTHER))
    for flag in flags:
        for action in (AnnotationAction.UNFLAG, AnnotationAction.FLAG):
            event = flag if action is AnnotationAction.FLAG else f"not-{flag}"
            made.take(
                [
                    Annotation(
                        "pilot",
                        "ana",
                        event,
                        made.n_acts + 1,
                        action,
                        ITEM.item,
                        1,
                        "g",
                        TIME,
                    )
                ]
            )
    return made


def state(made: Journal, *messages: CampaignMessage) -> ThreadState:
    return threads("ana", made, messages)[ITEM].state


def test_a_thread_waits_for_the_side_that_did_not_write_last() -> None:
    flagged = journal("f-1")
    assert state(flagged) is ThreadState.OPEN
    assert state(flagged, ANSWERED) is ThreadState.ANSWERED
    assert state(flagged, ANSWERED, ASKED) is ThreadState.OPEN
    assert state(journal(), ANSWERED) is ThreadState.ANSWERED


def test_what_is_resolved_opens_again_with_a_message_or_another_flag() -> None:
    assert state(journal("f-1"), ANSWERED, RESOLVED) is ThreadState.RESOLVED
    assert state(journal(), RESOLVED) is ThreadState.RESOLVED
    assert state(journal("f-1"), RESOLVED, ASKED) is ThreadState.OPEN
    assert state(journal("f-1", "f-2"), RESOLVED) is ThreadState.OPEN


def test_the_item_is_flagged_by_the_first_of_two_flags() -> None:
    made = journal("f-1")
    made.take([replace(made.flags[ITEM], event="f-9", sequence=9)])
    assert made.flags[ITEM].event == "f-1"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ana", "ben"]),
            st.sampled_from([ITEM, OTHER]),
            st.sampled_from(Side),
        )
    )
)
def test_a_thread_holds_the_messages_of_its_annotator_and_item_alone(
    written: list[tuple[str, Showing, Side]],
) -> None:
    messages = [
        replace(
            ASKED, event=str(n), annotator=name, item=showing.item, side=side
        )
        for n, (name, showing, side) in enumerate(written)
    ]
    found = threads("ana", journal(), messages)
    assert {
        s: [int(m.event) for m in thread.messages]
        for s, thread in found.items()
    } == {
        one: places
        for one in (ITEM, OTHER)
        if (
            places := [
                n
                for n, (name, showing, _) in enumerate(written)
                if (name, showing) == ("ana", one)
            ]
        )
    }
