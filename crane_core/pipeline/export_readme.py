"""The README.txt of an export: what each file and column is, and what is withheld until the lock."""

from __future__ import annotations

from collections.abc import Collection

from crane_core.annotation.pace import IDLE_CAP_S
from crane_core.annotation.plan import Plan
from crane_core.annotation.reasons import ADJUDICATION_REASONS, REASONS
from crane_core.domain import CampaignLock

COLUMN_WORDS = {
    "campaign": "name of the campaign",
    "annotator": "who was to label",
    "position": "place in the annotator's own order, from 1",
    "item": "the campaign's own name of the verdict that is judged",
    "showing": "1, or 2 where the item came back unannounced",
    "is_repeat": "1 for the second showing; leave these out of every estimate but self-agreement",
    "label": "correct, partial or wrong; empty where not labelled (yet)",
    "reason": "code of why it is not correct, see below",
    "note": "the annotator's own words",
    "flagged": "1 where the annotator asked for another look",
    "guideline": "version of the guideline that the annotator read; its text is guideline-VERSION.md",
    "shown_at": "when the item was painted, UTC",
    "first_action_at": "when the annotator first did something, UTC",
    "submitted_at": "when the label in force was given, UTC",
    "seconds": f"time in sight over all times it was labelled, pauses counted up to {IDLE_CAP_S:.0f} s",
    "stratum": "stratum that the item was drawn from",
    "inclusion_probability": "of the item in the sample; its inverse is the weight of an estimate",
    "benchmark": "benchmark of the case",
    "case": "the case; items of one case are not independent",
    "instance": "the notebook that the verdict is about",
    "detector": "whose verdict it is",
    "setting": "what the detector was shown",
    "experiment": "release or job that the verdict belongs to",
    "final_label": "the one label of the item; empty where it is open",
    "provenance": "unanimous, adjudicated, single, open or unlabelled",
    "why": "who adjudicated, and the reason",
}

_HIDDEN = """
NOT LOCKED YET
The campaign is blind and still open, so nothing here tells which detector, input or case an item is: the columns from
stratum to why are empty. (Stratum and inclusion probability, too: strata of published sizes can be told by them.)
An item goes by another name for each person, in labels.csv and acts.jsonl alike, so that no annotator finds what
somebody else said of it; after the lock it has one name. plan.json lists no items, no seed and no query; its
member full_plan_sha256 is the sha256 of the plan.json that an export after the lock will hold, so that both can be
compared then: sha256sum plan.json.
"""
_OPEN = """
plan.json is the whole plan, byte for byte as it was stored when the campaign was created; sha256sum plan.json gives
the full_plan_sha256 of every export before the lock. `campaign create --from plan.json` draws the campaign again.
"""
_TAIL = """
labels.csv is UTF-8 as RFC 4180 has it; one row per annotator, item and showing, in the annotator's order. A text that
begins with one of = + - @ (also in full width), a tab, a line break or an apostrophe has one apostrophe in front, so
that no spreadsheet takes it for a formula; take one away to have what was written. acts.jsonl holds texts as they are:
every act in the order of writing, labels that were undone too, annotators first, then adjudications.
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
