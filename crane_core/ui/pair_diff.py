"""The crashing and the fixed notebook as one table of aligned cells: finished HTML from finished cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from crane_core.celldiff import CellPair, Line, LinePair, align_cells, align_lines
from crane_core.domain import CellRole
from crane_core.ui.code_html import line_html

MAX_LINES = 600
"""Lines of one cell that are shown."""
SIGNS = ("−", "+")
"""What marks a changed line on the left and on the right."""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell as the diff needs it; `number` is what a reader calls it."""

    number: str
    role: CellRole
    code: str
    crash_line: int | None = None


def pair_html(crashing: Sequence[ShownCell], fixed: Sequence[ShownCell]) -> str:
    """Both notebooks aligned: cells matched first, then lines, the targets side by side."""
    pairs = align_cells([c.code for c in crashing], [c.code for c in fixed], pinned=_targets(crashing, fixed))
    rows = "".join(_row(_at(crashing, pair.left), _at(fixed, pair.right)) for pair in pairs)
    head = '<div class="cw-side cw-head">crashing</div><div class="cw-side cw-head">fixed</div>'
    return f'<div class="cw-pair">{head}{rows}</div>'


def _targets(crashing: Sequence[ShownCell], fixed: Sequence[ShownCell]) -> CellPair:
    return CellPair(_target(crashing), _target(fixed))


def _target(cells: Sequence[ShownCell]) -> int | None:
    return next((i for i, cell in enumerate(cells) if cell.role is CellRole.TARGET), None)


def _at(cells: Sequence[ShownCell], index: int | None) -> ShownCell | None:
    return None if index is None else cells[index]


def _row(left: ShownCell | None, right: ShownCell | None) -> str:
    lines = align_lines(left.code if left else "", right.code if right else "")
    is_target = CellRole.TARGET in {cell.role for cell in (left, right) if cell}
    same = left is not None and right is not None and all(line.same for line in lines)
    css = "cw-cell cw-target" if is_target else "cw-cell"
    label = f'<span class="cw-name">{escape(_label(left, right))}</span> {_status(left, right, same=same)}'
    body = _lines(lines, left, right)
    if is_target or not same:
        return f'<section class="{css}"><div class="cw-label">{label}</div>{body}</section>'
    return f'<details class="{css}"><summary class="cw-label">{label}</summary>{body}</details>'


def _label(left: ShownCell | None, right: ShownCell | None) -> str:
    if any(cell and cell.role is CellRole.TARGET for cell in (left, right)):
        return "Target cell"
    numbers = [cell.number if cell else "–" for cell in (left, right)]
    name = f"Cell {numbers[0]}" if numbers[0] == numbers[1] else f"Cell {numbers[0]} | {numbers[1]}"
    not_run = all(cell is None or cell.role is CellRole.NOT_RUN for cell in (left, right))
    return name + (", not run" if not_run else "")


def _status(left: ShownCell | None, right: ShownCell | None, *, same: bool) -> str:
    if left is None or right is None:
        side = "fixed" if left is None else "crashing"
        return f'<span class="cw-tag">only in the {side} notebook</span>'
    if left.role is not right.role:
        ran = {CellRole.EXECUTED: "ran", CellRole.NOT_RUN: "not run", CellRole.TARGET: "target"}
        return f'<span class="cw-tag">{ran[left.role]} | {ran[right.role]}</span>'
    n_lines = len(left.code.strip().splitlines())
    lines = "1 line" if n_lines == 1 else f"{n_lines} lines"
    return f'<span class="cw-dim">{lines}, the same in both</span>' if same else ""


def _lines(lines: list[LinePair], left: ShownCell | None, right: ShownCell | None) -> str:
    html = []
    for pair in lines[:MAX_LINES]:
        html.append(_side(pair.left, 0, left, changed=not pair.same))
        html.append(_side(pair.right, 1, right, changed=not pair.same))
    cut = len(lines) - MAX_LINES
    more = f'<div class="cw-dim cw-more">… {cut:,} more lines</div>' if cut > 0 else ""
    return f'<div class="cw-lines">{"".join(html)}</div>{more}'


def _side(line: Line | None, side: int, cell: ShownCell | None, *, changed: bool) -> str:
    if line is None:
        return '<div class="cw-side cw-none"></div>'
    crashes = cell is not None and cell.crash_line == line.number
    css = "cw-side" + (f" cw-changed-{side}" if changed else "") + (" cw-crash" if crashes else "")
    mark = "▶" if crashes else SIGNS[side] if changed else ""
    title = ' title="the crash is raised here"' if crashes else ""
    number = f"<i>{line.number}</i><b{title}>{mark}</b>"
    return f'<div class="{css}">{number}<code>{line_html(line.text)}</code></div>'
