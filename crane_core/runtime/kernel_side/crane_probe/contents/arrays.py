"""Numbers of numpy arrays in pieces: range, NaN, distinct values, exact, with little memory beside the array.

Knows plain `numpy.ndarray` of numbers, booleans and times. Refuses to sample: what costs too much is not computed,
and said so. Imports nothing: numpy is there when an array is.
"""

from __future__ import annotations

import sys
from typing import Any, Iterable, Iterator, NamedTuple

PIECE = 1 << 16
"""Elements that are looked at together; they fit in a processor's cache."""
_KNOWN_DISTINCT = 100
"""Distinct values that are distinguished in a long array; more are not counted."""
_SHORT = 50_000
"""Length up to which distinct values are always counted."""
_SHORT_DECIMALS = 5_000
"""The same for decimals, of which there are as many as there are places in most arrays."""
# A first look that tells most columns of many values from those of few.
_FIRST = 512
_FEW = 12
_NARROW = 1024
NUMERIC = "biuf"
TIMES = "mM"


def numpy() -> Any:
    """The numpy that the notebook has loaded."""
    return sys.modules["numpy"]


class Ranges(NamedTuple):
    """Per row of a two-dimensional array: least and greatest value, NaN left out, and how many are NaN.

    `low` and `high` are NaN (NaT) where all are.
    """

    low: Any
    high: Any
    n_nan: Any


def ranges(rows: Any, look: Any) -> Ranges | None:
    """Ranges of each row of an array of shape (rows, columns); None if the budget does not allow it."""
    n_rows, n_columns = rows.shape
    # Walking across rows of memory misses the cache at each step.
    is_strided = n_columns > 1 and rows.strides[1] != rows.itemsize
    # Before any work: a look that runs out of time would have nothing to show.
    if not n_columns or not look.affords(
        rows.size * _ns_per_value(rows.dtype, is_strided=is_strided)
    ):
        return None
    np = numpy()
    # Rows together make a piece: wide enough that numpy's own cost per call does not count.
    width = max(256, 4 * PIECE // n_rows)
    may_be_nan = rows.dtype.kind in "fmM"
    low = high = None
    n_nan = np.zeros(n_rows, dtype=np.int64)
    # Comparing NaN warns in some releases of numpy, and warnings would reach the notebook.
    with np.errstate(all="ignore"):
        for start in range(0, n_columns, width):
            # An interrupt or the end of the time stops it between two pieces.
            look.check()
            piece = rows[:, start : start + width]
            least, greatest = _extremes(piece, n_nan)
            low = (
                least
                if low is None
                else (np.fmin if may_be_nan else np.minimum)(low, least)
            )
            high = (
                greatest
                if high is None
                else (np.fmax if may_be_nan else np.maximum)(high, greatest)
            )
    return Ranges(low, high, n_nan)


def _extremes(piece: Any, n_nan: Any) -> tuple[Any, Any]:
    """The least and greatest value of each row of a piece, NaN passed over and counted. All NaN stays NaN."""
    np = numpy()
    # Integers and booleans have no NaN, and a quicker minimum.
    if piece.dtype.kind not in "fmM":
        return _extreme(np.minimum, piece), _extreme(np.maximum, piece)
    if n_nan.all():
        # Every row has shown NaN before: it is passed over from the start.
        least, greatest = piece[:, 0].copy(), piece[:, 0].copy()
        holed = range(len(piece))
    else:
        # Times are integers of which the least stands for NaT.
        # In other byte orders the integer view would be another number.
        plain = (
            piece.view("i8")
            if piece.dtype.kind in TIMES and piece.dtype.isnative
            else piece
        )
        # minimum is quicker than fmin by far, and spreads NaN: rows that show it are done again.
        least, greatest = (
            _extreme(ufunc, plain).view(piece.dtype)
            for ufunc in (np.minimum, np.maximum)
        )
        holed = np.flatnonzero(_is_nan(least)).tolist()
    for at in holed:
        row = piece[at]
        n_nan[at] += np.count_nonzero(_is_nan(row))
        least[at], greatest[at] = np.fmin.reduce(row), np.fmax.reduce(row)
    return least, greatest


def _extreme(ufunc: Any, piece: Any) -> Any:
    """The ufunc reduced along each row; rows whose elements lie apart are folded in halves, in the order of memory."""
    if (
        piece.strides[1] == piece.itemsize
        or piece.strides[0] != piece.itemsize
        or piece.shape[0] < 2
    ):
        return ufunc.reduce(piece, axis=1)
    turned = piece.T
    # Folding keeps to memory order, where numpy's reduce along the long axis jumps.
    while len(turned) > 1:
        half = len(turned) // 2
        rest = turned[2 * half :]
        turned = ufunc(turned[:half], turned[half : 2 * half])
        if len(rest):
            turned[0] = ufunc(turned[0], rest[0])
    # A copy, or it would hold the whole array.
    return turned[0].copy()


def _ns_per_value(dtype: Any, *, is_strided: bool) -> float:
    bytes_each: int = dtype.itemsize
    # Half precision is converted in software; long doubles take two words.
    slow = 4 if bytes_each == 2 and dtype.kind == "f" or bytes_each > 8 else 1
    return slow * (0.5 + bytes_each / 16) + (1.5 if is_strided else 0)


def _is_nan(values: Any) -> Any:
    np = numpy()
    return np.isnat(values) if values.dtype.kind in TIMES else np.isnan(values)


def pieces(array: Any) -> Iterator[Any]:
    """The elements of an array in one-dimensional pieces, in the order in which they lie; no copy of the whole."""
    np = numpy()
    if array.ndim == 1 or array.flags.c_contiguous or array.flags.f_contiguous:
        # A view in order of memory; ravel in another order would copy.
        flat = array if array.ndim == 1 else array.ravel(order="K")
        yield from (
            flat[start : start + PIECE]
            for start in range(0, flat.shape[0], PIECE)
        )
        return
    walk = ["external_loop", "buffered", "zerosize_ok", "refs_ok"]
    # nditer copies a piece at a time, which bounds the memory.
    yield from np.nditer(array, flags=walk, buffersize=PIECE, order="K")


def overall(array: Any, look: Any) -> Ranges | None:
    """Range and NaN of all elements of an array of any shape, each as an array of length one."""
    if array.ndim == 1 or array.flags.c_contiguous or array.flags.f_contiguous:
        flat = array if array.ndim == 1 else array.ravel(order="K")
        return ranges(flat.reshape(1, -1), look)
    return in_pieces(pieces(array), look)


def in_pieces(parts: Iterable[Any], look: Any) -> Ranges | None:
    """Range and NaN of numbers that come in one-dimensional pieces; None if the budget does not allow it."""
    np, found = numpy(), []
    for piece in parts:
        part = (
            ranges(piece.reshape(1, -1), look)
            if len(piece)
            else _nothing(piece.dtype)
        )
        if part is None:
            return None
        found.append(part)
    if not found:
        return None
    # The dtype of the parts decides; lists of Python numbers would lose it.
    low, high, n_nan = (np.concatenate(parts) for parts in zip(*found))
    if low.dtype.kind in "fmM":
        return Ranges(
            np.fmin.reduce(low, keepdims=True),
            np.fmax.reduce(high, keepdims=True),
            n_nan.sum(keepdims=True),
        )
    return Ranges(
        np.minimum.reduce(low, keepdims=True),
        np.maximum.reduce(high, keepdims=True),
        n_nan.sum(keepdims=True),
    )


def _nothing(dtype: Any) -> Ranges:
    np = numpy()
    return Ranges(np.empty(0, dtype), np.empty(0, dtype), np.empty(0, np.int64))


class DistinctValues(NamedTuple):
    """The distinct values, sorted, NaN left out; `is_all` is False if there are more than were distinguished."""

    values: Any
    is_all: bool


def distinct(
    array: Any, look: Any, known: Any = None, *, is_brief: bool = False
) -> DistinctValues | None:
    """Distinct values of a one-dimensional array; None if the budget does not allow it.

    `known` is its range where that is known: integers close together are counted. `is_brief` tells fewer values
    apart in less time.
    """
    if known is not None and array.dtype.kind == "b":
        # Both ends are all values that a boolean can have.
        return DistinctValues(_unique(numpy().array(known)), is_all=True)
    size = array.shape[0]
    # A table of flags costs no sorting.
    if _is_narrow(array, known) and look.affords(size * 2.5):
        return DistinctValues(_counted(array, int(known[0])), is_all=True)
    if size <= _short_for(array, is_brief=is_brief):
        if not look.affords(size * 60):
            return None
        return DistinctValues(_unique(array), is_all=True)
    first = _unique(array[:_FIRST])
    # Enough to know that they are many: the rest is not looked at.
    if len(first) > _KNOWN_DISTINCT:
        return DistinctValues(first[: _KNOWN_DISTINCT + 1], is_all=False)
    if not look.affords(size * (5 if len(first) <= _FEW else 16)):
        return None
    return _distinct_in_pieces(array, first, look)


def _short_for(array: Any, *, is_brief: bool) -> int:
    if is_brief:
        return _FIRST
    return _SHORT_DECIMALS if array.dtype.kind == "f" else _SHORT


def _distinct_in_pieces(array: Any, found: Any, look: Any) -> DistinctValues:
    for start in range(_FIRST, array.shape[0], PIECE):
        look.check()
        # Only values that are new: most pieces bring none.
        others = _others(array[start : start + PIECE], found)
        if len(others):
            found = _unique(numpy().concatenate([found, _unique(others)]))
        if len(found) > _KNOWN_DISTINCT:
            return DistinctValues(found[: _KNOWN_DISTINCT + 1], is_all=False)
    return DistinctValues(found, is_all=True)


def _is_narrow(array: Any, known: Any) -> bool:
    if (
        known is None
        or array.dtype.kind not in "iub"
        or array.shape[0] <= _FIRST
    ):
        return False
    return int(known[1]) - int(known[0]) < _NARROW


def _counted(array: Any, low: int) -> Any:
    """The distinct values of integers that lie close together."""
    np = numpy()
    # Counting from 0 needs no subtraction, so no copy of the piece.
    low = min(low, 0) if low < _NARROW else low
    seen = np.zeros(2 * _NARROW, dtype=bool)
    for start in range(0, array.shape[0], PIECE):
        piece = array[start : start + PIECE]
        seen |= np.bincount(_shifted(piece, low), minlength=2 * _NARROW) > 0
    return np.array(
        [low + at for at in np.flatnonzero(seen).tolist()], dtype=array.dtype
    )


def _shifted(piece: Any, low: int) -> Any:
    """The numbers counted from `low`, as indices."""
    if low == 0:
        return piece
    np = numpy()
    if piece.dtype.kind == "u":
        # An unsigned number minus a larger type would become a float.
        return (piece - piece.dtype.type(low)).astype(np.intp)
    return piece.astype(np.intp) - low


def _unique(array: Any) -> Any:
    """The distinct values of a one-dimensional array, sorted, NaN left out; `numpy.unique` would import `numpy.ma`."""
    np = numpy()
    ordered = np.sort(array)
    values = (
        ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
        if len(ordered)
        else ordered
    )
    return values[~_is_nan(values)] if array.dtype.kind in "fmM" else values


def _others(piece: Any, known: Any) -> Any:
    """The elements that are not among the known values."""
    np = numpy()
    if len(known) > _FEW:
        places = np.minimum(np.searchsorted(known, piece), len(known) - 1)
        is_known = known[places] == piece
    else:
        is_known = np.zeros(piece.shape, dtype=bool)
        for value in known:
            # A comparison per value beats a binary search while they are few.
            is_known |= piece == value
    if piece.dtype.kind in "fmM":
        is_known |= _is_nan(piece)
    return piece[~is_known]


def plain(value: Any) -> Any:
    """A numpy scalar as a number, boolean or string of Python; times in ISO format."""
    np = numpy()
    if value.dtype.kind == "M":
        # item() of a time in nanoseconds is a bare integer.
        return str(np.datetime_as_string(value))
    if value.dtype.kind == "m":
        return str(value)
    return value.item()
