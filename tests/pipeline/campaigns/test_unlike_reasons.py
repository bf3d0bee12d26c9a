"""Labels and reasons that do not go together, worked by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from crane_core.annotation.order import Showing
from crane_core.pipeline.campaigns.unlike_reasons import (
    DifferingItems,
    differing_by_case,
    differing_by_reason,
    unlike_by_reason,
)
from crane_core.ui.campaigns.progress import MOST_ROWS, cells, left_out_words


def journal(**given: tuple[str, str | None]) -> Any:
    """Labels and reasons by item; an item that ends in `_again` is the hidden repeat."""
    return SimpleNamespace(
        given={
            Showing(
                name.removesuffix("_again"), 2 if name.endswith("_again") else 1
            ): SimpleNamespace(label=label, reason=reason)
            for name, (label, reason) in given.items()
        }
    )


ANA = journal(
    a=("wrong", "symptom"),
    b=("partial", "symptom"),
    c=("wrong", "place"),
    c_again=("partial", "place"),
    d=("correct", None),
)
BEN = journal(
    a=("partial", "vague"), b=("partial", "symptom"), c=("wrong", None)
)
PLAN: Any = SimpleNamespace(
    items=[
        SimpleNamespace(item=item, verdict=SimpleNamespace(case_id=case))
        for item, case in {"a": "x", "b": "x", "c": "y", "d": "y"}.items()
    ]
)


def test_own_items_of_a_reason_with_two_labels_without_hidden_repeats() -> None:
    assert unlike_by_reason(ANA) == {"a", "b"}
    assert unlike_by_reason(BEN) == frozenset()


def test_disagreements_are_counted_by_reason_and_case_over_items_with_two_labels() -> (
    None
):
    both = {"ana": ANA, "ben": BEN}
    assert differing_by_reason(PLAN, both) == [
        DifferingItems("vague", 1, 1),
        DifferingItems("symptom", 2, 1),
        DifferingItems("place", 1, 0),
    ]
    assert differing_by_case(PLAN, both) == [
        DifferingItems("x", 2, 1),
        DifferingItems("y", 1, 0),
    ]
    assert differing_by_case(PLAN, {"ana": ANA}) == []


def test_what_is_not_in_the_table_is_counted_with_its_reason() -> None:
    row = DifferingItems("vague", 12, 3)
    assert cells(row, "Reason", {"vague": "too general"}) == {
        "Reason": "too general",
        "Items": "12",
        "Unlike labels": "3 (25%)",
    }
    assert left_out_words(1, [row], 1) == ""
    assert left_out_words(4, [row], 10).startswith(
        "3 of 4 are shown after the lock: they have fewer than 10 items"
    )
    many = [row] * (MOST_ROWS + 2)
    assert left_out_words(len(many), many, 1).startswith("2 with as many")
