"""A note on a page: what people wrote is escaped, mentions are marked, a correction shows what it changes."""

from __future__ import annotations

import pytest

from crane_core.domain import NoteKind
from crane_core.pipeline.notes.notes import Note, NoteSubject
from crane_core.ui.notes.pair_notes import (
    kind_counts,
    note_html,
    tags_by_case,
    text_html,
)

CASE = NoteSubject("minibench", "pandas_1")
COMMENT = Note(
    "1", NoteKind.COMMENT, CASE, "see", "2026-01-02T03:04:05.678+00:00", "ana"
)


def test_texts_and_names_are_escaped() -> None:
    hostile = "<script>alert(1)</script> & @ana"
    html = note_html(COMMENT._replace(text=hostile, written_by="<b>x</b>"))
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; <b>@ana</b>" in html
    assert "<b>&lt;b&gt;x&lt;/b&gt;</b>" in html
    assert "2026-01-02 03:04 UTC, about the case" in html
    assert text_html("to ana@lab.example") == "to ana@lab.example"


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        (
            "The index 5 is out of range.",
            "The index <del>5</del><ins>4</ins> is out of range.",
        ),
        (
            "<i>Something else.</i>",
            "<del>&lt;i&gt;Something else.&lt;/i&gt;</del> <ins>The index 4 is out of range.</ins>",
        ),
        (None, "<ins>The index 4 is out of range.</ins>"),
    ],
)
def test_a_correction_shows_what_it_changes(
    before: str | None, shown: str
) -> None:
    note = COMMENT._replace(
        kind=NoteKind.DIAGNOSIS,
        text="The index 4 is out of range.",
        corrects=before,
    )
    assert shown in note_html(note)
    assert "<b>Corrected diagnosis</b> by <b>ana</b>" in note_html(note)


def test_notes_are_counted_by_kind() -> None:
    of_kind = [COMMENT._replace(kind=kind) for kind in NoteKind]
    assert kind_counts(of_kind) == "1 tag, 1 comment, 1 corrected diagnosis"
    twice = [*of_kind[2:], *of_kind[2:]]
    assert kind_counts(twice) == "2 corrected diagnoses"


def test_a_case_knows_its_tags() -> None:
    of_tags = {"a": frozenset({"1", "2"}), "b": frozenset({"2"})}
    assert tags_by_case(of_tags) == {"1": ["a"], "2": ["a", "b"]}
