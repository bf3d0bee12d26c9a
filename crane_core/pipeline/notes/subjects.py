"""What a note can be about: the case, its answers and labels, and the diagnosis of each."""

from typing import Any

from crane_core.errors import NoteError
from crane_core.pipeline.notes.notes import NoteSubject
from crane_core.pipeline.rows import as_rows
from crane_core.storage import cases as stored
from crane_core.storage.store import Store

ANSWER_KEY = ("experiment", "detector", "setting", "version")
"""Columns that tell the answers of a case apart, without the number of the repeat."""


def subjects_of(
    store: Store, benchmark: str, case_id: str
) -> list[NoteSubject]:
    """The case, each of its answers, and each label that a person gave to them; in the order of asking."""
    cursor = store.cursor()
    answers = stored.runs(cursor, benchmark, case_id)
    labels = stored.verdict_labels(cursor, benchmark, case_id)
    case = NoteSubject(benchmark, case_id)
    asked = answers[answers["run_index"] > 0]
    found = [_answer(case, row) for row in as_rows(asked)]
    found += [
        _answer(case, row | {"run_index": 0})._replace(
            labelled_by=row["annotator"]
        )
        for row in as_rows(labels)
    ]
    return [case, *found]


def _answer(case: NoteSubject, row: dict[str, Any]) -> NoteSubject:
    named = {name: row[name] for name in ANSWER_KEY}
    return case._replace(**named, run_index=int(row["run_index"]))


def diagnosis_of(store: Store, subject: NoteSubject) -> str:
    """The diagnosis that a correction replaces: the benchmark's of a case, the detector's of one answer.

    Raises NoteError for a label, and for all repeats together.
    """
    cursor = store.cursor()
    benchmark, case_id = subject[:2]
    if subject.thing == "case":
        case = stored.case(cursor, benchmark, case_id) or {}
        return str(case.get("diagnosis") or "")
    if subject.thing == "label" or not subject.run_index:
        raise NoteError(
            f"A {subject.thing} like this has no text to correct.",
            remedy="Choose the case, or one of its answers.",
        )
    for row in as_rows(stored.runs(cursor, benchmark, case_id)):
        if _answer(NoteSubject(benchmark, case_id), row) == subject:
            return str(row["reasoning"] or "")
    return ""


def subject_like(
    store: Store, benchmark: str, case_id: str, **wanted: str | int | None
) -> NoteSubject:
    """The one subject that has all these members: the case where none is given, else an answer, or a label of it.

    Without `run_index` all repeats of an answer are meant. Raises NoteError if there is no such case or answer, or if
    several are meant.
    """
    if stored.case(store.cursor(), benchmark, case_id) is None:
        raise NoteError(
            f"There is no case {case_id[:80]!r} in {benchmark[:80]!r}.",
            remedy="Name one as the page Cases shows it.",
        )
    asked = {name: value for name, value in wanted.items() if value is not None}
    if not asked:
        return NoteSubject(benchmark, case_id)
    thing = "label" if "labelled_by" in asked else "answer"
    found = {
        subject
        if thing == "label" or "run_index" in asked
        else subject._replace(run_index=0)
        for subject in subjects_of(store, benchmark, case_id)
        if subject.thing == thing and asked.items() <= subject._asdict().items()
    }
    if len(found) == 1:
        return found.pop()
    if not found:
        raise NoteError(
            f"{case_id} has no such {thing}.",
            remedy="Open the case on the page Cases to see what it has.",
        )
    differing = [
        name
        for name in ANSWER_KEY
        if len({getattr(subject, name) for subject in found}) > 1
    ]
    raise NoteError(
        f"{case_id} has {len(found)} of them, which differ in {', '.join(differing)}.",
        remedy="Say which one is meant.",
    )
