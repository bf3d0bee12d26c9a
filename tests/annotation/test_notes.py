"""Notes of two devices on one item."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.notes import merged_note

WORDS = st.sampled_from(["", "too short", "see cell 4", "wrong line", "odd"])


@pytest.mark.parametrize(
    ("stored", "before", "written", "merged"),
    [
        ("", "", "mine", "mine"),
        ("mine", "mine", "mine, longer", "mine, longer"),
        ("mine", "mine", "", ""),
        ("theirs", "", "mine", "theirs\nmine"),
        ("theirs\nmine", "mine", "mine, longer", "theirs\nmine, longer"),
        ("theirs\nmine", "mine", "", "theirs"),
        ("theirs", "mine", "", "theirs"),
        ("theirs", "", "theirs", "theirs"),
        ("theirs\nmine", "", "mine", "theirs\nmine"),
    ],
)
def test_a_text_that_the_device_did_not_know_stays(
    stored: str, before: str, written: str, merged: str
) -> None:
    assert merged_note(stored, before, written) == merged


@given(before=WORDS, theirs=WORDS, mine=WORDS)
def test_no_text_of_either_is_lost(before: str, theirs: str, mine: str) -> None:
    merged = merged_note(theirs, before, mine)
    assert mine in merged
    assert theirs == before or theirs in merged
