"""Cells to run first: one that would define a missing name, or those whose values a cell below has changed."""

import ast
import re
from collections.abc import Iterator, Sequence

from crane_core.repair.crash_site import CrashSite, KnownCell
from crane_core.repair.fix import Fix

UNDEFINED = re.compile(r"name '(?P<name>\w+)' is not defined")


def propose(site: CrashSite) -> Iterator[Fix]:
    """`Run code cell 2 first`; the target stays as it is."""
    undefined = UNDEFINED.match(site.message)
    if site.exception == "NameError" and undefined:
        yield from _defining(site, undefined["name"])
    elif site.index is not None:
        yield from _in_order(site, site.index)


def _defining(site: CrashSite, name: str) -> Iterator[Fix]:
    waiting = [cell for cell in site.cells if not cell.has_run]
    binding = [cell for cell in waiting if cell.binds(name)]
    above = [cell for cell in binding if _is_above(cell, site.index)]
    # Two cells may give it two values: which of them was meant is not known.
    for cells in (above, binding):
        if len(cells) == 1:
            [cell] = cells
            yield Fix(
                site.source,
                f"Run {cell.called} first: it defines {name}.",
                (cell.as_first(),),
            )
            return


def _in_order(site: CrashSite, index: int) -> Iterator[Fix]:
    """The cells above once more, where one below has run since and changed what the target uses."""
    placed = [
        cell for cell in site.cells if cell.has_run and cell.index is not None
    ]
    for name in dict.fromkeys(node.id for node in site.here(ast.Name)):
        touching = [cell for cell in placed if cell.touches(name)]
        again = _from_its_start(
            [cell for cell in touching if _is_above(cell, index)], name
        )
        changing = [
            cell
            for cell in touching
            if cell.index != index and not _is_above(cell, index)
        ]
        if changing and again:
            yield Fix(
                site.source,
                f"Run {_listed(again)} again first: {_listed(changing)}, below"
                f" this cell, has changed {name}.",
                tuple(cell.as_first() for cell in again),
            )


def _from_its_start(cells: Sequence[KnownCell], name: str) -> list[KnownCell]:
    """From the last cell that makes the name: `df = df[df.a > 0]` alone would filter what the cell below has left."""
    starts = [at for at, cell in enumerate(cells) if cell.makes(name)]
    return list(cells[starts[-1] :]) if starts else []


def _is_above(cell: KnownCell, index: int | None) -> bool:
    return cell.index is not None and index is not None and cell.index < index


def _listed(cells: Sequence[KnownCell]) -> str:
    return " and ".join(cell.called for cell in cells)
