"""Tags, comments and corrected diagnoses of people: acts in the ledger, and the notes that they come to.

ledger/notes.jsonl    one line per act; the database does not load it

Whether a note may be removed by this person is the caller's question: the pages ask for the role, a terminal for none.
"""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from crane_core import domain, ledger
from crane_core.errors import NoteError
from crane_core.pipeline.audit import NOTES
from crane_core.pipeline.inventory import Inventory, inventory
from crane_core.pipeline.jobs.files import now, sayable
from crane_core.pipeline.places import DataFolder

MOST_LETTERS = {
    domain.NoteKind.TAG: 40,
    domain.NoteKind.COMMENT: 2_000,
    domain.NoteKind.DIAGNOSIS: 4_000,
}
"""Characters of each kind."""
MOST_OF_A_CASE = 300
"""Notes on one case and its answers, so that no page grows without end."""
LONGEST_REASON = 500
MOST_OF_A_NAME = 80
"""Characters of the name of the person who acts."""


class NoteSubject(NamedTuple):
    """What a note is about: a case; one of its answers; or the label that a person gave to that answer.

    `run_index` counts the repeated answers from 1; 0 means all of them together, None that no answer is meant.
    """

    benchmark: str
    case_id: str
    experiment: str | None = None
    detector: str | None = None
    setting: str | None = None
    version: str | None = None
    run_index: int | None = None
    labelled_by: str | None = None

    @property
    def thing(self) -> str:
        """Case, answer or label."""
        if self.experiment is None:
            return "case"
        return "answer" if self.labelled_by is None else "label"


class Note(NamedTuple):
    """A note as it is now. `removal` is the act that removed it; `corrects` the diagnosis that it replaces."""

    note: str
    kind: domain.NoteKind
    subject: NoteSubject
    text: str
    written_at: str
    written_by: str
    corrects: str | None = None
    removal: domain.NoteAct | None = None


def note_file(folder: DataFolder) -> Path:
    """The ledger file of all notes."""
    return folder.ledger / NOTES


def all_notes(folder: DataFolder) -> list[Note]:
    """Every note in the order of writing, removed ones too.

    Notes on a benchmark, run or answer that is removed itself are left out until that is restored.
    """
    kept = inventory(folder)
    return [note for note in _read(note_file(folder)) if _has(kept, note)]


def standing(folder: DataFolder) -> list[Note]:
    """The notes that are not removed, in the order of writing."""
    return [note for note in all_notes(folder) if note.removal is None]


def _has(kept: Inventory, note: Note) -> bool:
    about = note.subject
    things = [(domain.Listed.BENCHMARK, about.benchmark)]
    if about.experiment is not None:
        name = domain.answer_name(
            about.benchmark,
            about.experiment,
            str(about.detector),
            str(about.setting),
            f"{about.case_id}_{about.version}",
            about.run_index or 0,
        )
        things += [
            (domain.Listed.RUN, about.experiment),
            (domain.Listed.ANSWER, name),
        ]
    return all(kept.has(*thing) for thing in things)


def _read(file: Path) -> tuple[Note, ...]:
    if not file.is_file():
        return ()
    status = file.stat()
    return _read_once(file, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _read_once(
    file: Path, _inode: int, _changed_ns: int, _n_bytes: int
) -> tuple[Note, ...]:
    """Read again if one of these differs: the list of cases asks at each click."""
    found: dict[str, Note] = {}
    for act in ledger.tail(file).records:
        if not isinstance(act, domain.NoteAct):
            continue
        if act.action is domain.NoteAction.ADD:
            found[act.note] = _note_of(act)
        elif act.note in found:
            is_removal = act.action is domain.NoteAction.REMOVE
            removal = act if is_removal else None
            found[act.note] = found[act.note]._replace(removal=removal)
    return tuple(found.values())


def _note_of(act: domain.NoteAct) -> Note:
    subject = NoteSubject(
        act.benchmark or "",
        act.case_id or "",
        act.experiment,
        act.detector,
        act.setting,
        act.version,
        act.run_index,
        act.labelled_by,
    )
    return Note(
        note=act.note,
        # A line without a kind, which nothing here writes, reads as a remark.
        kind=act.kind or domain.NoteKind.COMMENT,
        subject=subject,
        text=act.text or "",
        written_at=act.acted_at,
        written_by=act.acted_by,
        corrects=act.corrects,
    )


def add_note(
    folder: DataFolder,
    kind: domain.NoteKind,
    subject: NoteSubject,
    text: str,
    *,
    by: str,
    corrects: str | None = None,
) -> Note:
    """Keep a note on a subject that exists. Raises NoteError, LedgerError; then nothing is kept.

    corrects: of a corrected diagnosis, the text that it replaces.
    """
    words = _checked(kind, text)
    if kind is domain.NoteKind.DIAGNOSIS and (corrects or "").strip() == words:
        raise NoteError(
            "This is the diagnosis as it is now.",
            remedy="Change what is wrong in it.",
        )
    with ledger.exclusively(note_file(folder)):
        _refuse_more(folder, kind, subject, words)
        act = domain.NoteAct(
            uuid4().hex[:12],
            domain.NoteAction.ADD,
            now(),
            _writer(by),
            kind=kind,
            text=words,
            corrects=corrects,
            **subject._asdict(),
        )
        ledger.append(note_file(folder), act)
    return _note_of(act)


def _refuse_more(
    folder: DataFolder, kind: domain.NoteKind, subject: NoteSubject, words: str
) -> None:
    """Raise NoteError if the case has as many notes as it may, or this tag already."""
    here = of_case(standing(folder), subject.benchmark, subject.case_id)
    if len(here) >= MOST_OF_A_CASE:
        raise NoteError(
            f"{subject.case_id} has {MOST_OF_A_CASE} notes, which is the most.",
            remedy="Remove one that is no longer needed.",
        )
    is_tagged = any(
        note.subject == subject and note.text.casefold() == words.casefold()
        for note in here
        if note.kind is domain.NoteKind.TAG
    )
    if kind is domain.NoteKind.TAG and is_tagged:
        raise NoteError(
            f"This {subject.thing} has the tag {words!r} already.",
            remedy="Choose another one.",
        )


def _checked(kind: domain.NoteKind, text: str) -> str:
    """The text as it is kept: a tag on one line with single spaces. Raises NoteError."""
    said = sayable(text).strip()
    if kind is domain.NoteKind.TAG:
        said = " ".join(said.split())
    most = MOST_LETTERS[kind]
    # Only ends of lines and tabs may be among the characters that no screen shows.
    is_readable = said.replace("\n", "").replace("\t", "").isprintable()
    if not said or len(said) > most or not is_readable:
        raise NoteError(
            f"A {kind} has 1 to {most:,} readable characters; this one has {len(said):,}.",
            remedy="Write it shorter." if len(said) > most else "Type one.",
        )
    return said


def _writer(by: str) -> str:
    name = " ".join(sayable(by).split())
    if not name or len(name) > MOST_OF_A_NAME:
        raise NoteError(
            "A note needs the name of its writer.",
            remedy=f"Give a name of up to {MOST_OF_A_NAME} characters.",
        )
    return name


def remove_note(
    folder: DataFolder, note: str, *, by: str, reason: str = ""
) -> Note:
    """Take a note off every page; nothing is deleted. Raises NoteError if there is no such note to remove."""
    why = " ".join(sayable(reason).split())
    if len(why) > LONGEST_REASON:
        raise NoteError(
            f"A reason has up to {LONGEST_REASON} characters, not {len(why):,}.",
            remedy="Write it shorter.",
        )
    return _turn(folder, note, domain.NoteAction.REMOVE, by, why or None)


def restore_note(folder: DataFolder, note: str, *, by: str) -> Note:
    """Bring a removed note back. Raises NoteError if no such note is removed."""
    return _turn(folder, note, domain.NoteAction.RESTORE, by, None)


def _turn(
    folder: DataFolder,
    note: str,
    action: domain.NoteAction,
    by: str,
    reason: str | None,
) -> Note:
    with ledger.exclusively(note_file(folder)):
        found = {one.note: one for one in all_notes(folder)}.get(note)
        is_removal = action is domain.NoteAction.REMOVE
        if found is None or is_removal is (found.removal is not None):
            state = "can be removed" if is_removal else "can be restored"
            raise NoteError(
                f"No note {note[:40]!r} {state}.",
                remedy="See `note`, or `note --removed`.",
            )
        if not is_removal:
            _refuse_more(folder, found.kind, found.subject, found.text)
        act = domain.NoteAct(note, action, now(), _writer(by), reason=reason)
        ledger.append(note_file(folder), act)
    return found._replace(removal=act if is_removal else None)


def of_case(notes: Iterable[Note], benchmark: str, case_id: str) -> list[Note]:
    """The notes on a case, its answers and their labels."""
    wanted = (benchmark, case_id)
    return [note for note in notes if note.subject[:2] == wanted]
