"""`note`: tags, comments and corrected diagnoses on cases, answers and labels: list, add, remove and restore them."""

import argparse

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import NoteKind, Setting, Version
from crane_core.errors import NoteError
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.notes import notes, reading, subjects
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import Store
from crane_core.terminal import give_either, in_columns, one_line, tell
from crane_core.verbs.remove import add_by, who

NAME = "note"
HELP = "tag a case, comment on it, an answer or a label, or correct a diagnosis; without a text it lists what there is"
EXAMPLE = """python -m crane_core note torch_13 --tag "off by one"
         python -m crane_core note torch_13 --comment "@ana: is cell 4 the cause?"
         python -m crane_core note --tagged "off by one" --json
         python -m crane_core note --remove 1a2b3c4d5e6f --reason outdated"""
SHOWN_LETTERS = 60
_ANSWER_OPTIONS = {
    "run": "experiment",
    "detector": "detector",
    "setting": "setting",
    "version": "version",
    "index": "run_index",
    "label_of": "labelled_by",
}
"""Options that say which answer is meant, and the members of a subject that they are."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the case, what is written about it, and which answer or label of it is meant."""
    add(
        verb,
        option(
            "case CASE",
            "the case, as the page Cases shows it",
            arguments.name,
            nargs="?",
        ),
        option(
            "--benchmark B",
            f"default: {JUNOBENCH.benchmark}",
            arguments.name,
            default=JUNOBENCH.benchmark,
        ),
    )
    add(
        verb.add_mutually_exclusive_group(),
        *(
            option(f"--{kind} TEXT", help_words, arguments.name)
            for kind, help_words in _KIND_WORDS.items()
        ),
        option("--remove ID", "take this note off every page", arguments.name),
        option("--restore ID", "bring this note back", arguments.name),
    )
    add(
        verb,
        option(
            "--reason TEXT",
            "with --remove: why",
            arguments.line(notes.LONGEST_REASON),
        ),
    )
    _add_answer(verb)
    add(
        verb,
        option("--tagged TAG", "list the notes with this tag", arguments.name),
        flag("--removed", "list what was removed, by whom and why"),
        flag("--json", "print the list as JSON to stdout"),
    )
    add_by(verb)


_KIND_WORDS = {
    NoteKind.TAG: "a word or a few to find cases by",
    NoteKind.COMMENT: "a comment; @NAME mentions a person",
    NoteKind.DIAGNOSIS: "the diagnosis of the case, or of one answer, as it should read",
}


def _add_answer(verb: argparse.ArgumentParser) -> None:
    add(
        verb.add_argument_group("about an answer, or a label of it"),
        option(
            "--run RUN", "the run (experiment) of the answer", arguments.name
        ),
        option("--detector D", "the detector that answered", arguments.name),
        option(
            "--setting S",
            "what it was shown",
            choices=[str(setting) for setting in Setting],
        ),
        option(
            "--version V",
            "reproduced (the crashing notebook) or fixed",
            choices=[str(version) for version in Version],
        ),
        option(
            "--index N",
            "which of the repeated answers, from 1 (default: all)",
            arguments.integer(1, arguments.MOST_INDEX),
        ),
        option(
            "--label-of NAME",
            "the label that this person gave to the answer",
            arguments.name,
        ),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Write, remove or restore one note, or list those that match; returns 0. Raises NoteError, LedgerError."""
    if chosen.remove:
        note = notes.remove_note(
            folder, chosen.remove, by=who(chosen), reason=chosen.reason or ""
        )
        tell(f"removed; undo: `note --restore {note.note}`")
        return 0
    if chosen.restore:
        tell(_line(notes.restore_note(folder, chosen.restore, by=who(chosen))))
        return 0
    for kind in NoteKind:
        text = getattr(chosen, kind)
        if text is not None:
            return _write(chosen, folder, kind, text)
    found = [
        note for note in notes.all_notes(folder) if _is_asked(chosen, note)
    ]
    give_either(reading.table_rows(found), in_words(found), as_json=chosen.json)
    return 0


def _write(
    chosen: argparse.Namespace, folder: DataFolder, kind: NoteKind, text: str
) -> int:
    if chosen.case is None:
        raise NoteError(
            f"A {kind} is about a case.", remedy="Name the case: `note CASE`."
        )
    store = prepare_or_read(folder, tell)
    try:
        subject = _subject(store, chosen)
        is_correction = kind is NoteKind.DIAGNOSIS
        corrects = (
            subjects.diagnosis_of(store, subject) if is_correction else None
        )
    finally:
        store.close()
    note = notes.add_note(
        folder, kind, subject, text, by=who(chosen), corrects=corrects
    )
    tell(_line(note))
    if is_correction:
        tell(reading.difference(corrects or "", note.text))
    return 0


def _subject(store: Store, chosen: argparse.Namespace) -> notes.NoteSubject:
    wanted = {
        member: getattr(chosen, option_name)
        for option_name, member in _ANSWER_OPTIONS.items()
    }
    return subjects.subject_like(store, chosen.benchmark, chosen.case, **wanted)


def _is_asked(chosen: argparse.Namespace, note: notes.Note) -> bool:
    if chosen.removed is (note.removal is None):
        return False
    if chosen.case and note.subject[:2] != (chosen.benchmark, chosen.case):
        return False
    is_tag = note.kind is NoteKind.TAG
    tagged = chosen.tagged and chosen.tagged.casefold()
    return not tagged or (is_tag and note.text.casefold() == tagged)


def _line(note: notes.Note) -> str:
    return "  ".join(_cells(note))


def _cells(note: notes.Note) -> tuple[str, ...]:
    removal = note.removal
    why = f": {one_line(removal.reason)}" if removal and removal.reason else ""
    return (
        note.note,
        str(note.kind),
        one_line(f"{note.subject.thing} {note.subject.case_id}", SHOWN_LETTERS),
        one_line(note.text, SHOWN_LETTERS),
        one_line(note.written_by, SHOWN_LETTERS),
        note.written_at.replace("T", " ")[:16],
        f"removed by {one_line(removal.acted_by)}{why}" if removal else "",
    )


def in_words(found: list[notes.Note]) -> str:
    """A line per note, in columns."""
    return "\n".join(in_columns([*map(_cells, found)])) if found else "none"
