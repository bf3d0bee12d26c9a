"""The code of both versions side by side, with the runtime state before the target beside it: finished HTML."""

from typing import Any

import pandas as pd

from crane_core.crash_place import crash_place
from crane_core.domain import CellRole, Version
from crane_core.pipeline.cases.pairs import best_origin
from crane_core.pipeline.cases.turned_right import shown_states
from crane_core.pipeline.rows import as_rows
from crane_core.ui.deciding_fact import deciding_fact
from crane_core.ui.pair_diff import ShownCell, pair_html
from crane_core.ui.state_facts import Numbers
from crane_core.ui.state_tree import frames_of, n_different, state_html
from crane_core.ui.words import quantity


def code_and_state_html(
    cells: pd.DataFrame,
    states: pd.DataFrame,
    traceback: str | None,
    diagnosis: str | None = None,
) -> str:
    """cells and states: those of one case as storage.cases returns them, at least one cell."""
    state = state_column_html(cells, states, traceback, diagnosis)
    css = "cw-bench cw-with-state" if state else "cw-bench"
    return f'<div class="{css}"><div>{code_column_html(cells, traceback, diagnosis)}</div>{state}</div>'


def code_column_html(
    cells: pd.DataFrame, traceback: str | None, diagnosis: str | None = None
) -> str:
    """Both notebooks as one diff; the crash line is where traceback or diagnosis say."""
    sides = _sides(cells)
    return pair_html(_cells(sides[0], traceback, diagnosis), _cells(sides[1]))


def state_column_html(
    cells: pd.DataFrame,
    states: pd.DataFrame,
    traceback: str | None,
    diagnosis: str | None = None,
) -> str:
    """What the kernel holds before the target, in both versions; nothing if no state is known.

    The names of the crash line come first.
    """
    crashing, fixed = _sides(cells)
    line = _crash_line(_cells(crashing, traceback, diagnosis))
    return _state_column(states, (_numbers(crashing), _numbers(fixed)), line)


def kernel_fact_html(
    cells: pd.DataFrame,
    states: pd.DataFrame,
    traceback: str | None,
    diagnosis: str | None,
) -> str:
    """What the crashing target needs and the kernel lacks; nothing where no state tells it."""
    if cells.empty:
        return ""
    state = shown_states(states).get(Version.REPRODUCED)
    for cell in _cells(_sides(cells)[0], traceback, diagnosis):
        if cell.role is CellRole.TARGET:
            fact = deciding_fact(cell.code, cell.crash_line, state)
            html = (
                f'<div class="cw-why"><p><b>Runtime state</b>: {fact}</p></div>'
            )
            return fact and html
    return ""


def _crash_line(cells: list[ShownCell]) -> str:
    """The text of the line where the target crashes; empty where it is unknown."""
    for cell in cells:
        lines = cell.code.splitlines()
        if cell.crash_line and cell.crash_line <= len(lines):
            return lines[cell.crash_line - 1]
    return ""


def _sides(cells: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    shown = cells[cells["origin"] == best_origin(cells["origin"])]
    return shown[shown["version"] == Version.REPRODUCED], shown[
        shown["version"] == Version.FIXED
    ]


def _cells(
    rows: pd.DataFrame,
    traceback: str | None = None,
    diagnosis: str | None = None,
) -> list[ShownCell]:
    return [
        _cell(str(i), row, traceback, diagnosis)
        for i, row in enumerate(as_rows(rows), start=1)
    ]


def _cell(
    number: str,
    row: dict[str, Any],
    traceback: str | None,
    diagnosis: str | None,
) -> ShownCell:
    role = CellRole(row["role"])
    if role is not CellRole.TARGET or row["crash_line"]:
        return ShownCell(number, role, row["code"], row["crash_line"])
    place = crash_place(traceback, diagnosis, row["code"])
    if place is None:
        return ShownCell(number, role, row["code"])
    return ShownCell(
        number,
        role,
        row["code"],
        place.line,
        None if place.recorded == place.line else place.recorded,
    )


def _numbers(rows: pd.DataFrame) -> Numbers:
    """Index in the notebook to the number that `_cells` returns."""
    indices = [
        (number, row["notebook_index"])
        for number, row in enumerate(as_rows(rows), start=1)
    ]
    return {
        int(index): str(number)
        for number, index in indices
        if index is not None
    }


OPEN_FRAMES = 2
"""Data frames that are open from the start."""


def _state_column(
    states: pd.DataFrame, numbers: tuple[Numbers, Numbers], crash_line: str
) -> str:
    of = shown_states(states)
    if not of:
        return ""
    crashing, fixed = of.get(Version.REPRODUCED), of.get(Version.FIXED)
    n = n_different(crashing, fixed)
    differ = "differs" if n == 1 else "differ"
    words = (
        f"{quantity(n, 'name')} {differ} between crashing and fixed"
        if n
        else "the same in both versions"
    )
    head = f'<b>Runtime state</b> <span class="cw-dim">before the target cell; {words}</span>'
    tree = state_html(
        crashing,
        fixed,
        numbers,
        opened=frames_of(crashing, fixed, most=OPEN_FRAMES),
        crash_line=crash_line,
    )
    return f'<div class="cw-state-column"><div class="cw-state-head">{head}</div>{tree}</div>'
