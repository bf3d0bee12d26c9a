"""Which places of the app some words mean."""

from __future__ import annotations

from crane_core.ui.bar.places import (
    MOST,
    Place,
    PlaceKind,
    best,
    listed,
    matching,
)


def place(
    name: str, about: str = "", kind: PlaceKind = PlaceKind.CASE
) -> Place:
    return Place(kind, name, about, "cases", {"case": name})


KNOWN = [
    place("Data", "what is loaded", PlaceKind.PAGE),
    place("pandas_1", "JunoBench · KeyError"),
    place("pandas_10", "JunoBench · ValueError"),
    place("pandas_1", "minibench · KeyError"),
    place("GPT-5, +RT", "JunoBench", PlaceKind.RUN),
]


def names(text: str) -> list[str]:
    return [f"{one.name} {one.about}" for one in matching(listed(KNOWN), text)]


def test_every_word_must_be_there_and_exact_names_come_first() -> None:
    assert names("pandas_1 minibench") == ["pandas_1 minibench · KeyError"]
    assert names("PANDAS_1 (JunoBench)")[0] == "pandas_1 JunoBench · KeyError"
    assert names("pandas_10 keyerror") == []
    assert names("  ") == []


def test_enter_leads_to_what_has_the_name_and_else_to_the_first() -> None:
    search = place("Cases that contain", kind=PlaceKind.TEXT)
    assert best([search, KNOWN[1]], "pandas_1") == KNOWN[1]
    assert best([search, KNOWN[1]], "KeyError") == search
    assert best([], "nothing") is None


def test_hits_are_bounded_and_each_kind_keeps_its_place() -> None:
    many = [
        place(f"torch_{n}", kind=kind)
        for kind in (PlaceKind.RUN, PlaceKind.CASE, PlaceKind.PAGE)
        for n in range(500)
    ]
    found = matching(listed(many), "torch")
    assert len(found) == MOST
    order = [list(PlaceKind).index(one.kind) for one in found]
    assert order == sorted(order)
