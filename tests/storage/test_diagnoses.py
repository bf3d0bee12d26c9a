"""The texts of an item: those of the runs that predict a crash, equal ones counted, the most frequent first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crane_core.domain import Detector, DetectorKind, Run, Setting
from crane_core.storage.diagnoses import (
    answers_with_text,
    detector_names,
    diagnoses,
)
from crane_core.storage.store import IN_MEMORY, Store, open_store
from crane_core.storage.write import add_records

WHERE = ("mine", "numpy_1_reproduced", "heron", Setting.CODE, "ours")
TEXTS = [
    (True, "No lanes."),
    (True, "Too few lanes."),
    (True, "  Too few lanes.\n"),
    (False, "Too few lanes."),
    (None, None),
    (True, " \n\t\r\n"),
    (True, ""),
    (True, None),
]


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store(IN_MEMORY)
    runs = [
        Run(*WHERE, i, crashes=crashes, reasoning=text)
        for i, (crashes, text) in enumerate(TEXTS, start=1)
    ]
    others = [
        Run(
            "mine",
            "numpy_2_reproduced",
            "heron",
            Setting.CODE,
            "ours",
            1,
            crashes=True,
            reasoning=" \n",
        ),
        Run(
            "mine",
            "numpy_1_reproduced",
            "egret",
            Setting.CODE,
            "ours",
            1,
            crashes=True,
            reasoning="Another's.",
        ),
        Run(
            "mine",
            "numpy_1_reproduced",
            "heron",
            Setting.CODE,
            "other study",
            1,
            crashes=True,
            reasoning="Elsewhere.",
        ),
    ]
    detectors = [
        Detector(name, title, DetectorKind.LLM)
        for name, title in (("heron", "Heron 2"), ("egret", "Egret"))
    ]
    opened.write(
        lambda cursor: add_records(
            cursor, [*runs, *others, *detectors], source_id="test"
        )
    )
    yield opened
    opened.close()


def test_equal_texts_are_counted_and_the_most_frequent_comes_first(
    store: Store,
) -> None:
    assert diagnoses(store.cursor(), *WHERE) == [
        ("Too few lanes.", 2),
        ("No lanes.", 1),
    ]


def test_blank_is_no_text(store: Store) -> None:
    told = answers_with_text(store.cursor(), "mine", "ours")
    assert told == {
        WHERE,
        ("mine", "numpy_1_reproduced", "egret", "code", "ours"),
    }
    assert (
        diagnoses(
            store.cursor(),
            "mine",
            "numpy_2_reproduced",
            "heron",
            "code",
            "ours",
        )
        == []
    )


def test_names_to_hide_are_ids_and_titles(store: Store) -> None:
    assert detector_names(store.cursor()) == [
        "egret",
        "Egret",
        "heron",
        "Heron 2",
    ]
