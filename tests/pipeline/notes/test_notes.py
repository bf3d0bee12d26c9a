"""Notes: the ledger holds each act, what is removed comes back, and a person learns nothing of what they label."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core import ledger
from crane_core.annotation.plan import Plan
from crane_core.domain import (
    InventoryAct,
    InventoryAction,
    Listed,
    NoteKind,
    answer_name,
)
from crane_core.errors import NoteError
from crane_core.pipeline.audit import is_for_database, is_private
from crane_core.pipeline.campaigns.campaigns import lock_campaign
from crane_core.pipeline.inventory import inventory_file
from crane_core.pipeline.loading.load import load_ledger, prepare
from crane_core.pipeline.notes.notes import (
    MOST_OF_A_CASE,
    NoteSubject,
    add_note,
    all_notes,
    note_file,
    remove_note,
    restore_note,
    standing,
)
from crane_core.pipeline.notes.reading import (
    cases_by_tag,
    difference,
    mentioned,
    mentioning,
    notes_for,
)
from crane_core.pipeline.notes.subjects import (
    diagnosis_of,
    subject_like,
    subjects_of,
)
from crane_core.pipeline.places import DataFolder

CASE = NoteSubject("minibench", "pandas_1")
ANSWER = NoteSubject(
    "minibench", "pandas_1", "mine", "m", "code", "fixed", run_index=2
)
TAG, COMMENT = NoteKind.TAG, NoteKind.COMMENT


def test_a_note_is_added_removed_and_restored_and_each_act_is_kept(
    empty: DataFolder,
) -> None:
    note = add_note(empty, TAG, CASE, "  off \n by one ", by="ana")
    assert note.text == "off by one"
    assert standing(empty) == [note]
    gone = remove_note(empty, note.note, by="ben", reason="not  so")
    assert standing(empty) == []
    assert all_notes(empty) == [gone]
    assert gone.removal is not None
    assert (gone.removal.acted_by, gone.removal.reason) == ("ben", "not so")
    assert restore_note(empty, note.note, by="ana") == note
    assert standing(empty) == [note]
    assert len(ledger.tail(note_file(empty)).records) == 3
    with pytest.raises(NoteError, match="can be restored"):
        restore_note(empty, note.note, by="ana")
    with pytest.raises(NoteError, match="can be removed"):
        remove_note(empty, "gone", by="ana")


def test_a_tag_stands_once_on_a_thing_and_is_counted_over_its_cases(
    empty: DataFolder,
) -> None:
    first = add_note(empty, TAG, CASE, "Off by one", by="ana")
    with pytest.raises(NoteError, match="has the tag 'off BY one' already"):
        add_note(empty, TAG, CASE, "off BY one", by="ben")
    add_note(empty, TAG, ANSWER, "off by one", by="ben")
    other = CASE._replace(case_id="numpy_3")
    add_note(empty, TAG, other, "OFF BY ONE", by="ben")
    add_note(empty, TAG, other, "dtype", by="ben")
    assert cases_by_tag(standing(empty), "minibench") == {
        "dtype": {"numpy_3"},
        "Off by one": {"numpy_3", "pandas_1"},
    }
    assert cases_by_tag(standing(empty), "junobench") == {}
    remove_note(empty, first.note, by="ana")
    add_note(empty, TAG, CASE, "off by one", by="ben")
    # It would stand there twice.
    with pytest.raises(NoteError, match="already"):
        restore_note(empty, first.note, by="ana")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (TAG, "  "),
        (TAG, "x" * 41),
        (TAG, "bell\x07"),
        (COMMENT, "\u202eturned"),
        (COMMENT, "x" * 2_001),
        (NoteKind.DIAGNOSIS, "x" * 4_001),
    ],
)
def test_what_cannot_be_read_is_refused_and_not_kept(
    empty: DataFolder, kind: NoteKind, text: str
) -> None:
    with pytest.raises(NoteError, match="readable characters"):
        add_note(empty, kind, CASE, text, by="ana")
    with pytest.raises(NoteError, match="name of its writer"):
        add_note(empty, COMMENT, CASE, "said", by=" ")
    assert all_notes(empty) == []


def test_a_case_takes_so_many_notes(
    empty: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_OF_A_CASE == 300
    module = "crane_core.pipeline.notes.notes.MOST_OF_A_CASE"
    monkeypatch.setattr(module, 2)
    for _ in range(2):
        add_note(empty, COMMENT, CASE, "said\nagain", by="ana")
    with pytest.raises(NoteError, match="which is the most"):
        add_note(empty, COMMENT, ANSWER, "once more", by="ana")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Listed.BENCHMARK, "minibench"),
        (Listed.RUN, "mine"),
        (
            Listed.ANSWER,
            answer_name("minibench", "mine", "m", "code", "pandas_1_fixed", 2),
        ),
    ],
)
def test_notes_go_and_come_back_with_what_they_are_about(
    empty: DataFolder, kind: Listed, name: str
) -> None:
    note = add_note(empty, COMMENT, ANSWER, "see cell 4", by="ana")
    for action, left in (
        (InventoryAction.REMOVE, []),
        (InventoryAction.RESTORE, [note]),
    ):
        act = InventoryAct(kind, name, action, "2026-01-02T03:04:05Z", "ana")
        ledger.append(inventory_file(empty), act)
        assert standing(empty) == left


def test_an_annotator_learns_nothing_of_a_case_until_the_campaign_is_locked(
    pilot: Callable[..., tuple[DataFolder, Plan]],
) -> None:
    folder, plan = pilot()
    item = plan.items[0].verdict
    about = NoteSubject(item.benchmark, item.case_id)
    there = add_note(folder, COMMENT, about, "@ana clear", by="ben")
    other = add_note(folder, COMMENT, CASE, "@ana other", by="ben")
    annotator = plan.annotators[0]
    seen = notes_for(folder, standing(folder), annotator)
    assert seen.notes == (other,)
    # Cases without a note are named too, so that being named says nothing.
    assert seen.hidden_cases == {
        (one.verdict.benchmark, one.verdict.case_id) for one in plan.items
    }
    for reader in ("zoe", ""):
        assert notes_for(folder, standing(folder), reader).notes == (
            there,
            other,
        )
    lock_campaign(folder, plan.campaign, by="lea")
    after = notes_for(folder, standing(folder), annotator)
    assert (after.notes, after.hidden_cases) == ((there, other), frozenset())


def test_mentions_are_names_after_an_at_sign(empty: DataFolder) -> None:
    text = "@ana, see ben@lab.example and (@ben_2). @ana! @Ana @@x"
    assert mentioned(text) == ["ana", "ben_2"]
    first = add_note(empty, COMMENT, CASE, "for @ana", by="ben")
    second = add_note(empty, COMMENT, ANSWER, "@ana. again", by="ben")
    add_note(empty, TAG, CASE, "@ana", by="ben")
    assert mentioning(standing(empty), "ana") == [second, first]
    assert mentioning(standing(empty), "") == []


@given(st.text(max_size=60), st.text(min_size=1, max_size=60))
def test_a_difference_holds_both_texts(before: str, after: str) -> None:
    # Where neither text has these signs, what is removed and what is added can be taken out again.
    signs = str.maketrans("", "", "[]{}+-")
    before, after = before.translate(signs), after.translate(signs)
    written = difference(before, after)
    assert _without(written, "[-", "-]", "{+", "+}") == after
    assert _without(written, "{+", "+}", "[-", "-]") in (before, "")


def _without(text: str, begin: str, end: str, *signs: str) -> str:
    """The text without the stretches between `begin` and `end`, and without the other signs."""
    while begin in text:
        head, _, rest = text.partition(begin)
        text = head + rest.partition(end)[2]
    for sign in signs:
        text = text.replace(sign, "")
    return text


def test_a_difference_marks_the_words_that_changed() -> None:
    assert (
        difference("The index 5 is out of range.", "The index 4 is in range.")
        == "The index [-5-]{+4+} is [-out of-]{+in+} range."
    )
    assert difference("", "new") == "{+new+}"


def test_subjects_are_what_the_case_has(small_folder: DataFolder) -> None:
    with closing(prepare(small_folder)) as store:
        assert subjects_of(store, *CASE[:2])[0] == CASE
        assert subject_like(store, *CASE[:2]) == CASE
        assert diagnosis_of(store, CASE)
        with pytest.raises(NoteError, match="no case 'numpy_99'"):
            subject_like(store, "minibench", "numpy_99")
        with pytest.raises(NoteError, match="has no such answer"):
            subject_like(store, *CASE[:2], experiment="none")
        with pytest.raises(NoteError, match="has no such label"):
            subject_like(store, *CASE[:2], labelled_by="nobody")
        with pytest.raises(NoteError, match="no text to correct"):
            diagnosis_of(store, ANSWER._replace(run_index=0))
        add_note(small_folder, COMMENT, CASE, "said", by="ana")
        assert load_ledger(store, small_folder) == 0
    assert is_private("notes.jsonl")
    assert not is_for_database("notes.jsonl")


def test_a_diagnosis_that_changes_nothing_is_refused(empty: DataFolder) -> None:
    with pytest.raises(NoteError, match="as it is now"):
        add_note(
            empty,
            NoteKind.DIAGNOSIS,
            CASE,
            "As it is. ",
            by="ana",
            corrects=" As it is.",
        )
