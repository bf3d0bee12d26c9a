"""Accepts labels: one object per campaign and process. Acknowledged labels are on the disk.

An act is written to the annotator's ledger file and fsynced, then read back from there, so that a page shows what the
file contains. One lock per annotator: two tabs of one person wait for each other, two people never.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Lock
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import uuid4

from crane_core import domain, ledger
from crane_core.annotation.act import EVENT, MAX_NOTE, annotation
from crane_core.annotation.guideline import GuidelineVersion
from crane_core.annotation.journal import Journal, LabelInForce, journal_for
from crane_core.annotation.order import Showing
from crane_core.annotation.outcome import ADJUDICATION_REASONS
from crane_core.annotation.plan import Plan, check_name
from crane_core.annotation.thread import Thread, threads
from crane_core.errors import CampaignError, LedgerError
from crane_core.pipeline.campaigns import announced, campaigns, guideline
from crane_core.pipeline.campaigns.desk_names import DeskNames, desk_names
from crane_core.pipeline.campaigns.threads import message_file, messages_of
from crane_core.pipeline.notifications.channels import has_channels
from crane_core.pipeline.places import DataFolder


class Taken(NamedTuple):
    """The outcome of a batch: events that are on the disk, events refused with why, and how long the save took.

    `trouble` says why nothing could be written; acts that are neither saved nor refused may be sent again. `overtaken`:
    events that were not saved because the item has another label than the device knew of, and that label.
    """

    saved: list[str]
    refused: dict[str, str]
    seconds: float
    trouble: str | None = None
    overtaken: Mapping[str, LabelInForce] = MappingProxyType({})


class CheckedActs(NamedTuple):
    """Acts that can be written, events that are or will be on the disk, and the others as in `Taken`."""

    fresh: list[domain.Annotation]
    saved: list[str]
    refused: dict[str, str]
    overtaken: dict[str, LabelInForce]


@dataclass(slots=True)
class _AnnotatorSession:
    """One annotator's session: the journal, how far their file was read, and who may write it now."""

    journal: Journal
    position: ledger.Position = field(default_factory=ledger.Position)
    lock: Lock = field(default_factory=Lock)
    names: DeskNames | None = None

    def clear(self) -> None:
        """Forget everything that was read, so that the file is read from its start."""
        self.journal, self.position = (
            Journal(
                self.journal.order, self.journal.again, self.journal.labels
            ),
            ledger.Position(),
        )


class LabelStore:
    """Takes the acts of a campaign's annotators. Make one per process and campaign, and share it."""

    def __init__(self, folder: DataFolder, campaign: str) -> None:
        self._folder = folder
        self._campaign = campaign
        self._campaign_bytes = -1
        self._changing = Lock()
        self._lock: domain.CampaignLock | None = None
        self._guidelines: tuple[GuidelineVersion, ...] = ()
        self._messages: list[domain.CampaignMessage] = []
        self._message_bytes = 0
        self._read_campaign()

    def journal(self, annotator: str) -> Journal:
        """The state of an annotator now, which later acts do not change. Raises CampaignError for a stranger."""
        self._read_campaign()
        session = self._session(annotator)
        with session.lock:
            self._read(session, annotator)
            # A copy, because pages go on reading while the next act is folded in.
            return session.journal.as_it_is()

    def take(self, annotator: str, acts: Sequence[Mapping[str, Any]]) -> Taken:
        """Save a browser's acts. An event that is on the disk already counts as saved and is not written again.

        over: the event of the label that the browser knew the item to have, None for no label. An act on a label has
        it where the browser wants to know of another label of the item, which then stays. note_before: the note
        that the browser knew; what another device wrote since is kept beside the new text.
        Raises CampaignError if the campaign is locked, LedgerError when the disk refuses; then nothing was saved.
        """
        start = perf_counter()
        # Checked and written under one lock: between the two another tab could label the same item.
        with self._open_session(annotator) as session:
            found = self._checked(session.journal, annotator, acts)
            self._write(session, annotator, found.fresh)
            # Written before the desk draws it, so that nothing is seen that the ledger does not know.
            self._write(session, annotator, self._shown_now(session, annotator))
        seconds = perf_counter() - start
        self._announce_if_labelled(annotator, found.fresh)
        return Taken(
            found.saved, found.refused, seconds, overtaken=found.overtaken
        )

    def check(
        self,
        annotator: str,
        acts: Sequence[Mapping[str, Any]],
        *,
        though_locked: bool = False,
    ) -> CheckedActs:
        """What `take` would do with these acts; nothing is written, not even a lock. Raises CampaignError as it does.

        though_locked: as if the campaign were open again.
        """
        self._read_campaign()
        session = self._session(annotator)
        # Other processes may go on writing: what they add meanwhile is found when the acts are saved.
        with session.lock:
            self._read(session, annotator)
            self._refuse_when_over(annotator, though_locked=though_locked)
            return self._checked(session.journal, annotator, acts)

    def names(self, annotator: str) -> DeskNames:
        """How the annotator's browser names items. Raises CampaignError for a stranger, IdentityError."""
        self._read_campaign()
        session = self._session(annotator)
        now = desk_names(self._folder, self.plan, annotator)
        # Those made before are kept: at every save the browser's names are looked up in them.
        if session.names is None or not now.is_as(session.names):
            session.names = now
        return session.names

    def take_all(
        self, annotator: str, acts: Sequence[Mapping[str, Any]], *, source: str
    ) -> int:
        """Save acts that were imported from `source`, all of them or none; how many.

        Raises CampaignError if one is refused, and as `take` does; then nothing was saved.
        """
        with self._open_session(annotator) as session:
            found = self._checked(session.journal, annotator, acts)
            others = {
                event: f"the item is labelled {one.label} already"
                for event, one in found.overtaken.items()
            }
            if refused := found.refused | others:
                n, first = len(refused), next(iter(refused.values()))
                raise CampaignError(
                    f"{n:,} labels were refused, and none stored: {first}.",
                    remedy="The campaign has changed; import the file again.",
                )
            self._write(
                session,
                annotator,
                [replace(act, source=source) for act in found.fresh],
            )
        self._announce_if_labelled(annotator, found.fresh)
        return len(found.fresh)

    @contextmanager
    def _open_session(self, annotator: str) -> Iterator[_AnnotatorSession]:
        """An annotator's session, up to date, while no other writer has it. Raises CampaignError if it is closed.

        No other writer: neither another thread, nor another process that serves or imports labels of the same person.
        The number of an act is the place that it has in the file.
        """
        self._read_campaign()
        session = self._session(annotator)
        with (
            session.lock,
            ledger.exclusively(
                campaigns.label_file(
                    self._folder, self.plan.campaign, annotator
                )
            ),
        ):
            self._read(session, annotator)
            self._refuse_when_over(annotator, though_locked=False)
            yield session

    def _write(
        self,
        session: _AnnotatorSession,
        annotator: str,
        fresh: Sequence[domain.Annotation],
    ) -> None:
        if fresh:
            ledger.append(
                campaigns.label_file(
                    self._folder, self.plan.campaign, annotator
                ),
                *fresh,
            )
            self._read(session, annotator)

    def _shown_now(
        self, session: _AnnotatorSession, annotator: str
    ) -> list[domain.Annotation]:
        """That another label is shown after the last one, where the plan has one; nothing the second time.

        An item that comes back as a hidden repeat has it at its second showing only, which it would influence else.
        """
        journal, told = session.journal, self.plan.shown_after
        last = journal.undoable()[:1]
        if told is None or not last or last[0] in journal.shown:
            return []
        showing = last[0]
        is_coming_back = Showing(showing.item, showing.showing + 1) in (
            journal.order
        )
        if showing.item not in told.labels or is_coming_back:
            return []
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return [
            domain.Annotation(
                campaign=self.plan.campaign,
                annotator=annotator,
                event=str(uuid4()),
                sequence=journal.n_acts + 1,
                action=domain.AnnotationAction.SHOWN,
                item=showing.item,
                showing=showing.showing,
                guideline=self.guidelines()[-1].version,
                submitted_at=now,
                received_at=now,
                label=told.labels[showing.item],
            )
        ]

    def _announce_if_labelled(
        self, annotator: str, fresh: Sequence[domain.Annotation]
    ) -> None:
        """Tell those who want to know where one of these acts gave the campaign its last label."""
        is_label = any(
            act.action is domain.AnnotationAction.LABEL for act in fresh
        )
        # Most acts end here: the file is looked at first, then whether this annotator has anything left.
        if not is_label or not has_channels(self._folder):
            return
        if announced.is_labelled(self._session(annotator).journal):
            announced.announce_if_labelled(
                self._folder, self.plan, self.journal
            )

    def _session(self, annotator: str) -> _AnnotatorSession:
        if annotator not in self._sessions:
            raise CampaignError(
                f"{annotator!r} is not an annotator of {self.plan.campaign!r}.",
                remedy=f"Its annotators are {', '.join(self.plan.annotators)}.",
            )
        return self._sessions[annotator]

    def _read(self, session: _AnnotatorSession, annotator: str) -> None:
        """Fold in what the file gained. A file that was replaced or taken away is read again, whole."""
        file = campaigns.label_file(self._folder, self.plan.campaign, annotator)
        n_bytes = file.stat().st_size if file.is_file() else 0
        if n_bytes == session.position.loaded_bytes:
            return
        if n_bytes == 0:
            session.clear()
            return
        try:
            tail = ledger.tail(file, session.position)
        # The file no longer continues what was read, for example after a restore.
        except LedgerError:
            session.clear()
            tail = ledger.tail(file)
        session.journal.take(
            record
            for record in tail.records
            if isinstance(record, domain.Annotation)
        )
        session.position = tail.position

    def lock(self) -> domain.CampaignLock | None:
        """The lock of the campaign, once it has one. Raises CampaignError."""
        self._read_campaign()
        return self._lock

    def guidelines(self) -> tuple[GuidelineVersion, ...]:
        """Every version of the guideline, the one in force last. Raises CampaignError."""
        self._read_campaign()
        return self._guidelines

    def threads(self, annotator: str) -> dict[Showing, Thread]:
        """The annotator's own threads with the lead, no others. Raises CampaignError for a stranger."""
        file = message_file(self._folder, self._campaign)
        n_bytes = file.stat().st_size if file.is_file() else 0
        if n_bytes != self._message_bytes:
            self._messages = messages_of(self._folder, self._campaign)
            self._message_bytes = n_bytes
        return threads(annotator, self.journal(annotator), self._messages)

    def _read_campaign(self) -> None:
        """Plan, rounds and lock; the file is read only when it changed, and a round starts new sessions for all."""
        file = campaigns.campaign_file(self._folder, self._campaign)
        size = file.stat().st_size if file.is_file() else -1
        if size == self._campaign_bytes != -1:
            return
        with self._changing:
            kept = campaigns.kept_campaign(self._folder, self._campaign)
            # A lock or a new guideline leaves the plan as it is, and with it the sessions.
            if self._campaign_bytes == -1 or kept.plan != self.plan:
                self.plan: Plan = kept.plan
                self._sessions = {
                    name: _AnnotatorSession(journal_for(self.plan, name))
                    for name in self.plan.annotators
                }
            self._lock = kept.lock
            self._guidelines = guideline.guideline_versions(
                self._folder, kept.plan
            )
            self._campaign_bytes = size

    def _refuse_when_over(self, annotator: str, *, though_locked: bool) -> None:
        lock = self.lock()
        if lock is not None and not though_locked:
            raise CampaignError(
                f"{self.plan.campaign} was locked by {lock.locked_by} at {lock.locked_at}; it takes no more labels.",
                remedy="Ask its lead, who can open a new round of it.",
            )
        if annotator not in self.plan.present:
            raise CampaignError(
                f"{annotator} no longer labels in {self.plan.campaign}.",
                remedy="Ask its lead, who can add people.",
            )

    def _checked(
        self,
        journal: Journal,
        annotator: str,
        acts: Sequence[Mapping[str, Any]],
    ) -> CheckedActs:
        """Check acts one after the other, each against the labels that those before it leave."""
        found = CheckedActs([], [], {}, {})
        later = [entry.version for entry in self.guidelines()[1:]]
        # A copy: acts that follow each other in one message are checked as if those before were stored.
        now = journal.as_it_is()
        for raw in acts:
            event = str(raw.get("event"))
            if event in now.events:
                found.saved.append(event)
                continue
            try:
                act = annotation(
                    raw,
                    self.plan,
                    annotator,
                    sequence=now.n_acts + 1,
                    later_versions=later,
                )
            except ValueError as error:
                found.refused[event[:64]] = str(error)
                continue
            if other := _overtaking(now, act, raw):
                found.overtaken[event] = other
                continue
            try:
                act = _with_both_notes(now, act, raw)
            except ValueError as error:
                found.refused[event[:64]] = str(error)
                continue
            now.take([act])
            found.fresh.append(act)
            found.saved.append(event)
        return found


def _overtaking(
    journal: Journal, act: domain.Annotation, raw: Mapping[str, Any]
) -> LabelInForce | None:
    """The label that the item has from elsewhere, which the device of this act did not know of."""
    # Only who says what label it knew wants to hear of another one; imports do not.
    if "over" not in raw or act.action not in _OF_A_LABEL:
        return None
    given = journal.given.get(Showing(act.item, act.showing))
    if given is None or given.event == raw["over"]:
        return None
    is_same_device = act.device is not None and act.device == given.device
    takes_its_place_before = is_same_device and (act.number or 0) < (
        given.number or 0
    )
    return None if takes_its_place_before else given


def _with_both_notes(
    journal: Journal, act: domain.Annotation, raw: Mapping[str, Any]
) -> domain.Annotation:
    """A note that keeps what another device wrote meanwhile. Raises ValueError if both are too long together."""
    if act.action is not domain.AnnotationAction.NOTE or not isinstance(
        before := raw.get("note_before"), str
    ):
        return act
    stored = journal.notes.get(Showing(act.item, act.showing), "")
    note = merged_note(stored, before, act.note or "")
    if len(note) > MAX_NOTE:
        raise ValueError(
            f"another device wrote a note on this item too, and a note has up to {MAX_NOTE:,} characters; shorten yours"
        )
    return replace(act, note=note)


def merged_note(stored: str, before: str, written: str) -> str:
    """The note to store where a device changed the note `before` to `written`, and `stored` is what is there now.

    The same as `written` if the device knew the stored note. Otherwise the other device's text stays, and what this
    device wrote follows in a separate paragraph; a text that it removed without having seen the whole note
    stays as well, because another device's words are not removed unread.
    """
    if stored in ("", before, written):
        return written
    # This device wrote the last paragraph itself, and edits it now.
    others = (
        stored.removesuffix(before).rstrip()
        if before and stored.endswith(f"\n{before}")
        else stored
    )
    if not written or written in others.split("\n"):
        return others
    return f"{others}\n{written}"


_OF_A_LABEL = (
    domain.AnnotationAction.LABEL,
    domain.AnnotationAction.UNDO,
    domain.AnnotationAction.REASON,
)


def adjudicate(
    folder: DataFolder,
    plan: Plan,
    item: str,
    *,
    by: str,
    label: str,
    reason: str,
    note: str = "",
    event: str = "",
) -> domain.Annotation:
    """Decide an item between its annotators, with a reason code. Raises CampaignError; then nothing was saved.

    event: the browser's name of the decision; one that is on the disk is not written again.
    """
    try:
        name = check_name(by, "an adjudicator")
    except ValueError as error:
        raise CampaignError(f"{error}.", remedy="Give another name.") from error
    file = campaigns.decision_folder(folder, plan.campaign) / f"{name}.jsonl"
    with ledger.exclusively(file):
        before = campaigns.annotations_in(file)
        # A browser sends a decision again until it hears that it was stored.
        if on_disk := next((one for one in before if one.event == event), None):
            return on_disk
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        decision = domain.Annotation(
            campaign=plan.campaign,
            annotator=by,
            event=event or uuid4().hex,
            sequence=len(before) + 1,
            action=domain.AnnotationAction.ADJUDICATE,
            item=item,
            showing=1,
            guideline=_version_decided_under(folder, plan),
            submitted_at=now,
            label=label,
            reason=reason,
            note=note or None,
            received_at=now,
        )
        _check_decision(folder, plan, decision)
        ledger.append(file, decision)
    return decision


def _check_decision(
    folder: DataFolder, plan: Plan, decision: domain.Annotation
) -> None:
    if campaigns.kept_campaign(folder, plan.campaign).lock is not None:
        raise CampaignError(
            f"{plan.campaign} is locked.",
            remedy="Its outcomes can no longer change.",
        )
    is_of_campaign = any(entry.item == decision.item for entry in plan.items)
    is_known = (
        decision.label in plan.labels
        and decision.reason in ADJUDICATION_REASONS
    )
    if not is_of_campaign or not is_known:
        raise CampaignError(
            "The decision is invalid: it needs an item of the campaign, one of its labels and a reason.",
            remedy=f"Labels are {plan.labels.listed()}; reasons are {_listed(ADJUDICATION_REASONS)}.",
        )
    if len(decision.note or "") > MAX_NOTE:
        raise CampaignError(
            f"The note is longer than {MAX_NOTE:,} characters.",
            remedy="Shorten it.",
        )
    if not EVENT.fullmatch(decision.event):
        raise CampaignError(
            "The name of the decision is invalid.",
            remedy="Load the page again.",
        )


def _listed(reasons: Mapping[str, str]) -> str:
    return ", ".join(f"{code} {words}" for code, words in reasons.items())


def _version_decided_under(folder: DataFolder, plan: Plan) -> str:
    """The version in force; the plan's own name for the first, also where its text was not stored."""
    versions = guideline.guideline_versions(folder, plan)
    return versions[-1].version if len(versions) > 1 else plan.guideline
