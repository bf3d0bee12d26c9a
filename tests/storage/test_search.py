"""Words are found in labels, tracebacks, diagnoses and code; every word has to be somewhere in the case."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import (
    Benchmark,
    Case,
    Cell,
    CellRole,
    Instance,
    Record,
    Version,
)
from crane_core.storage.search import (
    MOST_CHARACTERS,
    MOST_WORDS,
    FoundLine,
    cases_with_phrase,
    cases_with_text,
    found_lines,
    words_of,
)
from crane_core.storage.store import IN_MEMORY, Store, open_store
from crane_core.storage.write import add_records

BINCOUNT = "np.BINCOUNT(lanes)"
RECORDS: list[Record] = [
    Benchmark("mine", "Mine"),
    Case(
        "mine",
        "a",
        library="numpy",
        diagnosis="The Lane is negative.",
        traceback="ValueError: below 0%",
    ),
    Case("mine", "b", exception="keyerror"),
    *(
        Instance("mine", case, version)
        for case in ("a", "b")
        for version in Version
    ),
    Cell(
        "mine", "a_fixed", "notebook", 0, CellRole.TARGET, f"a = 1\n{BINCOUNT}"
    ),
    Cell(
        "mine", "b_reproduced", "notebook", 0, CellRole.TARGET, "df['lane_1']"
    ),
]


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    opened = open_store(IN_MEMORY)
    opened.write(lambda cursor: add_records(cursor, RECORDS, source_id="made"))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("lane", ["a", "b"]),
        ("LANE bincount", ["a"]),
        ("numpy below", ["a"]),
        ("keyerror lane_", ["b"]),
        ("0%", ["a"]),
        ("%", ["a"]),
        ("negative keyerror", []),
        ("nothing", []),
        ("  ", []),
    ],
)
def test_every_word_is_in_the_case(
    store: Store, text: str, found: list[str]
) -> None:
    assert cases_with_text(store.cursor(), "mine", text) == found
    assert cases_with_text(store.cursor(), "other", text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("lane  is NEGATIVE", ["a"]),
        ("negative lane", []),
        ("lane", ["a", "b"]),
        (" ", []),
    ],
)
def test_a_phrase_is_found_as_it_stands(
    store: Store, text: str, found: list[str]
) -> None:
    assert cases_with_phrase(store.cursor(), "mine", text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("lane", FoundLine("diagnosis", None, "The Lane is negative.")),
        ("below lane bincount", FoundLine("target", "fixed", BINCOUNT)),
        ("numpy", FoundLine("library", None, "numpy")),
        ("0%", FoundLine("traceback", None, "ValueError: below 0%")),
    ],
)
def test_of_a_case_the_line_with_most_of_the_words_is_shown(
    store: Store, text: str, found: FoundLine
) -> None:
    lines = found_lines(store.cursor(), "mine", text, ["a"])
    assert lines == {"a": found}


@given(text=st.text(max_size=200))
def test_any_text_is_a_question(store: Store, text: str) -> None:
    found = cases_with_text(store.cursor(), "mine", text)
    assert set(found) <= {"a", "b"}
    lines = found_lines(store.cursor(), "mine", text, ["a", "b"])
    assert set(found) <= set(lines)


def test_what_is_asked_for_is_bounded() -> None:
    assert words_of("A a " + "x" * 500 + " " + " ".join(map(str, range(50))))[
        :2
    ] == [
        "a",
        "x" * MOST_CHARACTERS,
    ]
    assert len(words_of(" ".join(map(str, range(50))))) == MOST_WORDS
