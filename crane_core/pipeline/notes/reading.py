"""Notes for a reader: which they may see, which tags there are, who is mentioned, and as a table to take elsewhere.

In the table each corrected diagnosis has the difference that it makes.
"""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crane_core.annotation.plan import NAME
from crane_core.domain import NoteKind
from crane_core.errors import NoteError
from crane_core.pipeline.campaigns import campaigns
from crane_core.pipeline.fresh_folder import write_new_file
from crane_core.pipeline.notes.notes import Note, NoteSubject
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.sheet_text import csv_text
from crane_core.worddiff import WordSide, merged_words

MENTION = re.compile(rf"(?<![\w@.+-])@({NAME.pattern})(?<![._-])")
"""A name after an at sign, without the end of a sentence; what is part of an e-mail address is none."""


class NotesFor(NamedTuple):
    """The notes that a person may read; the notes on `hidden_cases`, if there are any, are kept from them."""

    notes: tuple[Note, ...]
    hidden_cases: frozenset[tuple[str, str]]


def notes_for(
    folder: DataFolder, notes: Iterable[Note], person: str
) -> NotesFor:
    """The notes without those on cases that the person labels in a campaign that is blind and not locked.

    What others think of a case would be known before it is labelled, and an answer's name tells its detector. The
    cases are named whether they have notes or not, so that a reader cannot learn that one was written. Raises
    CampaignError on a damaged campaign.
    """
    hidden = cases_labelled_by(folder, person)
    shown = tuple(note for note in notes if note.subject[:2] not in hidden)
    return NotesFor(shown, hidden)


def cases_labelled_by(
    folder: DataFolder, person: str
) -> frozenset[tuple[str, str]]:
    """Benchmark and case of all items of the blind, open campaigns that this person labels in."""
    plans = []
    for name in campaigns.campaign_names(folder) if person else []:
        plan, lock = campaigns.kept_campaign(folder, name)
        if plan.blind and lock is None and person in plan.annotators:
            plans.append(plan)
    verdicts = [item.verdict for plan in plans for item in plan.items]
    # Gold items too: an annotator must not tell them from others.
    verdicts += [gold.verdict for plan in plans for gold in plan.gold]
    return frozenset((one.benchmark, one.case_id) for one in verdicts)


def cases_by_tag(
    notes: Iterable[Note], benchmark: str
) -> dict[str, frozenset[str]]:
    """Each tag, as it was written first, to the cases that have it, also on an answer or label; in order."""
    spelled: dict[str, str] = {}
    cases: dict[str, set[str]] = {}
    for note in notes:
        if note.kind is NoteKind.TAG and note.subject.benchmark == benchmark:
            tag = spelled.setdefault(note.text.casefold(), note.text)
            cases.setdefault(tag, set()).add(note.subject.case_id)
    return {
        tag: frozenset(cases[tag]) for tag in sorted(cases, key=str.casefold)
    }


def mentioned(text: str) -> list[str]:
    """The names after an at sign, each once, in the order of the text."""
    return list(dict.fromkeys(MENTION.findall(text)))


def mentioning(notes: Iterable[Note], person: str) -> list[Note]:
    """The comments and corrections that mention a person, the newest first."""
    found = [
        note
        for note in notes
        if note.kind is not NoteKind.TAG and person in mentioned(note.text)
    ]
    return found[::-1] if person else []


COLUMNS = (
    *("note", "kind", "about"),
    *NoteSubject._fields,
    *("text", "written_at", "written_by", "mentions", "corrects", "difference"),
    *("removed_at", "removed_by", "removed_because"),
)
FORMS = (".csv", ".json")


def write_notes(notes: Sequence[Note], out: Path) -> None:
    """Write a new file, its form by its ending. Raises NoteError if it is there already or has another ending."""
    if out.suffix not in FORMS:
        raise NoteError(
            f"{out.name} ends with neither {' nor '.join(FORMS)}.",
            remedy="Name a file such as notes.csv.",
        )
    text = notes_json(notes) if out.suffix == ".json" else notes_csv(notes)
    write_new_file(out, text, NoteError)


def notes_json(notes: Sequence[Note]) -> str:
    """An object per note."""
    return json.dumps(table_rows(notes), indent=1, ensure_ascii=False) + "\n"


def notes_csv(notes: Sequence[Note]) -> str:
    """A line per note, below the names of the columns."""
    rows = [[row[name] for name in COLUMNS] for row in table_rows(notes)]
    return csv_text([COLUMNS, *rows])


def difference(before: str, after: str) -> str:
    """What a correction changes, word by word: [-removed-] and {+added+}, as `git diff --word-diff` writes it.

    Texts that are too unlike or too long are one removed and one added text.
    """
    pieces = merged_words(before, after)
    if pieces is None:
        return f"[-{before}-]{{+{after}+}}" if before else f"{{+{after}+}}"
    written = []
    for side, (start, end) in pieces:
        text = (before if side is WordSide.LEFT else after)[start:end]
        marked = {WordSide.LEFT: f"[-{text}-]", WordSide.RIGHT: f"{{+{text}+}}"}
        written.append(marked.get(side, text))
    return "".join(written)


def table_rows(notes: Sequence[Note]) -> list[dict[str, Any]]:
    """A flat row per note, with the mentioned names, the difference of a correction, and its removal."""
    return [_row(note) for note in notes]


def _row(note: Note) -> dict[str, Any]:
    row: dict[str, Any] = {
        "note": note.note,
        "kind": str(note.kind),
        "about": note.subject.thing,
    }
    row |= note.subject._asdict()
    is_correction = note.kind is NoteKind.DIAGNOSIS
    row |= {
        "text": note.text,
        "written_at": note.written_at,
        "written_by": note.written_by,
        "mentions": " ".join(mentioned(note.text)),
        "corrects": note.corrects,
        "difference": difference(note.corrects or "", note.text)
        if is_correction
        else None,
    }
    removal = note.removal
    return row | {
        "removed_at": removal.acted_at if removal else None,
        "removed_by": removal.acted_by if removal else None,
        "removed_because": removal.reason if removal else None,
    }
