"""Which notes this visitor may see, and what the visitor may do with one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import streamlit as st

from crane_core.identity.visitor import Role
from crane_core.pipeline.notes import reading
from crane_core.pipeline.notes.notes import Note, NoteSubject, all_notes
from crane_core.ui import data, keys
from crane_core.ui.access import is_leading
from crane_core.ui.inventory_view import WITHOUT_LOGIN
from crane_core.ui.visit import may, visitor
from crane_core.ui.words import (
    VERSION_WORDS,
    count,
    experiment_words,
    literal,
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
