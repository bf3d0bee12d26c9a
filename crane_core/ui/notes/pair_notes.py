"""The part of a pair's page where people write: its tags, comments and corrected diagnoses.

A note is shown as finished HTML: escaped, mentions marked, a corrected diagnosis with what it changes. Knows which
notes this visitor may see, and what the visitor may do with one.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from html import escape

import streamlit as st

from crane_core.domain import NoteKind
from crane_core.identity.visitor import Role
from crane_core.pipeline.notes import reading
from crane_core.pipeline.notes.notes import (
    LONGEST_REASON,
    MOST_LETTERS,
    MOST_OF_A_NAME,
    Note,
    NoteSubject,
    add_note,
    all_notes,
    of_case,
    remove_note,
    restore_note,
)
from crane_core.pipeline.notes.reading import MENTION
from crane_core.pipeline.notes.subjects import diagnosis_of, subjects_of
from crane_core.ui import data, keys
from crane_core.ui.access import is_leading
from crane_core.ui.code_html import differing_prose_html
from crane_core.ui.inventory_view import WITHOUT_LOGIN
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import may, require, visitor
from crane_core.ui.words import (
    VERSION_WORDS,
    count,
    experiment_words,
    literal,
    moment,
    quantity,
    setting_short,
)

MOST_MENTIONS = 20
"""Mentions that are listed; the export has all."""


def notes_seen() -> reading.NotesFor:
    """What this visitor may read, removed notes too."""
    folder = data.folder()
    return reading.notes_for(folder, all_notes(folder), visitor().name)


def notes_on(benchmark: str) -> list[Note]:
    """The notes of a benchmark that this visitor may read, without removed ones."""
    return [
        note
        for note in notes_seen().notes
        if note.removal is None and note.subject.benchmark == benchmark
    ]


def may_write() -> bool:
    """Whether this visitor may write notes."""
    return may(Role.ANNOTATOR)


def writer() -> str:
    """Who writes, for the ledger: the name of the login, else what the visitor called themselves."""
    typed = str(st.session_state.get(keys.NOTE_NAME) or "").strip()
    return visitor().name or typed or WITHOUT_LOGIN


def may_turn(note: Note) -> bool:
    """Whether this visitor may remove or restore a note: those who wrote it, and leads."""
    return may_write() and (note.written_by == writer() or is_leading())


def tag_cases(benchmark: str) -> dict[str, frozenset[str]]:
    """Each tag of a benchmark to its cases, as far as this visitor may see them."""
    return reading.cases_by_tag(notes_on(benchmark), benchmark)


def tags_by_case(of_tags: Mapping[str, frozenset[str]]) -> dict[str, list[str]]:
    """Each case to its tags."""
    found: dict[str, list[str]] = defaultdict(list)
    for tag, cases in of_tags.items():
        for case_id in cases:
            found[case_id].append(tag)
    return dict(found)


def counts_words(benchmark: str) -> str:
    """How many notes there are on the cases of a benchmark; empty without any."""
    notes = notes_on(benchmark)
    if not notes:
        return ""
    kinds = kind_counts(notes)
    n_cases = len({note.subject.case_id for note in notes})
    return f" Written here: {kinds} on {quantity(n_cases, 'case')}."


def kind_counts(notes: Sequence[Note]) -> str:
    """How many notes of each kind there are, such as "2 tags, 1 comment"."""
    n_of: dict[str, int] = defaultdict(int)
    for note in notes:
        n_of[str(note.kind)] += 1
    plural = {"diagnosis": "diagnoses"}
    words = [
        f"{count(n)} {kind if n == 1 else plural.get(kind, f'{kind}s')}"
        for kind, n in n_of.items()
    ]
    return ", ".join(words).replace("diagnos", "corrected diagnos")


def subject_words(about: NoteSubject) -> str:
    """What a note is about, in words."""
    if about.thing == "case":
        return "the case"
    version = VERSION_WORDS.get(str(about.version), about.version)
    title = _detector_title(str(about.detector))
    what = f"{title} {setting_short(str(about.setting))}, {version}"
    where = experiment_words(str(about.experiment))
    if about.labelled_by is not None:
        return f"the label of {about.labelled_by}: {what} ({where})"
    index = about.run_index
    which = f"answer {index} of" if index else "all answers of"
    return f"{which} {what} ({where})"


def _detector_title(detector: str) -> str:
    """How its makers write it; the id of one that has no answers any more."""
    known = data.conditions()
    titles = known.loc[known["detector"] == detector, "detector_title"]
    return detector if titles.empty else str(titles.iloc[0])


def draw_mentions() -> None:
    """The newest comments that mention the visitor, each with a link to its case; nothing without a login."""
    found = reading.mentioning(
        [note for note in notes_seen().notes if note.removal is None],
        visitor().name,
    )
    if not found:
        return
    with st.expander(f"Comments that mention you ({count(len(found))})"):
        for note in found[:MOST_MENTIONS]:
            _draw_mention(note)
        if len(found) > MOST_MENTIONS:
            st.caption(f"The newest {MOST_MENTIONS} are listed.")


def _draw_mention(note: Note) -> None:
    about = note.subject
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.button(
            literal(about.case_id),
            key=f"mention_{note.note}",
            on_click=_open,
            args=(about,),
        )
        words = f"{note.written_by}: {' '.join(note.text.split())}"
        st.caption(literal(words[:MOST_OF_LINE]), width="stretch")


MOST_OF_LINE = 160
"""Characters of a comment in the list of mentions."""


def _open(about: NoteSubject) -> None:
    st.query_params[keys.BENCHMARK] = about.benchmark
    st.query_params[keys.CASE] = about.case_id


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
        return f" · [Write a note](#{ANCHOR})" if may_write() else ""
    return f" · [{kind_counts(standing)}](#{ANCHOR})"


def draw_notes(benchmark: str, case_id: str) -> None:
    """Tags, comments and corrections of a case, with forms for those who may write."""
    seen = notes_seen()
    notes = of_case(seen.notes, benchmark, case_id)
    is_hidden = (benchmark, case_id) in seen.hidden_cases
    if not (notes or is_hidden or may_write()):
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
    return of_case(notes_seen().notes, benchmark, case_id)


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
                f"{words} ✕" if may_turn(note) else words,
                key=f"tag_{note.note}",
                disabled=not may_turn(note),
                help=literal(
                    f"{note.written_by}, about {subject_words(note.subject)}"
                ),
                on_click=_remove,
                args=(note, ""),
            )
        if may_write():
            _draw_new_tag(case, tags)
            _draw_form(case.benchmark, case.case_id)


def _draw_new_tag(case: NoteSubject, tags: Sequence[Note]) -> None:
    # The ids change with what was added, so that the choice is empty again.
    place = f"{case.case_id}_{len(tags)}"
    known = tag_cases(case.benchmark)
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
                    data.folder(), NoteKind.TAG, case, chosen, by=writer()
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
        if not may_turn(note):
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
            format_func=subject_words,
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
                    by=writer(),
                    corrects=corrects,
                )
            )


def _draw_removed(notes: Sequence[Note]) -> None:
    """What was removed, by whom and why, each with a way back; only for those who may bring it back."""
    listed = [note for note in notes if may_turn(note)]
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
            data.folder(), note.note, by=writer(), reason=reason
        )
    )


def _restore(note: Note) -> None:
    _act(lambda: restore_note(data.folder(), note.note, by=writer()))


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
