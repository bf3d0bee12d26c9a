"""Two notebooks side by side: cells matched first, then lines. Texts in, aligned rows out; no screen, no kernel."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple

LIKENESS = 0.5
"""Cells that share at least this part of their text (difflib ratio) are two versions of one cell."""
GAP = 0.24
"""What leaving a cell unmatched is worth; two gaps stay below one match at LIKENESS."""
EXACT_UP_TO = 4_000_000
"""Product of two lengths above which difflib may pass over what is frequent: it takes minutes else."""
LETTERS = 100_000_000
"""Products of lengths that may be compared letter by letter in one alignment of cells: about a second."""


class CellPair(NamedTuple):
    """Indices of a cell on the left and on the right; None if one side has no such cell."""

    left: int | None
    right: int | None


class NumberedLine(NamedTuple):
    """A line and its number in its text, from 1."""

    number: int
    text: str


class LinePair(NamedTuple):
    """A line on both sides (None if it is missing); `same` when nothing differs but blanks at its end."""

    left: NumberedLine | None
    right: NumberedLine | None
    same: bool


def align_cells(
    left: list[str], right: list[str], *, pinned: CellPair | None = None
) -> list[CellPair]:
    """Match cells in order, so that the total likeness is largest.

    A `pinned` pair (the two targets) stays together whatever its texts.
    """
    if (
        pinned is not None
        and pinned.left is not None
        and pinned.right is not None
    ):
        before = align_cells(left[: pinned.left], right[: pinned.right])
        after = align_cells(left[pinned.left + 1 :], right[pinned.right + 1 :])
        shifted = [
            CellPair(
                _plus(p.left, pinned.left + 1), _plus(p.right, pinned.right + 1)
            )
            for p in after
        ]
        return [*before, pinned, *shifted]
    left, right = (
        [text.strip() for text in left],
        [text.strip() for text in right],
    )
    n_top = _n_equal(left, right)
    n_end = _n_equal(left[n_top:][::-1], right[n_top:][::-1])
    a, b = left[n_top : len(left) - n_end], right[n_top : len(right) - n_end]
    letters = min(EXACT_UP_TO, LETTERS // max(len(a) * len(b), 1))
    changed = _best_alignment(
        a, b, [[_likeness(one, other, letters) for other in b] for one in a]
    )
    top = [CellPair(i, i) for i in range(n_top)]
    middle = [
        CellPair(_plus(pair.left, n_top), _plus(pair.right, n_top))
        for pair in changed
    ]
    end = [CellPair(len(left) - i, len(right) - i) for i in range(n_end, 0, -1)]
    return [*top, *middle, *end]


def _n_equal(left: Sequence[str], right: Sequence[str]) -> int:
    """How many texts from the start are the same."""
    return sum(
        1
        for _ in takewhile(
            lambda pair: pair[0] == pair[1], zip(left, right, strict=False)
        )
    )


def _plus(index: int | None, offset: int) -> int | None:
    return None if index is None else index + offset


def _likeness(a: str, b: str, letters: int) -> float:
    if a == b:
        return 1.0
    by_lines = _matcher(a.splitlines(), b.splitlines()).ratio()
    if len(a) * len(b) > letters:
        return by_lines
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if (
        matcher.real_quick_ratio() < LIKENESS
        or matcher.quick_ratio() < LIKENESS
    ):
        return 0.0
    return max(by_lines, matcher.ratio())


def _matcher(a: list[str], b: list[str]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, a, b, autojunk=len(a) * len(b) > EXACT_UP_TO)


def _best_alignment(
    left: list[str], right: list[str], likeness: list[list[float]]
) -> list[CellPair]:
    """Needleman-Wunsch over cells: a match scores its likeness, a gap scores GAP."""
    n, m = len(left), len(right)
    score = [[(i + j) * GAP for j in range(m + 1)] for i in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            match = score[i - 1][j - 1] + likeness[i - 1][j - 1]
            score[i][j] = max(
                match, score[i - 1][j] + GAP, score[i][j - 1] + GAP
            )
    pairs: list[CellPair] = []
    i, j = n, m
    while i or j:
        if (
            i
            and j
            and score[i][j] == score[i - 1][j - 1] + likeness[i - 1][j - 1]
        ):
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
    """Lines of two texts side by side; changed stretches are paired from their top.

    Empty lines are left out before anything is compared: a blank would be paired with code, and say nothing.
    """
    a, b = _written_lines(left), _written_lines(right)
    texts = [line.text for line in a], [line.text for line in b]
    n_top = _n_equal(*texts)
    n_end = _n_equal(texts[0][n_top:][::-1], texts[1][n_top:][::-1])
    rows = [
        LinePair(one, other, True)
        for one, other in zip(a[:n_top], b[:n_top], strict=True)
    ]
    rows += _changed_lines(a[n_top : len(a) - n_end], b[n_top : len(b) - n_end])
    ends = zip(a[len(a) - n_end :], b[len(b) - n_end :], strict=True)
    return rows + [LinePair(one, other, True) for one, other in ends]


def _written_lines(text: str) -> list[NumberedLine]:
    lines = enumerate((line.rstrip() for line in text.splitlines()), start=1)
    return [NumberedLine(number, line) for number, line in lines if line]


def _changed_lines(
    a: list[NumberedLine], b: list[NumberedLine]
) -> list[LinePair]:
    rows: list[LinePair] = []
    matcher = _matcher([line.text for line in a], [line.text for line in b])
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        for offset in range(max(i2 - i1, j2 - j1)):
            one = a[i1 + offset] if i1 + offset < i2 else None
            other = b[j1 + offset] if j1 + offset < j2 else None
            rows.append(LinePair(one, other, tag == "equal"))
    return rows
