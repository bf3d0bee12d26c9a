"""Tables of pandas taken apart and put together again, by the blocks of memory that they consist of.

A table and its parts may show the same memory; pandas copies it before a write while its references tell so. They are
restored with the blocks.
"""

from __future__ import annotations

import sys
from typing import Any

from .kinds import Parts, StateKind


def _manager_parts(value: Any) -> Parts:
    return len(value.blocks), [*value.blocks, *value.axes]


def _restore_manager(value: Any, plain: Any, children: list[Any]) -> None:
    value.blocks = tuple(children[:plain])
    value.axes = list(children[plain:])
    if plain and value.ndim > 1:
        # Which block holds which column is worked out again when it is needed.
        value._blknos = value._blklocs = None
        value._known_consolidated = False


def _build_manager(kind: Any, plain: Any, children: list[Any]) -> Any:
    # That of a Series takes its only block and index, not lists of them.
    if kind.__name__ == "SingleBlockManager":
        return kind(*children)
    # Not verified: blocks that live on get their content after this.
    return kind(
        tuple(children[:plain]), list(children[plain:]), verify_integrity=False
    )


def _place(indexer: Any) -> Any:
    """The columns of a block: (start, stop, step), or the numbers as bytes."""
    if isinstance(indexer, slice):
        return (indexer.start, indexer.stop, indexer.step)
    return indexer.astype("i8").tobytes()


def _columns(place: Any) -> Any:
    internals = sys.modules["pandas._libs.internals"]
    if isinstance(place, tuple):
        return internals.BlockPlacement(slice(*place))
    numbers = sys.modules["numpy"].frombuffer(place, "i8").astype("intp")
    return internals.BlockPlacement(numbers)


def _block_parts(value: Any) -> Parts:
    # Older releases than 2.0 have no references to other blocks of the same memory.
    references = getattr(value, "refs", None)
    return (value.ndim, _place(value.mgr_locs.indexer)), [
        value.values,
        references,
    ]


def _restore_block(value: Any, plain: Any, children: list[Any]) -> None:
    value.values = children[0]
    value.mgr_locs = _columns(plain[1])
    if children[1] is not None and value.refs is not children[1]:
        value.refs = children[1]
        children[1].add_reference(value)


def _build_block(kind: Any, plain: Any, children: list[Any]) -> Any:
    placement = _columns(plain[1])
    if children[1] is None:
        return kind(children[0], placement, ndim=plain[0])
    # Shared, so that pandas still copies before it writes to memory that two tables show.
    return kind(children[0], placement, ndim=plain[0], refs=children[1])


def _references_parts(_: Any) -> Parts:
    return None, []


def _build_references(kind: Any, _: Any, __: list[Any]) -> Any:
    return kind()


def _backed_parts(value: Any) -> Parts:
    return None, [value._ndarray, value._dtype]


def _restore_backed(value: Any, _: Any, children: list[Any]) -> None:
    value.__setstate__((children[1], children[0], {}))


def _build_backed(kind: Any, _: Any, children: list[Any]) -> Any:
    return kind._simple_new(*children)


KINDS: dict[tuple[str, str], StateKind] = {
    ("pandas", "BaseBlockManager"): StateKind(
        "pandas manager",
        _manager_parts,
        _restore_manager,
        _build_manager,
        has_state=False,
    ),
    ("pandas", "Block"): StateKind(
        "pandas block",
        _block_parts,
        _restore_block,
        _build_block,
        n_fixed=1,
        has_state=False,
    ),
    # What it holds is told by the blocks that refer to it.
    ("pandas", "BlockValuesRefs"): StateKind(
        "pandas references",
        _references_parts,
        build=_build_references,
        has_state=False,
    ),
    ("pandas", "NDArrayBacked"): StateKind(
        "pandas array",
        _backed_parts,
        _restore_backed,
        _build_backed,
        has_state=False,
    ),
}
CACHED = ("_cache", "_item_cache")
"""Attributes that hold what is computed again from the rest: dropped, not compared."""
