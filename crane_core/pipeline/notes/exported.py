"""Notes as a table to take elsewhere, with the difference that each corrected diagnosis makes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crane_core.domain import NoteKind
from crane_core.errors import NoteError
from crane_core.pipeline.fresh_folder import write_new_file
from crane_core.pipeline.notes.notes import Note, NoteSubject
from crane_core.pipeline.notes.reading import mentioned
from crane_core.pipeline.sheet_text import csv_text
from crane_core.worddiff import WordSide, merged_words

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
