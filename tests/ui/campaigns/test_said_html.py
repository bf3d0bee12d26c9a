"""The annotators' labels of an item: every label by name, and no note that becomes markup."""

from __future__ import annotations

from collections.abc import Callable

from crane_core.annotation.label_set import study_labels
from crane_core.domain import Label
from crane_core.pipeline.campaigns.disputes import GivenLabel
from crane_core.ui.campaigns.adjudication import MAX_NOTE, said_html

TextOf = Callable[[str], str]


def test_both_labels_stand_with_name_reason_note_and_flag(
    text_of: TextOf,
) -> None:
    html = said_html(
        [
            GivenLabel("ana", Label.WRONG, "a", "see cell 2", True),
            GivenLabel("ben", Label.CORRECT, None, "", False),
        ],
        study_labels(),
    )
    text = text_of(html)
    assert "ana flagged✗ wrong another causesee cell 2" in text
    assert text.endswith("ben ✓ correct")


def test_who_has_not_labelled_is_shown_as_such(text_of: TextOf) -> None:
    assert "not labelled yet" in text_of(
        said_html([GivenLabel("ana", None, None, "", False)], study_labels())
    )


def test_a_hostile_note_stays_text_and_is_bounded(
    hostile: str, text_of: TextOf
) -> None:
    html = said_html(
        [GivenLabel("ana", Label.PARTIAL, "b", hostile, False)], study_labels()
    )
    assert len(text_of(html)) < MAX_NOTE + 200
    assert text_of(html).startswith("ana")
