"""What an undo of crashed cells came to, in counts, times and memory: of `%crane undo` and of its peer.

Knows no kernel and imports nothing of the product, which the peer's environment does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from benchmarks._timing import Times


class UndoneCell(NamedTuple):
    """One crashed cell: names that the crash changed, and those that differ after the undo."""

    title: str
    changed: frozenset[str]
    listed: frozenset[str]
    silent: frozenset[str]
    refused: str
    kept_s: float
    undo_s: float
    copy_mb: float = 0.0


def tell(title: str, cells: Sequence[UndoneCell]) -> None:
    """Counts, times and memory of one group."""
    done = [cell for cell in cells if not cell.refused]
    n_equal = sum(not cell.listed and not cell.silent for cell in done)
    n_listed = sum(bool(cell.listed) for cell in done)
    n_silent = sum(bool(cell.silent) for cell in done)
    n_changed = sum(len(cell.changed) for cell in cells)
    print(
        f"{title}: {len(cells)} cells, {n_changed} names and parts changed "
        f"by their crashes; after the undo {n_equal} equal, {n_listed} with "
        f"differences that are listed, {n_silent} with silent ones, "
        f"{len(cells) - len(done)} refused"
    )
    if done:
        kept = Times([one.kept_s for one in done])
        print(f"  copy before a cell: {kept.in_ms()}")
        print(f"  undo: {Times([one.undo_s for one in done]).in_ms()}")
        sizes = [one.copy_mb for one in done]
        print(
            f"  memory of the copy's own: median {median(sizes):.1f} MB, "
            f"at most {max(sizes):.1f} MB"
        )
    for cell in cells:
        if cell.refused:
            print(f"  {cell.title}: refused: {cell.refused}")
        for names, word in ((cell.listed, "listed"), (cell.silent, "SILENT")):
            if names:
                print(f"  {cell.title}: {word}: {', '.join(sorted(names))}")
