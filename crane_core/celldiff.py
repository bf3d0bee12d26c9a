"""Two notebooks side by side: cells matched first, then lines. Texts in, aligned rows out; no screen, no kernel."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

LIKENESS = 0.5
"""Cells that share at least this part of their text (difflib ratio) are two versions of one cell."""
GAP = 0.24
"""What leaving a cell unmatched is worth; two gaps stay below one match at LIKENESS."""


class CellPair(NamedTuple):
    """Indices of a cell on the left and on the right; None where one side has no such cell."""

    left: int | None
    right: int | None


class LinePair(NamedTuple):
    """A line on both sides (None where it is missing); `same` when nothing differs but blanks at its end."""

    left: str | None
    right: str | None
    same: bool


def align_cells(left: list[str], right: list[str], *, pinned: CellPair | None = None) -> list[CellPair]:
    """Match cells in order, so that the total likeness is largest.

    A `pinned` pair (the two targets) stands together whatever its texts.
    """
    if pinned is not None and pinned.left is not None and pinned.right is not None:
        before = align_cells(left[: pinned.left], right[: pinned.right])
        after = align_cells(left[pinned.left + 1 :], right[pinned.right + 1 :])
        shifted = [CellPair(_plus(p.left, pinned.left + 1), _plus(p.right, pinned.right + 1)) for p in after]
        return [*before, pinned, *shifted]
    return _best_alignment(left, right, [[_likeness(a, b) for b in right] for a in left])


def _plus(index: int | None, offset: int) -> int | None:
    return None if index is None else index + offset


def _likeness(a: str, b: str) -> float:
    if a.strip() == b.strip():
        return 1.0
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.real_quick_ratio() < LIKENESS or matcher.quick_ratio() < LIKENESS:
        return 0.0
    ratio = SequenceMatcher(None, a.splitlines(), b.splitlines(), autojunk=False).ratio()
    return max(ratio, matcher.ratio() if len(a) * len(b) < 4_000_000 else 0.0)


def _best_alignment(left: list[str], right: list[str], likeness: list[list[float]]) -> list[CellPair]:
    """Needleman-Wunsch over cells: a match scores its likeness, a gap scores GAP."""
    n, m = len(left), len(right)
    score = [[(i + j) * GAP for j in range(m + 1)] for i in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            match = score[i - 1][j - 1] + likeness[i - 1][j - 1]
            score[i][j] = max(match, score[i - 1][j] + GAP, score[i][j - 1] + GAP)
    pairs: list[CellPair] = []
    i, j = n, m
    while i or j:
        if i and j and score[i][j] == score[i - 1][j - 1] + likeness[i - 1][j - 1]:
            i, j = i - 1, j - 1
            pairs.append(CellPair(i, j))
        elif i and (not j or score[i][j] == score[i - 1][j] + GAP):
            i -= 1
            pairs.append(CellPair(i, None))
        else:
            j -= 1
            pairs.append(CellPair(None, j))
    return pairs[::-1]


def align_lines(left: str, right: str) -> list[LinePair]:
    """Lines of two texts side by side; changed stretches are paired from their top."""
    a, b = [line.rstrip() for line in left.splitlines()], [line.rstrip() for line in right.splitlines()]
    rows: list[LinePair] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for offset in range(max(i2 - i1, j2 - j1)):
            one = a[i1 + offset] if i1 + offset < i2 else None
            other = b[j1 + offset] if j1 + offset < j2 else None
            rows.append(LinePair(one, other, tag == "equal"))
    return rows
