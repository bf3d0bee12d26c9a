"""Threads about flagged items, kept in the ledger: an annotator asks, the lead answers, one of them resolves.

ledger/messages/<campaign>.jsonl    every message, in the order of writing

A thread is of one annotator. Annotators get their own (`LabelStore.threads`), the lead all (`all_threads`), and no
label goes with it.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from crane_core import ledger
from crane_core.annotation.act import MAX_NOTE
from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.annotation.thread import Thread, ThreadState, threads
from crane_core.domain import CampaignMessage, MessageAction, Side
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns import announced, campaigns
from crane_core.pipeline.places import DataFolder

MAX_MESSAGE = MAX_NOTE
"""Characters of a message."""
MOST_OF_A_NAME = 80
"""Characters of the name of the person who writes."""
_TURN = {ThreadState.OPEN: 0, ThreadState.ANSWERED: 1, ThreadState.RESOLVED: 2}


class About(NamedTuple):
    """Which thread: whose, and about which showing of an item."""

    annotator: str
    showing: Showing


class Queue(NamedTuple):
    """Threads for one reader. `n_withheld` wait until the reader, who labels these items too, has done so."""

    threads: tuple[Thread, ...]
    n_withheld: int


def message_file(folder: DataFolder, campaign: str) -> Path:
    """The ledger file of a campaign's messages."""
    return folder.ledger / "messages" / f"{campaign}.jsonl"


def messages_of(folder: DataFolder, campaign: str) -> list[CampaignMessage]:
    """Every message of a campaign, in the order of writing."""
    file = message_file(folder, campaign)
    records = ledger.tail(file).records if file.is_file() else []
    return [record for record in records if isinstance(record, CampaignMessage)]


def all_threads(folder: DataFolder, plan: Plan, *, reader: str = "") -> Queue:
    """Every annotator's threads, open ones first, then answered and resolved ones, in each the latest first.

    reader: the name of the lead. Notes about an item that the reader labels too are withheld until that is done.
    """
    messages = messages_of(folder, plan.campaign)
    journals = campaigns.journals_of(folder, plan)
    found: list[Thread] = []
    for name, journal in journals.items():
        found += threads(name, journal, messages).values()
    # A lead who labels too must not read others' doubts about an item before labelling it.
    owed = _owed(journals[reader]) if reader in journals else set()
    shown = [
        one
        for one in found
        if one.annotator == reader or one.showing.item not in owed
    ]
    shown.sort(key=lambda one: one.since, reverse=True)
    shown.sort(key=lambda one: _TURN[one.state])
    return Queue(tuple(shown), len(found) - len(shown))


def _owed(journal: Journal) -> set[str]:
    """The items that an annotator still has to label."""
    return {
        s.item
        for s in journal.order
        if s.showing == 1 and s not in journal.given
    }


def write_message(
    folder: DataFolder,
    campaign: str,
    about: About,
    text: str,
    *,
    by: str,
    side: Side,
) -> None:
    """Add a message to a thread. Raises CampaignError; then nothing was stored.

    The caller has checked the role: `by` is the annotator of the thread, or a lead.
    """
    words = text.strip().encode("utf-8", "replace").decode("utf-8")
    if not words or len(words) > MAX_MESSAGE:
        raise CampaignError(
            f"A message has 1 to {MAX_MESSAGE:,} characters; this one has {len(words):,}.",
            remedy="Write it shorter." if words else "Write something first.",
        )
    _keep(
        folder,
        campaign,
        about,
        MessageAction.WRITE,
        by=by,
        side=side,
        text=words,
    )


def resolve(
    folder: DataFolder, campaign: str, about: About, *, by: str, side: Side
) -> None:
    """End a thread; a later message or flag opens it again. Raises CampaignError; then nothing was stored."""
    _keep(folder, campaign, about, MessageAction.RESOLVE, by=by, side=side)


def _keep(
    folder: DataFolder,
    campaign: str,
    about: About,
    action: MessageAction,
    *,
    by: str,
    side: Side,
    text: str | None = None,
) -> None:
    plan, lock = campaigns.kept_campaign(folder, campaign)
    if lock is not None:
        raise CampaignError(
            f"{campaign} was locked by {lock.locked_by} at {lock.locked_at}; it takes no more messages.",
            remedy="Have items labelled again, which opens it.",
        )
    writer = by.strip()
    if about.showing not in plan.orders.get(about.annotator, ()):
        raise CampaignError(
            f"{about.annotator} has no such item in {campaign}.",
            remedy="Open the item from the list of the campaign.",
        )
    if (
        not writer
        or len(writer) > MOST_OF_A_NAME
        or (side is Side.ANNOTATOR and writer != about.annotator)
    ):
        raise CampaignError(
            "A message needs the name of its writer: the annotator of the item, or a lead.",
            remedy=f"Give a name of up to {MOST_OF_A_NAME} characters.",
        )
    flag = campaigns.journal_of(folder, plan, about.annotator).flags.get(
        about.showing
    )
    message = CampaignMessage(
        campaign=campaign,
        event=uuid4().hex,
        annotator=about.annotator,
        item=about.showing.item,
        showing=about.showing.showing,
        action=action,
        side=side,
        written_by=writer,
        written_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        text=text,
        flag=flag.event if flag else None,
    )
    ledger.append(message_file(folder, campaign), message)
    if side is Side.LEAD:
        announced.announce_answer(folder, message)
