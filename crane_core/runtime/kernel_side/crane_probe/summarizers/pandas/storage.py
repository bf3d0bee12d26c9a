"""How pandas stores what it stores: the arrays and labels of frames, series and indexes, without its caches.

Knows the attributes in which objects of pandas 1.3 to 3 keep their data. Refuses to call methods of a frame or series:
a subclass may override them, and many fill a cache.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from ...anatomy import MISSING, instance_dict, is_kind, name_of


def pandas() -> Any:
    """The pandas that the notebook has loaded."""
    return sys.modules["pandas"]


class Block(NamedTuple):
    """Columns that lie together: their positions, and their values as rows of a numpy array or one extension array."""

    positions: tuple[int, ...]
    values: Any


class Frame(NamedTuple):
    """What a frame stores: labels of its columns, its index, its blocks."""

    columns: Any
    index: Any
    blocks: tuple[Block, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return length_of(self.index), length_of(self.columns)


class StoredColumn(NamedTuple):
    """One column or series: its values (numpy or extension array), and where they lie among others.

    `block` and `row` tell where: row `row` of a numpy block with several columns. -1 for values that stand alone.
    """

    values: Any
    block: int = -1
    row: int = -1


def frame_of(value: Any) -> Frame:
    """What a DataFrame stores. Raises TypeError for a frame that stores otherwise."""
    manager = _manager(value)
    columns, index = manager.axes
    # The manager of arrays (pandas 1.3 to 2.2, an option) has no blocks.
    if hasattr(manager, "blocks"):
        blocks = tuple(
            Block(tuple(block.mgr_locs.as_array.tolist()), block.values)
            for block in manager.blocks
        )
    else:
        blocks = tuple(
            Block((at,), values) for at, values in enumerate(manager.arrays)
        )
    return Frame(columns, index, blocks)


def _manager(value: Any) -> Any:
    manager = instance_dict(value).get("_mgr", MISSING)
    # A subclass may be made without its __init__.
    if manager is MISSING:
        raise TypeError("a pandas object without a block manager")
    return manager


def columns_of(frame: Frame) -> list[StoredColumn]:
    """The columns in order."""
    columns: dict[int, StoredColumn] = {}
    for number, block in enumerate(frame.blocks):
        for row, position in enumerate(block.positions):
            columns[position] = _column(block, number, row)
    return [columns[position] for position in sorted(columns)]


def _column(block: Block, number: int, row: int) -> StoredColumn:
    array = ndarray_of(block.values)
    if array is not None and array.ndim == 2:
        is_plain = array is block.values
        # `_from_backing_data` makes an extension array of a row, without a copy.
        return StoredColumn(
            array[row]
            if is_plain
            else block.values._from_backing_data(array[row]),
            number,
            row,
        )
    return StoredColumn(block.values)


def series_values(value: Any) -> Any:
    """The array of a Series."""
    manager = _manager(value)
    return (
        manager.blocks[0].values
        if hasattr(manager, "blocks")
        else manager.arrays[0]
    )


def series_index(value: Any) -> Any:
    """The index of a Series. Raises TypeError for a series that stores otherwise."""
    return _manager(value).axes[0]


def series_name(value: Any) -> Any:
    """The name of a Series; None if it has none."""
    return instance_dict(value).get("_name")


def ndarray_of(values: Any) -> Any:
    """The numpy array itself, or that of times and periods; None for other extension arrays."""
    if type(values).__module__ == "numpy":
        return values
    # PandasArray is the name before pandas 2.1.
    if name_of(type(values)) in (
        "DatetimeArray",
        "TimedeltaArray",
        "PeriodArray",
        "NumpyExtensionArray",
        "PandasArray",
    ):
        return values._ndarray
    return None


# Indexes


def is_multi(index: Any) -> bool:
    """Whether an index has several levels."""
    return is_kind(index, pandas().MultiIndex)


def is_range(index: Any) -> bool:
    """Whether an index is a range that is not written out."""
    return is_kind(index, pandas().RangeIndex)


def range_of(index: Any) -> range:
    """The range that a RangeIndex keeps."""
    kept: range = instance_dict(index)["_range"]
    return kept


def length_of(index: Any) -> int:
    """How many labels an index has."""
    if is_range(index):
        return len(range_of(index))
    return (
        len(index_codes(index)[0])
        if is_multi(index)
        else len(index_values(index))
    )


def index_values(index: Any) -> Any:
    """The array of an index with one level."""
    return instance_dict(index)["_data"]


def index_levels(index: Any) -> list[Any]:
    """The levels of a MultiIndex, each an index of the labels that may occur."""
    return list(instance_dict(index)["_levels"])


def index_codes(index: Any) -> list[Any]:
    """Of a MultiIndex, by level, the place of each row's label in the level; -1 where it is missing."""
    return list(instance_dict(index)["_codes"])


def index_names(index: Any) -> list[Any]:
    """The names of an index's levels, None for each without one."""
    held = instance_dict(index)
    return (
        list(held.get("_names") or [])
        if is_multi(index)
        else [held.get("_name")]
    )


def labels_of(index: Any, limit: int | None = None) -> list[Any]:
    """The labels as objects of Python, at most the first `limit`."""
    if is_range(index):
        # A slice of a range is a range: nothing is written out but what is shown.
        return list(range_of(index)[:limit])
    if is_multi(index):
        return list(
            zip(
                *(
                    _level_labels(index, at, limit)
                    for at in range(len(index_levels(index)))
                )
            )
        )
    return to_list(index_values(index)[:limit])


def _level_labels(index: Any, at: int, limit: int | None) -> list[Any]:
    labels = labels_of(index_levels(index)[at])
    # Code -1 is a missing label.
    return [
        labels[code] if code >= 0 else None
        for code in index_codes(index)[at][:limit].tolist()
    ]


def to_list(values: Any) -> list[Any]:
    """The elements of an array as objects of Python."""
    array = values if type(values).__module__ == "numpy" else None
    # tolist of times gives integers.
    if array is not None and array.dtype.kind not in "mM":
        return list(array.tolist())
    return list(values)
