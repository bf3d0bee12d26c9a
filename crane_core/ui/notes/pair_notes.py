"""The part of a pair's page where people write: its tags, comments and corrected diagnoses.

A note is shown as finished HTML: escaped, mentions marked, a corrected diagnosis with what it changes.
"""

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from crane_core.domain import NoteKind
from crane_core.identity.visitor import Role
from crane_core.pipeline.notes.notes import (
    LONGEST_REASON,
    MOST_LETTERS,
    MOST_OF_A_NAME,
    Note,
    NoteSubject,
    add_note,
    of_case,
    remove_note,
    restore_note,
)
from crane_core.pipeline.notes.reading import MENTION
from crane_core.pipeline.notes.subjects import diagnosis_of, subjects_of
from crane_core.ui import data, keys
from crane_core.ui.code_html import differing_prose_html
from crane_core.ui.notes import shown
from crane_core.ui.notes.shown import subject_words
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import require, visitor
from crane_core.ui.words import count, literal, moment

ANCHOR = "notes"
TITLE = "Tags and comments"
KINDS = {
    NoteKind.COMMENT: "Comment",
    NoteKind.DIAGNOSIS: "Corrected diagnosis",
}
HIDDEN = "Tags and comments on this case are hidden from you until your campaign is locked."
NOTE_WIDTH = 860
"""Pixels: a line of a comment is read, not scanned."""


def steps_words(benchmark: str, case_id: str) -> str:
    """Markdown for the head of the page: how many notes there are, as a link to them; empty without any."""
    notes = _here(benchmark, case_id)
    standing = [note for note in notes if note.removal is None]
    if not standing:
        return f" · [Write a note](#{ANCHOR})" if shown.may_write() else ""
    return f" · [{shown.kind_counts(standing)}](#{ANCHOR})"


def draw_notes(benchmark: str, case_id: str) -> None:
    """Tags, comments and corrections of a case, with forms for those who may write."""
    seen = shown.notes_seen()
    notes = of_case(seen.notes, benchmark, case_id)
    is_hidden = (benchmark, case_id) in seen.hidden_cases
    if not (notes or is_hidden or shown.may_write()):
        return
    with st.container(key="notes"):
        if is_hidden:
            st.header(TITLE, anchor=ANCHOR)
            st.info(HIDDEN)
            return
        standing = [note for note in notes if note.removal is None]
        _draw_head(NoteSubject(benchmark, case_id), standing)
        for note in standing:
            if note.kind is not NoteKind.TAG:
                _draw_text(note)
        _draw_removed([note for note in notes if note.removal is not None])


def _here(benchmark: str, case_id: str) -> list[Note]:
    return of_case(shown.notes_seen().notes, benchmark, case_id)


def _draw_head(case: NoteSubject, standing: Sequence[Note]) -> None:
    """The title, the tags and both forms in one line: a page without notes loses no more of its height."""
    tags = [note for note in standing if note.kind is NoteKind.TAG]
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        gap="xsmall",
        key="note_tags",
    ):
        st.header(TITLE, anchor=ANCHOR, width="content")
        for note in tags:
            words = literal(note.text)
            if note.subject.thing != "case":
                words += f" ({note.subject.thing})"
            st.button(
                f"{words} ✕" if shown.may_turn(note) else words,
                key=f"tag_{note.note}",
                disabled=not shown.may_turn(note),
                help=literal(
                    f"{note.written_by}, about {shown.subject_words(note.subject)}"
                ),
                on_click=_remove,
                args=(note, ""),
            )
        if shown.may_write():
            _draw_new_tag(case, tags)
            _draw_form(case.benchmark, case.case_id)


def _draw_new_tag(case: NoteSubject, tags: Sequence[Note]) -> None:
    # The ids change with what was added, so that the choice is empty again.
    place = f"{case.case_id}_{len(tags)}"
    known = shown.tag_cases(case.benchmark)
    here = {note.text.casefold() for note in tags if note.subject == case}
    offered = [tag for tag in known if tag.casefold() not in here]
    with st.popover("Add tag", key=f"new_tag_{place}"):
        chosen = st.selectbox(
            "Tag",
            offered,
            index=None,
            key=f"tag_words_{place}",
            accept_new_options=True,
            placeholder="choose or type one",
            format_func=lambda tag: (
                f"{tag} · {count(len(known[tag]))}" if tag in known else tag
            ),
        )
        if st.button("Add", key=f"add_tag_{place}") and chosen:
            _change(
                lambda: add_note(
                    data.folder(), NoteKind.TAG, case, chosen, by=shown.writer()
                )
            )


def _draw_text(note: Note) -> None:
    with st.container(
        horizontal=True,
        vertical_alignment="top",
        width=NOTE_WIDTH,
        key=f"note_{note.note}",
    ):
        st.html(note_html(note), width="stretch")
        if not shown.may_turn(note):
            return
        with st.popover(
            "Remove", key=f"remove_note_{note.note}", type="tertiary"
        ):
            reason = st.text_input(
                "Reason (may be empty)",
                max_chars=LONGEST_REASON,
                key=f"note_reason_{note.note}",
            )
            st.button(
                f"Remove {note.kind}",
                key=f"removed_note_{note.note}",
                on_click=_remove,
                args=(note, reason),
            )


@st.fragment
def _draw_form(benchmark: str, case_id: str) -> None:
    opened = st.popover("Write", key=f"write_note_{case_id}", on_change="rerun")
    # What a note may be about is read when it is opened: every answer of the case.
    if not opened.open:
        return
    subjects = subjects_of(data.store(), benchmark, case_id)
    with opened:
        kind = st.segmented_control(
            "What",
            list(KINDS),
            default=NoteKind.COMMENT,
            format_func=KINDS.__getitem__,
            key=f"note_kind_{case_id}",
            required=True,
        )
        is_comment = kind is NoteKind.COMMENT
        offered = subjects if is_comment else _with_text(subjects)
        about = st.selectbox(
            "About",
            offered,
            format_func=shown.subject_words,
            key=f"note_about_{case_id}_{kind}",
            width=480,
        )
        before = "" if is_comment else diagnosis_of(data.store(), about)
        if not visitor().is_known:
            st.text_input(
                "Your name",
                key=keys.NOTE_NAME,
                max_chars=MOST_OF_A_NAME,
                width=240,
            )
        _draw_text_form(kind, about, before)


def _with_text(subjects: Sequence[NoteSubject]) -> list[NoteSubject]:
    """The case and its answers; a label has no diagnosis."""
    return [one for one in subjects if one.thing != "label"]


def _draw_text_form(kind: NoteKind, about: NoteSubject, before: str) -> None:
    place = "_".join(map(str, (kind, *about)))
    with st.form(
        f"write_{place}",
        border=False,
        clear_on_submit=kind is NoteKind.COMMENT,
        enter_to_submit=False,
    ):
        text = st.text_area(
            "Comment; @name mentions a person"
            if kind is NoteKind.COMMENT
            else "The diagnosis as it should read",
            before,
            max_chars=MOST_LETTERS[kind],
            height=120,
        )
        if st.form_submit_button("Save"):
            corrects = before if kind is NoteKind.DIAGNOSIS else None
            _change(
                lambda: add_note(
                    data.folder(),
                    kind,
                    about,
                    text,
                    by=shown.writer(),
                    corrects=corrects,
                )
            )


def _draw_removed(notes: Sequence[Note]) -> None:
    """What was removed, by whom and why, each with a way back; only for those who may bring it back."""
    listed = [note for note in notes if shown.may_turn(note)]
    if not listed:
        return
    with st.expander(f"Removed notes ({count(len(listed))})"):
        for note in listed:
            removal = note.removal
            why = f": {removal.reason}" if removal and removal.reason else ""
            by = removal.acted_by if removal else ""
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                key=f"gone_{note.note}",
            ):
                st.button(
                    "Restore",
                    key=f"restore_note_{note.note}",
                    on_click=_restore,
                    args=(note,),
                )
                words = f"{note.kind} “{note.text[:SHOWN_LETTERS]}”, removed by {by}{why}"
                st.caption(literal(words), width="stretch")


SHOWN_LETTERS = 80


def _remove(note: Note, reason: str) -> None:
    _act(
        lambda: remove_note(
            data.folder(), note.note, by=shown.writer(), reason=reason
        )
    )


def _restore(note: Note) -> None:
    _act(lambda: restore_note(data.folder(), note.note, by=shown.writer()))


def _change(act: Callable[[], object]) -> None:
    """Act, then draw the page again; a refusal stays to be read."""
    with refusals_shown():
        require(Role.ANNOTATOR)
        act()
        st.rerun()


def _act(act: Callable[[], object]) -> None:
    """The same in a callback, after which the page is drawn anyway."""
    with refusals_shown():
        require(Role.ANNOTATOR)
        act()


def note_html(note: Note) -> str:
    """Who wrote it, when and about what; below, the text."""
    head = f"<b>{escape(note.written_by)}</b>"
    about = escape(
        f"{moment(note.written_at)}, about {subject_words(note.subject)}"
    )
    is_correction = note.kind is NoteKind.DIAGNOSIS
    title = "<b>Corrected diagnosis</b> by " if is_correction else ""
    text = _correction_html(note) if is_correction else text_html(note.text)
    return (
        f'<div class="cw-note">{title}{head} <span class="cw-dim cw-small">{about}</span>'
        f'<div class="cw-note-text">{text}</div></div>'
    )


def text_html(text: str) -> str:
    """The text with its mentions marked."""
    html, end = "", 0
    for found in MENTION.finditer(text):
        html += f"{escape(text[end : found.start()])}<b>{escape(found[0])}</b>"
        end = found.end()
    return html + escape(text[end:])


def _correction_html(note: Note) -> str:
    """Both texts as one with the words that changed marked; where they are too unlike, one after the other."""
    before = note.corrects or ""
    merged = differing_prose_html(before, note.text) if before else None
    if merged is not None:
        return merged
    removed = f"<del>{escape(before)}</del> " if before else ""
    return f"{removed}<ins>{escape(note.text)}</ins>"
