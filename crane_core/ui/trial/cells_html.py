"""The cells of one notebook, the target last and open, the crash line marked: finished HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from crane_core.domain import Cell, CellRole
from crane_core.ui.code_html import line_html
from crane_core.ui.pair_diff import MAX_LINES

OPEN_CELLS = 2
"""Executed cells next to the target that are open; the others fold."""


def cells_html(cells: Sequence[Cell], crash_line: int | None = None) -> str:
    """cells: executed ones in order, then the target. `crash_line` counts the target's lines from 1."""
    n_executed = len(cells) - 1
    parts = [
        _cell(cell, number, crash_line, is_open=number > n_executed - OPEN_CELLS)
        for number, cell in enumerate(cells, start=1)
    ]
    return f'<div class="cw-pair cw-single">{"".join(parts)}</div>'


def _cell(cell: Cell, number: int, crash_line: int | None, *, is_open: bool) -> str:
    is_target = cell.role is CellRole.TARGET
    lines = cell.code.splitlines()
    shown = "".join(_line(i, text, is_target and i == crash_line) for i, text in enumerate(lines[:MAX_LINES], start=1))
    cut = len(lines) - MAX_LINES
    more = f'<div class="cw-dim cw-more">… {cut:,} more lines</div>' if cut > 0 else ""
    body = f'<div class="cw-lines">{shown}</div>{more}'
    name = "Target cell" if is_target else f"Cell {number}"
    words = f'<span class="cw-name">{name}</span> <span class="cw-dim">{escape(_about(cell, len(lines)))}</span>'
    if is_target:
        return f'<section class="cw-cell cw-target"><div class="cw-label">{words}</div>{body}</section>'
    state = " open" if is_open else ""
    return f'<details class="cw-cell"{state}><summary class="cw-label">{words}</summary>{body}</details>'


def _about(cell: Cell, n_lines: int) -> str:
    lines = "1 line" if n_lines == 1 else f"{n_lines} lines"
    return f"code cell {cell.notebook_index} of the notebook, {lines}"


def _line(number: int, text: str, crashes: bool) -> str:  # noqa: FBT001 - one of three plain values of a line
    css = "cw-side cw-crash" if crashes else "cw-side"
    mark = "▶" if crashes else ""
    return f'<div class="{css}"><i>{number}</i><b>{mark}</b><code>{line_html(text)}</code></div>'
