"""One key that a source states twice: a duplicate if it says the same, a contradiction if it says something else.

Knows only how the two are distinguished and reported; the importers know what a key is. The first statement is kept.
"""

from __future__ import annotations

from collections.abc import Hashable

from crane_core.domain import LoadProblem, ProblemKind

DUPLICATE = "is a duplicate"
CONTRADICTION = "is given again with another answer; the first is kept"


class Statements:
    """What was stated about each key, kept as hashes: a source may hold millions of answers."""

    def __init__(self) -> None:
        self._stated: dict[Hashable, int] = {}

    def problem(
        self, key: Hashable, stated: Hashable, *, path: str, place: str, what: str
    ) -> LoadProblem | None:
        """None for the first statement about a key. what: the key in words, such as "run 1 of pandas_1_fixed"."""
        if key not in self._stated:
            self._stated[key] = hash(stated)
            return None
        if self._stated[key] == hash(stated):
            return LoadProblem(path, place, f"{what} {DUPLICATE}")
        return LoadProblem(
            path, place, f"{what} {CONTRADICTION}", ProblemKind.CONTRADICTION
        )
