"""The crashing and the fixed notebook as one table of aligned cells: finished HTML from finished cells.

The same HTML is two columns where there is room, and one where there is not; the style sheet decides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from typing import NamedTuple

from crane_core import celldiff
from crane_core.domain import CellRole
from crane_core.ui.code_html import code_html
from crane_core.ui.words import VERSION_WORDS, quantity
from crane_core.worddiff import Span, changed_words

MAX_LINES = 600
"""Lines of one cell that are shown."""
CONTEXT = 3
"""Unchanged lines beside a change or the crash that stay open."""
FEWEST_COLLAPSED = 4
"""Unchanged lines in a row that are worth a line which says how many they are."""
SIGNS = ("−", "+")
"""What marks a changed line on the left and on the right."""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell as the diff needs it; `number` is what a reader calls it.

    recorded_line: the number of the crash line in the traceback, where that is another than `crash_line`.
    """

    number: str
    role: CellRole
    code: str
    crash_line: int | None = None
    recorded_line: int | None = None


class _DiffRow(NamedTuple):
    name: str
    html: str
    is_unchanged: bool


def pair_html(crashing: Sequence[ShownCell], fixed: Sequence[ShownCell]) -> str:
    """Both notebooks aligned: cells matched first, then lines, the targets side by side."""
    pairs = celldiff.align_cells(
        [c.code for c in crashing],
        [c.code for c in fixed],
        # The targets face each other even if nothing in them is alike.
        pinned=celldiff.CellPair(_target(crashing), _target(fixed)),
    )
    rows = "".join(
        _folded(
            [
                _row(_at(crashing, pair.left), _at(fixed, pair.right))
                for pair in pairs
            ]
        )
    )
    heads = zip(SIGNS, VERSION_WORDS.values(), strict=True)
    head = "".join(
        f'<div class="cw-head"><b>{sign}</b> {name}</div>'
        for sign, name in heads
    )
    return (
        f'<div class="cw-pair"><div class="cw-heads">{head}</div>{rows}</div>'
    )


def _folded(rows: list[_DiffRow]) -> Iterator[str]:
    """The cells; unchanged ones that follow each other fold into one line."""
    for is_folding, group in groupby(rows, key=lambda row: row.is_unchanged):
        cells = list(group)
        inner = "".join(cell.html for cell in cells)
        if not is_folding or len(cells) == 1:
            yield inner
            continue
        words = f"{len(cells):,} unchanged cells: {cells[0].name} to {cells[-1].name.removeprefix('Cell ')}"
        summary = f'<summary class="cw-label"><span class="cw-name">{escape(words)}</span></summary>'
        yield f'<details class="cw-cell">{summary}{inner}</details>'


def _target(cells: Sequence[ShownCell]) -> int | None:
    return next(
        (i for i, cell in enumerate(cells) if cell.role is CellRole.TARGET),
        None,
    )


def _at(cells: Sequence[ShownCell], index: int | None) -> ShownCell | None:
    return None if index is None else cells[index]


def _row(left: ShownCell | None, right: ShownCell | None) -> _DiffRow:
    lines = celldiff.align_lines(
        left.code if left else "", right.code if right else ""
    )
    is_target = CellRole.TARGET in {cell.role for cell in (left, right) if cell}
    same = (
        left is not None
        and right is not None
        and all(line.same for line in lines)
    )
    css = "cw-cell cw-target" if is_target else "cw-cell"
    name = _label(left, right)
    label = f'<span class="cw-name">{escape(name)}</span> {_status(left, right, same=same)}'
    if is_target or not same:
        body = _lines(lines, left, right)
        return _DiffRow(
            name,
            f'<section class="{css}"><div class="cw-label">{label}</div>{body}</section>',
            False,
        )
    body = lines_html(_line_rows(lines[:MAX_LINES], left, right)) + _more(lines)
    return _DiffRow(
        name,
        f'<details class="{css}"><summary class="cw-label">{label}</summary>{body}</details>',
        True,
    )


def _label(left: ShownCell | None, right: ShownCell | None) -> str:
    if any(cell and cell.role is CellRole.TARGET for cell in (left, right)):
        return "Target cell"
    numbers = {cell.number: None for cell in (left, right) if cell}
    name = f"Cell {' | '.join(numbers)}"
    not_run = all(
        cell is None or cell.role is CellRole.NOT_RUN for cell in (left, right)
    )
    return name + (", not run" if not_run else "")


def _status(
    left: ShownCell | None, right: ShownCell | None, *, same: bool
) -> str:
    if left is None or right is None:
        side = "fixed" if left is None else "crashing"
        return f'<span class="cw-tag">only in the {side} notebook</span>'
    if left.role is not right.role:
        ran = {
            CellRole.EXECUTED: "ran",
            CellRole.NOT_RUN: "not run",
            CellRole.TARGET: "target",
        }
        return (
            f'<span class="cw-tag">{ran[left.role]} | {ran[right.role]}</span>'
        )
    n_lines = len(left.code.strip().splitlines())
    lines = quantity(n_lines, "line")
    return f'<span class="cw-dim">{lines}, unchanged</span>' if same else ""


def _lines(
    lines: list[celldiff.LinePair],
    left: ShownCell | None,
    right: ShownCell | None,
) -> str:
    """The lines, long stretches without a change collapsed."""
    rows = _line_rows(lines[:MAX_LINES], left, right)
    html = [
        collapsed_html(rows[i:j]) if folds else "".join(rows[i:j])
        for i, j, folds in _stretches(lines, left)
    ]
    return lines_html(html) + _more(lines)


def _line_rows(
    lines: list[celldiff.LinePair],
    left: ShownCell | None,
    right: ShownCell | None,
) -> list[str]:
    return [
        _line_row(pair, before, left, right)
        for before, pair in pairwise([None, *lines])
        if pair
    ]


def lines_html(rows: Sequence[str]) -> str:
    """Rows of both sides in a frame that shows them beside or below each other."""
    return f'<div class="cw-lines">{"".join(rows)}</div>'


def _more(lines: list[celldiff.LinePair]) -> str:
    cut = len(lines) - MAX_LINES
    return (
        f'<div class="cw-dim cw-more">… {cut:,} more lines</div>'
        if cut > 0
        else ""
    )


def collapsed_html(rows: Sequence[str]) -> str:
    """Rows of unchanged lines, folded under their number."""
    summary = f"<summary>{quantity(len(rows), 'unchanged line')}</summary>"
    return (
        f'<details class="cw-unchanged">{summary}{lines_html(rows)}</details>'
    )


def _stretches(
    lines: list[celldiff.LinePair], left: ShownCell | None
) -> Iterator[tuple[int, int, bool]]:
    """Slices of the shown lines, each with whether it collapses; a cell without a change or a crash stays open."""
    n = min(len(lines), MAX_LINES)
    marked = [
        i
        for i, pair in enumerate(lines[:n])
        if not pair.same or _crashes(pair.left, left)
    ]
    near = {
        near for i in marked for near in range(i - CONTEXT, i + CONTEXT + 1)
    }
    start = 0
    while start < n:
        end = start + 1
        while end < n and (end in near) == (start in near):
            end += 1
        yield (
            start,
            end,
            bool(marked)
            and start not in near
            and end - start >= FEWEST_COLLAPSED,
        )
        start = end


def _line_row(
    pair: celldiff.LinePair,
    before: celldiff.LinePair | None,
    left: ShownCell | None,
    right: ShownCell | None,
) -> str:
    spans = words_of(pair)
    cells = (left, right)
    ends = (before.left, before.right) if before else (None, None)
    return "".join(
        _side(pair, side, cells[side], ends[side], words=spans[side])
        for side in (0, 1)
    )


def words_of(pair: celldiff.LinePair) -> tuple[tuple[Span, ...], ...]:
    """The words that differ in two lines, of each side; none where the lines are equal or one is missing."""
    if pair.same or not pair.left or not pair.right:
        return (), ()
    return changed_words(pair.left.text, pair.right.text)


def _crashes(
    line: celldiff.NumberedLine | None, cell: ShownCell | None
) -> bool:
    return (
        line is not None and cell is not None and cell.crash_line == line.number
    )


def _side(
    pair: celldiff.LinePair,
    side: int,
    cell: ShownCell | None,
    before: celldiff.NumberedLine | None,
    *,
    words: tuple[Span, ...],
) -> str:
    line = (pair.left, pair.right)[side]
    if line is None:
        return side_html(pair, side, "", "")
    crashes = _crashes(line, cell)
    mark = '<b title="the crash is raised here">▶</b>' if crashes else ""
    recorded = cell.recorded_line if cell and crashes else None
    told = (
        f' <span class="cw-tag">line {recorded} in the traceback, before edits</span>'
        if recorded
        else ""
    )
    shown = code_html(line.text, words, is_underlined=crashes)
    return side_html(pair, side, _number(line, before), shown + told, mark)


def side_html(
    pair: celldiff.LinePair, side: int, number: str, text: str, mark: str = ""
) -> str:
    """One side of two lines: its number and its text as HTML, both empty where it has no line.

    mark: what takes the place of the sign, of a crash.
    An unchanged line on the left has the number of the right too, for where one column shows both notebooks.
    """
    css = f"cw-side cw-of-{side}"
    if not number:
        return f'<div class="{css} cw-none"></div>'
    other = pair.right if pair.same and side == 0 else None
    if other is not None:
        number += f'<i class="cw-other">{other.number}</i>'
    css += " cw-same" if pair.same else f" cw-changed-{side}"
    css += " cw-crash" if mark else ""
    sign = mark or f"<b>{'' if pair.same else SIGNS[side]}</b>"
    return f'<div class="{css}">{number}{sign}<div>{text}</div></div>'


def _number(
    line: celldiff.NumberedLine, before: celldiff.NumberedLine | None
) -> str:
    """The number of a line; it says so where empty lines before it are left out."""
    if before is None or line.number <= before.number + 1:
        return f"<i>{line.number}</i>"
    skipped = quantity(line.number - before.number - 1, "empty line")
    return f'<i class="cw-skip" title="{skipped} above not shown">{line.number}</i>'
