"""The cells of one notebook: their names in a list, and the cells with the crash line marked as finished HTML."""

from collections.abc import Sequence

from crane_core.domain import Cell
from crane_core.notebooks import CodeCell
from crane_core.ui.code_html import code_html
from crane_core.ui.pair_diff import MAX_LINES
from crane_core.ui.words import quantity

MAX_PREVIEW = 60


def cell_words(cell: CodeCell) -> str:
    """What a cell is called in a list: its number, as a notebook counts, and how it begins."""
    lines = [
        line
        for line in cell.source.splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]
    first = lines[0].strip() if lines else "(empty)"
    cut = first if len(first) <= MAX_PREVIEW else first[: MAX_PREVIEW - 1] + "…"
    return f"Code cell {cell.index} · {cut}"


OPEN_CELLS = 2
"""Executed cells next to the target that are open; the others fold."""

NEAR_CELLS = 10
"""Executed cells next to the target that are listed; what ran earlier folds away together."""

MAX_EARLIER = 200
"""Earlier cells that fold away; what is beyond is counted."""


def cells_html(cells: Sequence[Cell], crash_line: int | None = None) -> str:
    """cells: executed ones in order, then the target. `crash_line` counts the target's lines from 1."""
    *executed, target = cells
    early, near = executed[:-NEAR_CELLS], executed[-NEAR_CELLS:]
    closed = len(near) - OPEN_CELLS
    parts = [
        _earlier(early),
        *(
            _executed(cell, is_open=place >= closed)
            for place, cell in enumerate(near)
        ),
    ]
    return f'<div class="cw-pair cw-single">{"".join(parts)}{_target(target, crash_line)}</div>'


def _earlier(cells: Sequence[Cell]) -> str:
    if not cells:
        return ""
    n_left_out = max(0, len(cells) - MAX_EARLIER)
    left_out = (
        f'<div class="cw-dim cw-more">… {n_left_out:,} earlier cells are not shown</div>'
        if n_left_out
        else ""
    )
    inner = "".join(
        _executed(cell, is_open=False) for cell in cells[n_left_out:]
    )
    words = f'<span class="cw-name">{len(cells):,} earlier cells</span>'
    return f'<details class="cw-cell"><summary class="cw-label">{words}</summary>{left_out}{inner}</details>'


def _executed(cell: Cell, *, is_open: bool) -> str:
    label = f'<span class="cw-name">Code cell {cell.notebook_index}</span> {_about(cell)}'
    state = " open" if is_open else ""
    return f'<details class="cw-cell"{state}><summary class="cw-label">{label}</summary>{_body(cell, None)}</details>'


def _target(cell: Cell, crash_line: int | None) -> str:
    label = f'<span class="cw-name">Target: code cell {cell.notebook_index}</span> {_about(cell)}'
    body = _body(cell, crash_line)
    return f'<section class="cw-cell cw-target"><div class="cw-label">{label}</div>{body}</section>'


def _about(cell: Cell) -> str:
    n = len(cell.code.splitlines())
    ran = (
        f'<span title="execution count: {cell.execution_count}">[{cell.execution_count}]</span> '
        if cell.execution_count is not None
        else ""
    )
    return f'<span class="cw-dim">{ran}{quantity(n, "line")}</span>'


def _body(cell: Cell, crash_line: int | None) -> str:
    lines = cell.code.splitlines()
    shown = ""
    n_hidden = 0
    for number, text in enumerate(lines[:MAX_LINES], start=1):
        # Where comments were removed, as in the published inputs, many empty lines follow each other.
        if not text.strip() and not _is_kept_blank(lines, number):
            n_hidden += 1
            continue
        shown += _line(
            number, text, crashes=number == crash_line, n_hidden=n_hidden
        )
        n_hidden = 0
    cut = len(lines) - MAX_LINES
    more = (
        f'<div class="cw-dim cw-more">… {cut:,} more lines</div>'
        if cut > 0
        else ""
    )
    return f'<div class="cw-lines">{shown}</div>{more}'


def _is_kept_blank(lines: Sequence[str], number: int) -> bool:
    """Whether the empty line of this number is alone between two others."""
    around = lines[max(0, number - 2) : number + 1]
    return len(around) == 3 and bool(around[0].strip() and around[2].strip())


def _line(number: int, text: str, *, crashes: bool, n_hidden: int) -> str:
    css = "cw-side cw-crash" if crashes else "cw-side"
    mark = "▶" if crashes else ""
    gap = (
        f' class="cw-skip" title="{quantity(n_hidden, "empty line")} above not shown"'
        if n_hidden
        else ""
    )
    return f'<div class="{css}"><i{gap}>{number}</i><b>{mark}</b>{code_html(text)}</div>'
