"""Places of the app that a person may look for by words, and which of them some words mean.

Knows how places are compared with words. Refuses to know where places come from and how they are drawn.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

MOST = 20
"""Places that are answered at once."""
MOST_OF_GROUP = 8
MOST_LETTERS = 200
"""Of the words that are looked for; the rest is ignored."""
_WORD = re.compile(r"[^\s()]+")

Query = Mapping[str, str | list[str]]


class PlaceKind(StrEnum):
    """What a place is; the list of hits is grouped by it, in this order."""

    PHRASE = "Cases that match"
    PAGE = "Pages"
    VIEW = "Saved views"
    CASE = "Cases"
    RUN = "Runs"
    CAMPAIGN = "Campaigns"
    TEXT = "Text search"


class Place(NamedTuple):
    """One address of the app: what it is called, a few words on it, the page and its query parameters."""

    kind: PlaceKind
    name: str
    about: str
    page: str
    query: Query


class SearchEntry(NamedTuple):
    """A place with the letters that are compared, in lower case."""

    place: Place
    name: str
    text: str


def listed(places: Iterable[Place]) -> list[SearchEntry]:
    """Places in a form that is compared quickly: made once, used at each key."""
    return [
        SearchEntry(
            place,
            place.name.lower(),
            f"{place.name} {place.about} {place.kind}".lower(),
        )
        for place in places
    ]


def words_of(text: str) -> list[str]:
    """The words that are looked for, in lower case, without brackets."""
    return _WORD.findall(text[:MOST_LETTERS].lower())


def matching(known: Sequence[SearchEntry], text: str) -> list[Place]:
    """At most MOST places that hold every word, the best named first within each kind."""
    words = words_of(text)
    if not words:
        return []
    # Sorting is stable: equally good ones stay in the order in which they are known.
    ranked = sorted(
        (one for one in known if all(word in one.text for word in words)),
        key=lambda one: _rank(one, words),
    )
    found: list[Place] = []
    for kind in PlaceKind:
        of_kind = (one.place for one in ranked if one.place.kind is kind)
        found += islice(of_kind, MOST_OF_GROUP)
    return found[:MOST]


def is_named(place: Place, text: str) -> bool:
    """Whether the place's name begins with the first word, so that it is what was meant."""
    words = words_of(text)
    return bool(words) and place.name.lower().startswith(words[0])


def best(places: Sequence[Place], text: str) -> Place | None:
    """Where Enter leads: what has exactly this name, else the first in the list; None for an empty list."""
    words = words_of(text)
    exact = [place for place in places if place.name.lower() in words]
    return next(iter([*exact, *places]), None)


def _rank(one: SearchEntry, words: Sequence[str]) -> int:
    """0: its name is one of the words; 1: its name begins with the first word; 2: the rest."""
    if one.name in words:
        return 0
    return 1 if one.name.startswith(words[0]) else 2
