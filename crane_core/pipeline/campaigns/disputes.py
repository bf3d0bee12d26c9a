"""The items for an adjudicator: those whose labels differ, and flagged ones.

Every face that counts disagreements, flags or decisions counts what these functions return.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.annotation.thread import ThreadState, threads
from crane_core.domain import Annotation, CampaignMessage
from crane_core.pipeline.campaigns.campaigns import decisions_of, journals_of
from crane_core.pipeline.campaigns.threads import messages_of
from crane_core.pipeline.places import DataFolder


class GivenLabel(NamedTuple):
    """What one annotator left on an item; `label` is None if they only flagged or noted it."""

    annotator: str
    label: str | None
    reason: str | None
    note: str
    flagged: bool


class Dispute(NamedTuple):
    """An item to decide or decided. `differs`: its labels differ; else it was flagged, or was decided before."""

    item: str
    differs: bool
    said: tuple[GivenLabel, ...]
    decision: Annotation | None


def disputes(folder: DataFolder, plan: Plan) -> list[Dispute]:
    """The same as `disputes_of`, from the ledger."""
    journals = journals_of(folder, plan)
    messages = messages_of(folder, plan.campaign)
    return disputes_of(
        plan,
        journals,
        decisions_of(folder, plan),
        flagged_items(journals, messages),
    )


def disputes_of(
    plan: Plan,
    journals: Mapping[str, Journal],
    decisions: Mapping[str, Annotation],
    flagged: Mapping[str, Sequence[str]],
) -> list[Dispute]:
    """Items whose labels differ, then flagged and decided ones, each in the order of their names: it reveals nothing.

    A flagged item comes up when all who label it have, so that no annotator who also decides sees a label before
    giving their own. flagged: see `flagged_items`.
    """
    asked = {
        name: {showing.item for showing in order}
        for name, order in plan.orders.items()
    }
    # Nothing can be said of most items of a campaign that has only begun.
    touched = {
        showing.item
        for journal in journals.values()
        for showing in journal.given
    } | {*flagged, *decisions}
    found = []
    for item in sorted(e.item for e in plan.items if e.item in touched):
        said = tuple(
            _said(name, journal, item, flagged=name in flagged.get(item, ()))
            for name, journal in journals.items()
            if item in asked[name]
        )
        labels = [one.label for one in said if one.label is not None]
        differs = len(set(labels)) > 1
        is_complete = len(labels) == len(said)
        asks = is_complete and item in flagged
        if differs or asks or item in decisions:
            found.append(Dispute(item, differs, said, decisions.get(item)))
    return sorted(found, key=lambda entry: not entry.differs)


def flagged_items(
    journals: Mapping[str, Journal], messages: Sequence[CampaignMessage]
) -> dict[str, tuple[str, ...]]:
    """Item, of gold too, to who has it flagged now.

    A flag whose thread was resolved asks for nothing any more, until the item is flagged again.
    """
    found: dict[str, list[str]] = {}
    for name, journal in journals.items():
        for showing, thread in threads(name, journal, messages).items():
            is_flagged = thread.flag is not None
            if is_flagged and thread.state is not ThreadState.RESOLVED:
                found.setdefault(showing.item, []).append(name)
    # Both showings of an item may be flagged; it is one item.
    return {item: tuple(dict.fromkeys(names)) for item, names in found.items()}


def undecided(found: Sequence[Dispute]) -> list[Dispute]:
    """Those that wait for a decision."""
    return [entry for entry in found if entry.decision is None]


def _said(
    annotator: str, journal: Journal, item: str, *, flagged: bool
) -> GivenLabel:
    """First showing's label; notes of both showings."""
    both = [Showing(item, 1), Showing(item, 2)]
    given = journal.given.get(both[0])
    notes = [note for showing in both if (note := journal.notes.get(showing))]
    return GivenLabel(
        annotator,
        given.label if given else None,
        given.reason if given else None,
        "\n".join(notes),
        flagged,
    )
