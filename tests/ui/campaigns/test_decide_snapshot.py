"""The order in which a lead decides, and that nothing from a browser is trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from crane_core.annotation.label_set import study_labels
from crane_core.domain import Annotation, AnnotationAction, Label
from crane_core.pipeline.campaigns.disputes import Dispute
from crane_core.ui.campaigns.adjudication import (
    DecisionOutcome,
    deciding,
    queue,
    texts,
)

DECIDED = Annotation(
    "pilot",
    "cleo",
    "event-1",
    1,
    AnnotationAction.ADJUDICATE,
    "b",
    1,
    "g1",
    "2026-11-23",
    Label.WRONG,
)
FOUND = [
    Dispute(item, True, (), DECIDED if item == "b" else None) for item in "abcd"
]


@pytest.mark.parametrize(
    ("asked", "late", "expected"),
    [
        ("next", [], "acd"),
        ("c", [], "cda"),
        ("b", [], "bacd"),
        ("next", ["a"], "cda"),
        ("next", ["c", "a", "b"], "dca"),
    ],
)
def test_the_asked_item_is_first_and_those_put_off_are_last(
    asked: str, late: list[str], expected: str
) -> None:
    assert "".join(queue(FOUND, asked, late)) == expected


def test_cards_and_evidence_are_sent_once_and_a_decided_item_says_by_whom() -> (
    None
):
    sent = {"have": ["a", 7], "evidence": "a", "late": {"a": 1}}
    now = deciding(
        FOUND,
        study_labels(),
        "b",
        sent,
        DecisionOutcome(["e1"]),
        card_of=lambda one: one.item,
        evidence_of=lambda item: item,
    )
    assert (now["queue"], now["n_waiting"], now["n_all"]) == (
        ["b", "a", "c", "d"],
        3,
        4,
    )
    assert now["cards"] == {"b": "b", "c": "c", "d": "d"}
    assert now["evidence"] == {"b": "b", "a": "a"}
    assert now["decided"] == {
        "b": "Decided by cleo: ✗ wrong. A new decision replaces it."
    }
    assert [label["key"] for label in now["labels"]] == ["1", "2", "3"]
    assert [reason["key"] for reason in now["reasons"]] == [
        "4",
        "5",
        "6",
        "7",
        "8",
    ]
    assert texts(Path()) == []
