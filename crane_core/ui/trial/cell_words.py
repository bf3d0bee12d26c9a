"""What a cell is called in a list of targets."""

from __future__ import annotations

from crane_core.notebooks import CodeCell

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
    count = f"[{cell.execution_count}] " if cell.execution_count is not None else ""
    return f"Code cell {cell.index} {count}· {cut}"
