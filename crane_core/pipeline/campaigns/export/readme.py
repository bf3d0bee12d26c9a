"""The README.txt of an export: what each file and column is, and what is withheld until the lock."""

from collections.abc import Collection, Mapping, Sequence

from crane_core.annotation.guideline import GuidelineVersion
from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.outcome import ADJUDICATION_REASONS
from crane_core.annotation.pace import IDLE_CAP_S
from crane_core.annotation.plan import Plan
from crane_core.domain import CampaignLock
from crane_core.pipeline.campaigns.label_sets import standing_words

COLUMN_WORDS = {
    "campaign": "name of the campaign",
    "annotator": "the annotator of this row",
    "position": "place in the annotator's own order, from 1",
    "item": "name of the judged verdict in this campaign",
    "showing": "1, or 2 for a hidden repeat of the item",
    "is_repeat": "1 for the second showing; use these rows only for self-agreement",
    "label": "code of the label, see below; empty where not labelled (yet)",
    "reason": "code of the reason, see below",
    "note": "the annotator's own words",
    "flagged": "1 if the annotator flagged the item",
    "guideline": "version of the guideline that the annotator read; its text is guideline-VERSION.md",
    "shown_at": "when the item was shown, UTC",
    "first_action_at": "when the annotator first acted, UTC",
    "submitted_at": "when the current label was given, by the browser's clock, UTC",
    "received_at": "when it arrived, by the server's clock, UTC; empty for labels from before this was kept",
    "seconds": f"time on screen over all labellings, pauses counted up to {IDLE_CAP_S:.0f} s",
    "source": "file that the label was imported from; empty if it was given here",
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
    "decided_by": "who adjudicated",
    "decision_reason": "code of the adjudicator's reason, see below",
    "decision_note": "the adjudicator's own words",
    "ground_truth": "what the benchmark states about the crash",
    "message": "the error message",
    "target_code": "code of the target cell",
    "diagnosis": "the detector's text, as annotators saw it",
}

_HIDDEN = """
NOT LOCKED YET
The campaign is blind and still open, so this export hides detector, input and case of each item: the columns from
stratum to decision_note are empty. (Stratum and inclusion probability too, because published stratum sizes would
reveal them.)
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
labels.schema.json is the JSON Schema of one row, read as a record in which empty cells are null; acts.schema.json that
of one line of acts.jsonl. The texts that were labelled belong to the authors of notebooks and to models; they are only
in an export that was asked for them (--with-texts).
guidelines.csv lists every version of the guideline that was in force, oldest first, with the file of its text. Each
row of labels.csv and of acts.jsonl names the version that stood on the annotator's screen.
rounds.jsonl holds every change of who labels what, oldest first: the main round after calibration, people who joined or
left, items labelled again, second labels with the chance of each item that was drawn for; with the new orders. Orders
and chances are withheld until the lock.
messages.jsonl holds what annotators and leads wrote to each other about items, oldest first, with person and time.
gold.csv, in campaigns with gold items, holds those and the label that each annotator gave: the first one where
annotators were told, else the one in force. Their labels were known before, so they are in no other table, outcome or
estimate. Before the lock they stand in labels.csv like all others.
acts.jsonl holds the original texts: every action in the order of writing, including undone labels, annotators first,
then adjudications. Actions of one device count in the order of their number, which differs where one arrived late.
"""


def readme(
    plan: Plan,
    lock: CampaignLock | None,
    guidelines: Sequence[GuidelineVersion],
    *,
    hidden: bool,
    stamped: Mapping[str, int],
    lost: Collection[str] = (),
    columns: Sequence[str],
) -> str:
    """The text.

    guidelines: all that were in force, in order; stamped: how many acts were done under each. hidden: the campaign is
    blind and not locked. lost: guidelines of which no text was stored. columns: of labels.csv.
    """
    state = (
        f"Locked by {lock.locked_by} at {lock.locked_at}."
        if lock
        else "Open: labels may still change."
    )
    width = max(map(len, columns))
    told = "\n".join(
        f"  {name:<{width}}  {COLUMN_WORDS[name]}" for name in columns
    )
    return (
        f"Campaign {plan.campaign}: {plan.title}\n{state}\n"
        f"{_HIDDEN if hidden else _OPEN}{_TAIL}"
        f"\nVERSIONS OF THE GUIDELINE\n{_versions(guidelines, stamped)}{_lost(lost)}"
        f"\nCOLUMNS OF labels.csv\n{told}\n"
        f"\nLABELS\n{_labels(plan.labels)}\n"
        f"\nREASONS OF ANNOTATORS\n{_codes(plan.labels.reason_words) or '  none'}\n"
        f"\nREASONS OF ADJUDICATORS\n{_codes(ADJUDICATION_REASONS)}\n"
    )


def _versions(
    guidelines: Sequence[GuidelineVersion], stamped: Mapping[str, int]
) -> str:
    lines = []
    for entry in guidelines:
        by = f" by {entry.by}" if entry.by else ""
        n = stamped.get(entry.version, 0)
        acts = f"{n:,} action{'' if n == 1 else 's'}" if n else "no action"
        lines.append(
            f"  guideline-{entry.version}.md  in force from {entry.since}{by}; {acts} under this text\n"
        )
    return "".join(lines)


def _lost(versions: Collection[str]) -> str:
    return (
        f"  The text of guideline {', '.join(sorted(versions))} was not stored.\n"
        if versions
        else ""
    )


def _labels(labels: LabelSet) -> str:
    """Name and scale of the set, a line per label, and what they count for."""
    order = "from best to worst" if labels.is_ordinal else "without an order"
    lines = [f"  {labels.name}, {labels.scale}: the labels stand {order}."]
    for label in labels.labels:
        credit = (
            "no credit" if label.credit is None else f"credit {label.credit:g}"
        )
        reasons = (
            f"; reasons {', '.join(label.reasons)}" if label.reasons else ""
        )
        means = f"; {label.means}" if label.means else ""
        lines.append(f"  {label.code}  {label.words}: {credit}{reasons}{means}")
    return "\n".join(
        lines + [f"  {told}" for told in [standing_words(labels)] if told]
    )


def _codes(reasons: dict[str, str]) -> str:
    return "\n".join(f"  {code}  {words}" for code, words in reasons.items())
