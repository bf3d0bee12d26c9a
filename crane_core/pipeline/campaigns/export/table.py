"""The labels of a campaign as rows: one per annotator, item and showing, labelled or not, with their outcome.

From the ledger alone; texts are handed in. Before the lock of a blind campaign a row tells neither detector, setting
nor case, nor how two annotators labelled one item: see COLUMNS_AFTER_LOCK and `blind_plan`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from crane_core import domain, ledger
from crane_core.annotation.guideline import GuidelineVersion
from crane_core.annotation.journal import Journal, LabelInForce, journal_for
from crane_core.annotation.order import Showing
from crane_core.annotation.outcome import Final
from crane_core.annotation.plan import Item, Plan
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns import blind_plan, campaigns, gold_scores
from crane_core.pipeline.campaigns.guideline import guideline_versions
from crane_core.pipeline.campaigns.item_texts import ItemTexts
from crane_core.pipeline.campaigns.label_frame import final_outcomes
from crane_core.pipeline.campaigns.threads import messages_of
from crane_core.pipeline.places import DataFolder

COLUMNS = (
    "campaign", "annotator", "position", "item", "showing", "is_repeat", "label", "reason", "note", "flagged",
    "guideline", "shown_at", "first_action_at", "submitted_at", "received_at", "seconds", "source",
)  # fmt: skip
COLUMNS_AFTER_LOCK = (
    "stratum", "inclusion_probability", "benchmark", "case", "instance", "detector", "setting", "experiment",
    "final_label", "provenance", "why", "decided_by", "decision_reason", "decision_note",
)  # fmt: skip
"""Empty before a blind campaign is locked; stratum and probability too, because published stratum sizes reveal them."""
TEXT_COLUMNS = ItemTexts._fields
"""Only with texts."""

Row = dict[str, Any]
Texts = Mapping[str, ItemTexts]
Files = dict[str, Callable[[], Iterator[bytes]]]
"""Name to content of each file of an export, in pieces."""


class LabelForm(NamedTuple):
    """One way to write a campaign for other tools: its name, what it holds, and the files of a snapshot."""

    name: str
    about: str
    files: Callable[[LedgerSnapshot], Files]


class LedgerSnapshot(NamedTuple):
    """What the ledger held when the export began; `finals` is None while the campaign hides what it labels.

    texts: by item, None without texts.
    """

    plan: Plan
    plan_text: str
    lock: domain.CampaignLock | None
    acts: dict[str, list[domain.Annotation]]
    decisions: list[domain.Annotation]
    in_force: dict[str, domain.Annotation]
    finals: dict[str, Final] | None
    guidelines: tuple[GuidelineVersion, ...]
    messages: list[domain.CampaignMessage]
    gold: list[tuple[object, ...]]
    texts: Texts | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of labels.csv: of every row, those after the lock, and the texts if they were requested."""
        return (
            *COLUMNS,
            *COLUMNS_AFTER_LOCK,
            *(TEXT_COLUMNS if self.texts is not None else ()),
        )

    def shown_name(self, person: str, item: str) -> str:
        """The name of an item in one person's rows: another for each person until the lock."""
        return (
            item
            if self.finals is not None
            else blind_plan.cover_name(self.plan, person, item)
        )


def refuse_revealing(taken: LedgerSnapshot) -> None:
    """Raise CampaignError if texts would tell what the campaign hides."""
    if taken.finals is None:
        raise CampaignError(
            f"{taken.plan.campaign!r} is blind and not locked: texts would tell which rows of two people are one item.",
            remedy="Lock it first, or export without --with-texts.",
        )


def snapshot(folder: DataFolder, campaign: str) -> LedgerSnapshot:
    """What the ledger holds now. Raises CampaignError if there is no such campaign."""
    plan, lock = campaigns.kept_campaign(folder, campaign)
    hidden = plan.blind and lock is None
    records = ledger.tail(campaigns.campaign_file(folder, campaign)).records
    # Overruled decisions too: the last of an item is among `in_force`.
    decisions = sorted(
        campaigns.decision_folder(folder, campaign).glob("*.jsonl")
    )
    return LedgerSnapshot(
        plan,
        next(
            record.plan
            for record in records
            if isinstance(record, domain.Campaign)
        ),
        lock,
        {
            annotator: campaigns.acts_of(folder, plan, annotator)
            for annotator in plan.annotators
        },
        [act for file in decisions for act in campaigns.annotations_in(file)],
        campaigns.decisions_of(folder, plan),
        None if hidden else final_outcomes(folder, plan),
        guideline_versions(folder, plan),
        messages_of(folder, campaign),
        list(gold_scores.gold_rows(folder, plan)),
    )


def rows(taken: LedgerSnapshot) -> Iterator[Row]:
    """A row per annotator and showing, in the annotator's order; None if a cell is empty.

    Gold items look like the others while the campaign hides what it labels; then they have a separate table.
    """
    of_items = {item.item: _of_item(taken, item) for item in taken.plan.items}
    if taken.finals is None:
        of_items |= {
            name: dict.fromkeys(COLUMNS_AFTER_LOCK)
            for name in taken.plan.gold_items
        }
    for annotator, acts in taken.acts.items():
        journal = journal_for(taken.plan, annotator)
        journal.take(acts)
        timed = {
            (act.item, act.showing, act.sequence): act
            for act in acts
            if act.action is domain.AnnotationAction.LABEL
        }
        for position, showing in enumerate(journal.order, start=1):
            # Gold items, which have a table of their labels after the lock.
            if showing.item not in of_items:
                continue
            given = journal.given.get(showing)
            act = (
                timed[showing.item, showing.showing, given.sequence]
                if given
                else None
            )
            known: Row = {
                "campaign": taken.plan.campaign,
                "annotator": annotator,
                "position": position,
                "item": taken.shown_name(annotator, showing.item),
                "showing": showing.showing,
                "is_repeat": int(showing.showing > 1),
            }
            yield (
                known
                | _given(journal, showing, given, act)
                | of_items[showing.item]
            )


def _given(
    journal: Journal,
    showing: Showing,
    given: LabelInForce | None,
    act: domain.Annotation | None,
) -> Row:
    said: Row = dict.fromkeys(COLUMNS[6:])
    said |= {
        "note": journal.notes.get(showing),
        "flagged": int(showing in journal.flags),
    }
    if given is None or act is None:
        return said
    return said | {
        "label": str(given.label),
        "reason": given.reason,
        "guideline": given.guideline,
        "shown_at": act.shown_at,
        "first_action_at": act.first_action_at,
        "submitted_at": given.submitted_at,
        "received_at": act.received_at,
        # The time of an imported label is not known here.
        "seconds": round(given.seconds, 3) if given.source is None else None,
        "source": given.source,
    }


def _of_item(taken: LedgerSnapshot, item: Item) -> Row:
    """The members of COLUMNS_AFTER_LOCK, and the texts."""
    if taken.finals is None:
        return dict.fromkeys(COLUMNS_AFTER_LOCK)
    verdict, final, decision = (
        item.verdict,
        taken.finals[item.item],
        taken.in_force.get(item.item),
    )
    known: Row = {
        "stratum": taken.plan.strata[item.stratum].name,
        "inclusion_probability": item.inclusion_probability,
        "benchmark": verdict.benchmark,
        "case": verdict.case_id,
        "instance": verdict.instance_id,
        "detector": verdict.detector,
        "setting": str(verdict.setting),
        "experiment": verdict.experiment,
        "final_label": str(final.label) if final.label else None,
        "provenance": str(final.provenance),
        "why": final.why,
        "decided_by": decision.annotator if decision else None,
        "decision_reason": decision.reason if decision else None,
        "decision_note": decision.note if decision else None,
    }
    return known | (
        taken.texts[item.item]._asdict() if taken.texts is not None else {}
    )
