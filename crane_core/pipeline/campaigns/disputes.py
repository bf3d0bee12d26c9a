"""The items for an adjudicator: those whose labels differ, and flagged ones."""

from __future__ import annotations

from typing import NamedTuple

from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.domain import Annotation
from crane_core.pipeline.campaigns.campaigns import decisions_of, journals_of
from crane_core.pipeline.places import DataFolder


class GivenLabel(NamedTuple):
    """What one annotator left on an item; `label` is None if they only flagged or noted it."""

    annotator: str
    label: str | None
    reason: str | None
    note: str
    flagged: bool


class Dispute(NamedTuple):
    """An item to decide. `differs`: its labels differ; else it was flagged."""

    item: str
    differs: bool
    said: tuple[GivenLabel, ...]
    decision: Annotation | None


def disputes(folder: DataFolder, plan: Plan) -> list[Dispute]:
    """Items whose labels differ, then those flagged, each in the order of their names, which reveals nothing.

    A flagged item comes up when all who label it have, so that no annotator who also decides sees a label before
    giving their own.
    """
    journals = journals_of(folder, plan)
    decisions = decisions_of(folder, plan)
    asked = {
        name: {showing.item for showing in order}
        for name, order in plan.orders.items()
    }
    found = []
    for item in sorted(entry.item for entry in plan.items):
        said = tuple(
            _said(name, journal, item)
            for name, journal in journals.items()
            if item in asked[name]
        )
        labels = [one.label for one in said if one.label is not None]
        differs = len(set(labels)) > 1
        is_complete = len(labels) == len(said)
        if differs or (is_complete and any(one.flagged for one in said)):
            found.append(Dispute(item, differs, said, decisions.get(item)))
    return sorted(found, key=lambda entry: not entry.differs)


def undecided(found: list[Dispute]) -> list[Dispute]:
    """The undecided ones."""
    return [entry for entry in found if entry.decision is None]


def _said(annotator: str, journal: Journal, item: str) -> GivenLabel:
    """First showing's label; notes and flags of both showings."""
    both = [Showing(item, 1), Showing(item, 2)]
    given = journal.given.get(both[0])
    notes = [note for showing in both if (note := journal.notes.get(showing))]
    return GivenLabel(
        annotator,
        given.label if given else None,
        given.reason if given else None,
        "\n".join(notes),
        any(showing in journal.flags for showing in both),
    )
