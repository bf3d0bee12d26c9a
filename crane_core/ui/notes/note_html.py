"""A note as finished HTML: escaped, mentions marked, a corrected diagnosis with what it changes."""

from html import escape

from crane_core.domain import NoteKind
from crane_core.pipeline.notes.notes import Note
from crane_core.pipeline.notes.reading import MENTION
from crane_core.ui.code_html import differing_prose_html
from crane_core.ui.notes.shown import subject_words
from crane_core.ui.words import moment


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
