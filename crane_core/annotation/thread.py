"""A thread about one item: the flag of an annotator, and the messages between the annotator and the lead.

Refuses to know labels: who reads a thread sees none of them.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.domain import Annotation, CampaignMessage, MessageAction, Side


class ThreadState(StrEnum):
    """Who has to act: OPEN waits for the lead, ANSWERED for the annotator."""

    OPEN = "open"
    ANSWERED = "answered"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class Thread:
    """`flag`: the act that flagged the item, if it is flagged now. `messages`: oldest first."""

    annotator: str
    showing: Showing
    flag: Annotation | None
    note: str
    messages: tuple[CampaignMessage, ...]

    @property
    def state(self) -> ThreadState:
        """RESOLVED if that came last and the item was not flagged again since; else the last writer waits."""
        if not self.messages:
            return ThreadState.OPEN
        last = self.messages[-1]
        if last.action is not MessageAction.RESOLVE:
            is_lead = last.side is Side.LEAD
            return ThreadState.ANSWERED if is_lead else ThreadState.OPEN
        is_flagged_again = (
            self.flag is not None and self.flag.event != last.flag
        )
        return ThreadState.OPEN if is_flagged_again else ThreadState.RESOLVED

    @property
    def flagged_at(self) -> str | None:
        """When the item was flagged, by the server's clock where that was kept."""
        return (
            (self.flag.received_at or self.flag.submitted_at)
            if self.flag
            else None
        )

    @property
    def since(self) -> str:
        """When something last happened in it, ISO 8601."""
        times = [message.written_at for message in self.messages]
        if self.flagged_at:
            times.append(self.flagged_at)
        return max(times)


def threads(
    annotator: str, journal: Journal, messages: Iterable[CampaignMessage]
) -> dict[Showing, Thread]:
    """The threads of one annotator: flagged items and those with messages, in the annotator's order.

    messages: of the campaign, in the order of writing; those of other annotators and of other items are left out.
    """
    written: dict[Showing, list[CampaignMessage]] = defaultdict(list)
    for message in messages:
        if message.annotator == annotator:
            written[Showing(message.item, message.showing)].append(message)
    return {
        one: Thread(
            annotator,
            one,
            journal.flags.get(one),
            journal.notes.get(one, ""),
            tuple(written.get(one, ())),
        )
        for one in journal.order
        if one in written or one in journal.flags
    }
