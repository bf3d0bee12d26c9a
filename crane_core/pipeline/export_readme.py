"""The README.txt of an export: what each file and column is, and what is withheld until the lock."""

from __future__ import annotations

from collections.abc import Collection

from crane_core.annotation.pace import IDLE_CAP_S
from crane_core.annotation.plan import Plan
from crane_core.annotation.reasons import ADJUDICATION_REASONS, REASONS
from crane_core.domain import CampaignLock

COLUMN_WORDS = {
    "campaign": "name of the campaign",
    "annotator": "the annotator of this row",
    "position": "place in the annotator's own order, from 1",
    "item": "name of the judged verdict in this campaign",
    "showing": "1, or 2 for a hidden repeat of the item",
    "is_repeat": "1 for the second showing; use these rows only for self-agreement",
    "label": "correct, partial or wrong; empty where not labelled (yet)",
    "reason": "code of the reason for partial or wrong, see below",
    "note": "the annotator's own words",
    "flagged": "1 if the annotator flagged the item",
    "guideline": "version of the guideline that the annotator read; its text is guideline-VERSION.md",
    "shown_at": "when the item was shown, UTC",
    "first_action_at": "when the annotator first acted, UTC",
    "submitted_at": "when the current label was given, UTC",
    "seconds": f"time on screen over all labellings, pauses counted up to {IDLE_CAP_S:.0f} s",
    "stratum": "stratum that the item was drawn from",
    "inclusion_probability": "inclusion probability of the item; its inverse is the weight in estimates",
    "benchmark": "benchmark of the case",
    "case": "the case; items of one case are not independent",
    "instance": "notebook of the verdict",
    "detector": "detector of the verdict",
    "setting": "input of the detector",
    "experiment": "release or job of the verdict",
    "final_label": "final label of the item; empty while it is open",
    "provenance": "unanimous, adjudicated, single, open or unlabelled",
    "why": "who adjudicated, and the reason",
}

_HIDDEN = """
NOT LOCKED YET
The campaign is blind and still open, so this export hides detector, input and case of each item: the columns from
stratum to why are empty. (Stratum and inclusion probability too, because published stratum sizes would reveal them.)
An item has a different name for each person, in labels.csv and in acts.jsonl, so that no annotator finds the
labels of others; after the lock it has one name. plan.json lists no items, no seed and no query; its
member full_plan_sha256 is the sha256 of the plan.json that an export after the lock will hold, so that the two can be
compared: sha256sum plan.json.
"""
_OPEN = """
plan.json is the whole plan, byte for byte as stored when the campaign was created; sha256sum plan.json prints
the full_plan_sha256 of every export before the lock. `campaign create --from plan.json` draws the campaign again.
"""
_TAIL = """
labels.csv is UTF-8 and follows RFC 4180; one row per annotator, item and showing, in the annotator's order. A text that
begins with one of = + - @ (also in full width), a tab, a line break or an apostrophe has one apostrophe in front, so
that no spreadsheet reads it as a formula; remove it to get the original text. A number such as -1.5 has none.
acts.jsonl holds the original texts: every action in the order of writing, including undone labels, annotators first,
then adjudications.
"""


def readme(plan: Plan, lock: CampaignLock | None, *, hidden: bool, lost: Collection[str] = ()) -> str:
    """The text. `hidden`: the campaign is blind and not locked. `lost`: guidelines of which no text was stored."""
    state = f"Locked by {lock.locked_by} at {lock.locked_at}." if lock else "Open: labels may still change."
    width = max(map(len, COLUMN_WORDS))
    columns = "\n".join(f"  {name:<{width}}  {words}" for name, words in COLUMN_WORDS.items())
    return (
        f"Campaign {plan.campaign}: {plan.title}\n{state} Guideline {plan.guideline}.\n"
        f"{_HIDDEN if hidden else _OPEN}{_TAIL}{_lost(lost)}\nCOLUMNS OF labels.csv\n{columns}\n"
        f"\nREASONS OF ANNOTATORS\n{_codes(REASONS)}\n\nREASONS OF ADJUDICATORS\n{_codes(ADJUDICATION_REASONS)}\n"
    )


def _lost(versions: Collection[str]) -> str:
    return f"\nThe text of guideline {', '.join(sorted(versions))} was not stored.\n" if versions else ""


def _codes(reasons: dict[str, str]) -> str:
    return "\n".join(f"  {code}  {words}" for code, words in reasons.items())
