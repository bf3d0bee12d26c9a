"""The desk at which labels are taken: one per campaign and process. What it acknowledges is on the disk.

An act is written to the annotator's ledger file and fsynced, then read back from there, so that what a page shows is
what the file says. One lock per annotator: two tabs of one person wait for each other, two people never.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple
from uuid import uuid4

from crane_core import ledger
from crane_core.annotation.act import MAX_NOTE, annotation
from crane_core.annotation.journal import DIAGNOSIS_LABELS, Journal
from crane_core.annotation.plan import Plan, check_name
from crane_core.annotation.reasons import ADJUDICATION_REASONS
from crane_core.domain import Annotation, AnnotationAction, CampaignLock, Label
from crane_core.errors import CampaignError, LedgerError
from crane_core.pipeline.campaigns import campaign_file, decision_folder, kept_campaign, label_file
from crane_core.pipeline.places import DataFolder


class Taken(NamedTuple):
    """What became of a batch: events that are on the disk, events refused with why, and how long the save took.

    `trouble` says why nothing could be written now; what is neither saved nor refused may be sent again.
    """

    saved: list[str]
    refused: dict[str, str]
    seconds: float
    trouble: str | None = None


@dataclass(slots=True)
class _Seat:
    """One annotator's place: the journal, how far their file was read, and who may write it now."""

    journal: Journal
    position: ledger.Position = field(default_factory=ledger.Position)
    lock: Lock = field(default_factory=Lock)

    def clear(self) -> None:
        self.journal, self.position = Journal(self.journal.order), ledger.Position()


class Desk:
    """Takes the acts of a campaign's annotators. Make one per process and campaign, and share it."""

    def __init__(self, folder: DataFolder, campaign: str) -> None:
        self._folder = folder
        self.plan: Plan = kept_campaign(folder, campaign).plan
        self._seats = {name: _Seat(Journal(order)) for name, order in self.plan.orders.items()}
        self._campaign_bytes = 0
        self._lock: CampaignLock | None = None

    def journal(self, annotator: str) -> Journal:
        """The state of an annotator now, which later acts do not change. Raises CampaignError for a stranger."""
        seat = self._seat(annotator)
        with seat.lock:
            self._read(seat, annotator)
            return seat.journal.as_it_is()

    def take(self, annotator: str, acts: Sequence[Mapping[str, Any]]) -> Taken:
        """Save what a browser sent. An event that is on the disk already counts as saved and is not written again.

        Raises CampaignError when the campaign is locked, LedgerError when the disk refuses; then nothing was saved.
        """
        start = perf_counter()
        seat = self._seat(annotator)
        with seat.lock:
            self._read(seat, annotator)
            self._refuse_when_locked()
            fresh, saved, refused = self._checked(seat.journal, annotator, acts)
            if fresh:
                ledger.append(label_file(self._folder, self.plan.campaign, annotator), *fresh)
                self._read(seat, annotator)
        return Taken(saved, refused, perf_counter() - start)

    def _seat(self, annotator: str) -> _Seat:
        if annotator not in self._seats:
            raise CampaignError(
                f"{annotator!r} is not an annotator of {self.plan.campaign!r}.",
                remedy=f"Its annotators are {', '.join(self.plan.annotators)}.",
            )
        return self._seats[annotator]

    def _read(self, seat: _Seat, annotator: str) -> None:
        """Fold in what the file gained. A file that was replaced or taken away is read again, whole."""
        file = label_file(self._folder, self.plan.campaign, annotator)
        n_bytes = file.stat().st_size if file.is_file() else 0
        if n_bytes == seat.position.loaded_bytes:
            return
        if n_bytes == 0:
            seat.clear()
            return
        try:
            tail = ledger.tail(file, seat.position)
        except LedgerError:
            seat.clear()
            tail = ledger.tail(file)
        seat.journal.take(record for record in tail.records if isinstance(record, Annotation))
        seat.position = tail.position

    def lock(self) -> CampaignLock | None:
        """The lock of the campaign, once it has one; the file is read only when it grew. Raises CampaignError."""
        file = campaign_file(self._folder, self.plan.campaign)
        size = file.stat().st_size if file.is_file() else -1
        if size != self._campaign_bytes:
            self._lock = kept_campaign(self._folder, self.plan.campaign).lock
            self._campaign_bytes = size
        return self._lock

    def _refuse_when_locked(self) -> None:
        lock = self.lock()
        if lock is not None:
            raise CampaignError(
                f"{self.plan.campaign} was locked by {lock.locked_by} at {lock.locked_at}; it takes no more labels.",
                remedy="Ask its lead; a new campaign can be created from its export.",
            )

    def _checked(
        self, journal: Journal, annotator: str, acts: Sequence[Mapping[str, Any]]
    ) -> tuple[list[Annotation], list[str], dict[str, str]]:
        """Acts that can be written, events that are or will be on the disk, and those refused with the reason."""
        fresh: list[Annotation] = []
        saved: list[str] = []
        refused: dict[str, str] = {}
        for raw in acts:
            event = str(raw.get("event"))
            if event in journal.events or event in saved:
                saved.append(event)
                continue
            try:
                fresh.append(annotation(raw, self.plan, annotator, sequence=journal.n_acts + len(fresh) + 1))
                saved.append(event)
            except ValueError as error:
                refused[event[:64]] = str(error)
        return fresh, saved, refused


def adjudicate(
    folder: DataFolder, plan: Plan, item: str, *, by: str, label: Label, reason: str, note: str = ""
) -> Annotation:
    """Decide an item between its annotators, with a reason code. Raises CampaignError; then nothing was saved."""
    if kept_campaign(folder, plan.campaign).lock is not None:
        raise CampaignError(f"{plan.campaign} is locked.", remedy="Its outcomes can no longer change.")
    known = {entry.item for entry in plan.items}
    if item not in known or label not in DIAGNOSIS_LABELS or reason not in ADJUDICATION_REASONS:
        raise CampaignError(
            "The decision is invalid: it needs an item of the campaign, one of the three labels and a reason.",
            remedy=f"Reasons are {', '.join(f'{code} {words}' for code, words in ADJUDICATION_REASONS.items())}.",
        )
    if len(note) > MAX_NOTE:
        raise CampaignError(f"The note is longer than {MAX_NOTE:,} characters.", remedy="Shorten it.")
    try:
        file = decision_folder(folder, plan.campaign) / f"{check_name(by, 'an adjudicator')}.jsonl"
    except ValueError as error:
        raise CampaignError(f"{error}.", remedy="Give another name.") from error
    n_before = len(ledger.tail(file).records) if file.is_file() else 0
    decision = Annotation(
        campaign=plan.campaign,
        annotator=by,
        event=uuid4().hex,
        sequence=n_before + 1,
        action=AnnotationAction.ADJUDICATE,
        item=item,
        showing=1,
        guideline=plan.guideline,
        submitted_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        label=label,
        reason=reason,
        note=note or None,
    )
    ledger.append(file, decision)
    return decision
