"""What people are notified of in a campaign: its last label, and the lead's answers to flags.

A message leaves this machine and may be read by annotators who have not labelled yet: it names the campaign and who
flagged, and neither an item nor a label nor what was written.
"""

from collections.abc import Callable

from crane_core.annotation.journal import Journal
from crane_core.annotation.plan import Plan
from crane_core.annotation.redeal import is_main_open, unassigned
from crane_core.domain import CampaignMessage, MessageAction
from crane_core.pipeline.notifications import announce, channels, sending
from crane_core.pipeline.places import DataFolder


def announce_answer(folder: DataFolder, message: CampaignMessage) -> None:
    """Tell the annotator that a lead answered or resolved a flag."""
    is_resolved = message.action is MessageAction.RESOLVE
    how = "resolved" if is_resolved else "answered"
    announce.announce(
        folder,
        announce.Event(
            key=f"flag {message.event}",
            kinds=(channels.EventKind.FLAG_ANSWERED,),
            message=sending.Message(
                f"Crane Workbench: flag {how}",
                f"A lead {how} the flag of {message.annotator} on an item of the campaign {message.campaign}.",
            ),
            person=message.annotator,
        ),
    )


def announce_if_labelled(
    folder: DataFolder, plan: Plan, journal_of: Callable[[str], Journal]
) -> None:
    """Tell that a campaign has all its labels, if it does. journal_of: the state of an annotator now."""

    def find() -> announce.Event | None:
        if not is_main_open(plan) or unassigned(plan):
            return None
        # The first annotator with an item left ends the search.
        is_done = all(is_labelled(journal_of(name)) for name in plan.annotators)
        return _done(plan) if is_done else None

    announce.announce_found(folder, find)


def is_labelled(journal: Journal) -> bool:
    """Whether an annotator has labelled every item that they were dealt; hidden repeats may be to come."""
    # From the end, where the items to come are: most annotators still have one there.
    return all(
        showing in journal.given
        for showing in reversed(journal.order)
        if showing.showing == 1
    )


def _done(plan: Plan) -> announce.Event:
    # Another round may bring new items, which make it a campaign that can be done once more.
    return announce.Event(
        key=f"campaign {plan.campaign}, round {len(plan.rounds)}",
        kinds=(channels.EventKind.CAMPAIGN_DONE,),
        message=sending.Message(
            "Crane Workbench: campaign done",
            f"Every item of the campaign {plan.campaign} is labelled. Its lead can decide what is open, and lock it.",
        ),
    )
