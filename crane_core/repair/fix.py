"""A fix: the target's code with edits, or cells to run before it, and one sentence that says what it does.

Loaded in kernels too, so it imports little. Refuses to know where a fix comes from and whether it works.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

RULES = "rules"
"""Who proposed a fix; else it is the name of a model."""
USUAL_CANDIDATES, MOST_CANDIDATES = 3, 20
"""Cells that a model proposes for one crash."""


class SourceEdit(NamedTuple):
    """Characters `start` to `end` of a source are replaced by `text`."""

    start: int
    end: int
    text: str


class EarlierCell(NamedTuple):
    """A cell to run before the target; `called` is how the face of the notebook names it."""

    called: str
    source: str


@dataclass(frozen=True, slots=True)
class Fix:
    """`source` is the whole target with the fix, the same as before if only cells have to run first.

    `names` are those that it assigns at its top level.
    """

    source: str
    sentence: str
    first: tuple[EarlierCell, ...] = ()
    by: str = RULES
    names: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """What runs in the copy: the cells first, then the target."""
        earlier = [cell.source for cell in self.first]
        return "\n".join([*earlier, self.source])


class Proposals(NamedTuple):
    """Fixes to be tried, in order, and why others are refused: a sentence part each."""

    fixes: tuple[Fix, ...]
    refused: tuple[str, ...] = ()


def edited(source: str, edits: Iterable[SourceEdit]) -> str:
    """The source with these edits, which do not overlap."""
    # From the end, so that the places of the earlier ones stay what they are.
    for edit in sorted(edits, reverse=True):
        before = source[: edit.start]
        after = source[edit.end :]
        source = f"{before}{edit.text}{after}"
    return source


def diff(before: str, after: str, name: str) -> str:
    """A unified diff of the target; empty where nothing changes. `name` says which cell it is."""
    from difflib import unified_diff  # only a fix that is shown needs it

    lines = unified_diff(
        before.splitlines(), after.splitlines(), name, name, lineterm="", n=2
    )
    return "\n".join(lines)
