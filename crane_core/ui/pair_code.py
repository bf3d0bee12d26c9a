"""The code of both versions side by side, with the runtime state before the target beside it: finished HTML."""

from __future__ import annotations

from typing import Any

import pandas as pd

from crane_core.crash_place import crash_line_by_text
from crane_core.domain import CellRole, Setting, Version
from crane_core.pipeline.origins import best_origin
from crane_core.pipeline.rows import as_rows
from crane_core.ui.pair_diff import ShownCell, pair_html
from crane_core.ui.state_facts import Numbers
from crane_core.ui.state_tree import n_different, state_html


def code_and_state_html(cells: pd.DataFrame, states: pd.DataFrame, traceback: str | None) -> str:
    """cells and states: those of one case as storage.cases gives them, at least one cell."""
    shown = cells[cells["origin"] == best_origin(cells["origin"])]
    sides = shown[shown["version"] == Version.REPRODUCED], shown[shown["version"] == Version.FIXED]
    crashing, fixed = _cells(sides[0], traceback), _cells(sides[1])
    state = _state_column(states, (_numbers(sides[0]), _numbers(sides[1])))
    css = "cw-bench cw-with-state" if state else "cw-bench"
    return f'<div class="{css}"><div>{pair_html(crashing, fixed)}</div>{state}</div>'


def _cells(rows: pd.DataFrame, traceback: str | None = None) -> list[ShownCell]:
    return [
        ShownCell(str(i), CellRole(row["role"]), row["code"], row["crash_line"] or _crash_line(row, traceback))
        for i, row in enumerate(as_rows(rows), start=1)
    ]


def _numbers(rows: pd.DataFrame) -> Numbers:
    """Index in the notebook to the number that `_cells` gives."""
    indices = [(number, row["notebook_index"]) for number, row in enumerate(as_rows(rows), start=1)]
    return {int(index): str(number) for number, index in indices if index is not None}


def _crash_line(cell: dict[str, Any], traceback: str | None) -> int | None:
    return crash_line_by_text(traceback, cell["code"]) if cell["role"] == CellRole.TARGET else None


STATE_SETTINGS = (Setting.RUNTIME_PLUS, Setting.RUNTIME)
"""Whose state is shown: one captured here, which tells everything, before the published one."""


def _state_column(states: pd.DataFrame, numbers: tuple[Numbers, Numbers]) -> str:
    kinds = [states[states["setting"] == setting] for setting in STATE_SETTINGS]
    rows = next((rows for rows in kinds if not rows.empty), None)
    if rows is None:
        return ""
    of = rows[rows["origin"] == best_origin(rows["origin"])].set_index("version")["state"]
    crashing, fixed = of.get(Version.REPRODUCED), of.get(Version.FIXED)
    n = n_different(crashing, fixed)
    names = "1 name differs" if n == 1 else f"{n} names differ"
    words = f"{names} between crashing and fixed" if n else "the same in both versions"
    head = f'<b>Runtime state</b> <span class="cw-dim">before the target cell; {words}</span>'
    tree = state_html(crashing, fixed, numbers)
    return f'<div class="cw-state-column"><div class="cw-state-head">{head}</div>{tree}</div>'
