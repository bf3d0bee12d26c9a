"""What an annotator sees after labelling a gold item, where the plan says so. All of it is escaped."""

from __future__ import annotations

from html import escape
from typing import Any

from crane_core.annotation.journal import Journal
from crane_core.annotation.plan import Plan
from crane_core.pipeline.campaigns.desk_names import DeskNames


def told_of_gold(
    plan: Plan, journal: Journal, names: DeskNames
) -> dict[str, Any] | None:
    """About the last label, if it is of a gold item; nothing in a plan without feedback."""
    last = journal.undoable()[:1] if plan.gold_feedback else []
    entry = next((one for one in plan.gold if last and one.item == last[0].item), None)
    if entry is None:
        return None
    said = str(journal.given[last[0]].label)
    right = said == entry.label
    head = f"The previous item had a known label: {escape(plan.labels.of(entry.label).words)}."
    yours = (
        "You said the same."
        if right
        else f"You said {escape(plan.labels.of(said).words)}."
    )
    return {
        "id": names.of(last[0]),
        "right": right,
        "html": f"<b>{head}</b> {yours} {escape(entry.why)}",
    }
