"""A campaign as files for elsewhere: tidy labels, every act, the plan, and what the columns mean.

From the ledger alone, so it works at any time and beside the running app. Before the lock of a blind campaign nothing
in it tells detector, setting or case, nor what two annotators said of one item: see COLUMNS_AFTER_LOCK and
`blind_plan`.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from crane_core import ledger
from crane_core.annotation.guideline import version_of
from crane_core.annotation.journal import Given, Journal
from crane_core.annotation.outcome import Final
from crane_core.annotation.plan import Plan, Showing, guideline_of
from crane_core.domain import Annotation, AnnotationAction, Campaign, CampaignLock
from crane_core.pipeline.blind_plan import blind_plan_file, cover_name, plan_file
from crane_core.pipeline.campaigns import acts_of, campaign_file, decision_folder, kept_campaign
from crane_core.pipeline.export_readme import readme
from crane_core.pipeline.label_frame import final_outcomes
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.sheet_text import csv_text

COLUMNS = (
    "campaign", "annotator", "position", "item", "showing", "is_repeat", "label", "reason", "note", "flagged",
    "guideline", "shown_at", "first_action_at", "submitted_at", "seconds",
)  # fmt: skip
COLUMNS_AFTER_LOCK = (
    "stratum", "inclusion_probability", "benchmark", "case", "instance", "detector", "setting", "experiment",
    "final_label", "provenance", "why",
)  # fmt: skip
"""Empty before a blind campaign is locked; stratum and probability too, because published stratum sizes reveal them."""

Files = dict[str, Callable[[], Iterator[bytes]]]


class _Snapshot(NamedTuple):
    """What the ledger held when the export began; `finals` is None while the campaign hides what it labels."""

    plan: Plan
    plan_text: str
    lock: CampaignLock | None
    acts: dict[str, list[Annotation]]
    decisions: list[Annotation]
    finals: dict[str, Final] | None


def export_files(folder: DataFolder, campaign: str) -> Files:
    """Name to content of each file, in pieces. Raises CampaignError where there is no such campaign."""
    taken = _snapshot(folder, campaign)
    hidden = taken.finals is None
    plan = blind_plan_file(taken.plan, taken.plan_text) if hidden else plan_file(taken.plan_text)
    versions = _versions(taken)
    shown = guideline_of(taken.plan)
    texts = {version_of(shown): shown.encode()} if version_of(shown) in versions else {}
    told = readme(taken.plan, taken.lock, hidden=hidden, lost=versions - texts.keys())
    return {
        "README.txt": lambda: _whole(told.encode()),
        "labels.csv": lambda: _labels(taken),
        "acts.jsonl": lambda: _acts(taken),
        "plan.json": lambda: _whole(plan),
    } | {f"guideline-{version}.md": partial(_whole, text) for version, text in texts.items()}


def export_zip(folder: DataFolder, campaign: str) -> bytes:
    """The same files in one archive, under a folder of the campaign's name."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in export_files(folder, campaign).items():
            with archive.open(f"{campaign}/{name}", "w") as file:
                file.writelines(content())
    return stream.getvalue()


def _snapshot(folder: DataFolder, campaign: str) -> _Snapshot:
    plan, lock = kept_campaign(folder, campaign)
    records = ledger.tail(campaign_file(folder, campaign)).records
    text = next(record.plan for record in records if isinstance(record, Campaign))
    hidden = plan.blind and lock is None
    acts = {annotator: acts_of(folder, plan, annotator) for annotator in plan.annotators}
    decisions = _decisions(folder, campaign)
    return _Snapshot(plan, text, lock, acts, decisions, None if hidden else final_outcomes(folder, plan))


def _versions(taken: _Snapshot) -> set[str]:
    """The plan's version of the guideline and every one that somebody read instead."""
    return {taken.plan.guideline} | {act.guideline for acts in taken.acts.values() for act in acts}


def _whole(content: bytes) -> Iterator[bytes]:
    yield content


def _decisions(folder: DataFolder, campaign: str) -> list[Annotation]:
    """Every adjudication, overruled ones too."""
    files = sorted(decision_folder(folder, campaign).glob("*.jsonl"))
    return [act for file in files for act in ledger.tail(file).records if isinstance(act, Annotation)]


def _acts(taken: _Snapshot) -> Iterator[bytes]:
    for acts in (*taken.acts.values(), taken.decisions):
        for act in acts:
            yield ledger.to_line(replace(act, item=_shown_name(taken, act.annotator, act.item)))


def _shown_name(taken: _Snapshot, person: str, item: str) -> str:
    return item if taken.finals is not None else cover_name(taken.plan, person, item)


def _labels(taken: _Snapshot) -> Iterator[bytes]:
    """A row per annotator and showing, in the annotator's order, labelled or not."""
    yield _line((*COLUMNS, *COLUMNS_AFTER_LOCK))
    after_lock = _after_lock(taken)
    for annotator, acts in taken.acts.items():
        journal = Journal(taken.plan.orders[annotator])
        journal.take(acts)
        timed = {(act.item, act.showing, act.sequence): act for act in acts if act.action is AnnotationAction.LABEL}
        for position, showing in enumerate(journal.order, start=1):
            given = journal.given.get(showing)
            label = timed[showing.item, showing.showing, given.sequence] if given else None
            name = _shown_name(taken, annotator, showing.item)
            known = (taken.plan.campaign, annotator, position, name, showing.showing, int(showing.showing > 1))
            yield _line((*known, *_given(journal, showing, given, label), *after_lock[showing.item]))


def _given(journal: Journal, showing: Showing, given: Given | None, act: Annotation | None) -> tuple[Any, ...]:
    note, flagged = journal.notes.get(showing), int(showing in journal.flags)
    if given is None or act is None:
        return (None, None, note, flagged, *[None] * 5)
    times = (act.shown_at, act.first_action_at, given.submitted_at, f"{given.seconds:.3f}")
    return (str(given.label), given.reason, note, flagged, given.guideline, *times)


def _after_lock(taken: _Snapshot) -> dict[str, tuple[Any, ...]]:
    """The members of COLUMNS_AFTER_LOCK by item."""
    if taken.finals is None:
        return {item.item: (None,) * len(COLUMNS_AFTER_LOCK) for item in taken.plan.items}
    return {
        item.item: (
            taken.plan.strata[item.stratum].name,
            repr(item.inclusion_probability),
            item.verdict.benchmark,
            item.verdict.case_id,
            item.verdict.instance_id,
            item.verdict.detector,
            item.verdict.setting,
            item.verdict.experiment,
            *_final(taken.finals[item.item]),
        )
        for item in taken.plan.items
    }


def _final(final: Final) -> tuple[str | None, str, str | None]:
    return str(final.label) if final.label else None, str(final.provenance), final.why


def _line(cells: tuple[Any, ...]) -> bytes:
    """One line as RFC 4180 has it; its line end makes the writer quote a lone carriage return in a note, too."""
    return csv_text([cells], line_end="\r\n").encode()
