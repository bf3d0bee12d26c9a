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
    cells = above if len(above) == 1 else binding
    if len(cells) == 1:
        [cell] = cells
        yield Fix(
            site.source,
            f"Run {cell.called} first: it defines {name}.",
            first=(cell.as_first(),),
        )


def _in_order(site: CrashSite, index: int) -> Iterator[Fix]:
    """The cells above once more, where one below has run since and changed what the target uses."""
    above = [cell for cell in site.ran if _is_above(cell, index)]
    below = [cell for cell in site.ran if _is_below(cell, index)]
    names = [node.id for node in site.here(ast.Name)]
    for name in dict.fromkeys(names):
        again = _from_its_start(above, name)
        changing = [cell for cell in below if cell.touches(name)]
        if changing and again:
            yield Fix(
                site.source,
                f"Run {_listed(again)} again first: {_listed(changing)}, below"
                f" this cell, has changed {name}.",
                first=tuple(cell.as_first() for cell in again),
            )


def _from_its_start(cells: Sequence[KnownCell], name: str) -> list[KnownCell]:
    """From the last cell that makes the name: `df = df[df.a > 0]` alone would filter what the cell below has left."""
    found: list[KnownCell] = []
    for cell in cells:
        if cell.makes(name):
            found = [cell]
        elif found and cell.touches(name):
            found.append(cell)
    return found


def _is_above(cell: KnownCell, index: int | None) -> bool:
    if cell.index is None or index is None:
        return False
    return cell.index < index


def _is_below(cell: KnownCell, index: int) -> bool:
    return cell.index is not None and cell.index > index


def _listed(cells: Sequence[KnownCell]) -> str:
    return " and ".join(cell.called for cell in cells)
