"""Practice: ten items about notebooks that ship with the app, each label among them, each with its reason."""

from collections import Counter

from crane_core.annotation.practice import practice_items
from crane_core.domain import Label
from crane_core.pipeline.campaigns.cards import practice_card
from crane_core.storage.store import Store


def test_ten_items_hold_every_label_and_say_why() -> None:
    items = practice_items()
    assert len(items) == 10
    assert Counter(item.label for item in items) == {
        Label.CORRECT: 4,
        Label.PARTIAL: 3,
        Label.WRONG: 3,
    }
    assert all(item.why.endswith(".") and len(item.why) > 20 for item in items)
    assert len({item.case_id for item in items}) == 10


def test_every_item_has_its_code_with_the_crashing_line_and_its_ground_truth(
    embedded_store: Store,
) -> None:
    for item in practice_items():
        shown = practice_card(embedded_store, item)
        assert shown.code and shown.crash_line and shown.truth and shown.exception, (
            item.case_id
        )
        assert [text.text for text in shown.texts] == [text for text, _ in item.texts]
