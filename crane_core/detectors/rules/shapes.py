"""Shape arithmetic as NumPy does it: what shape comes of a step, and which shapes cannot go together.

Pure: shapes in, shapes out. A shape is a tuple of lengths in which None is a length that is not known. Each function
raises ShapeMismatchError only where the operation fails whatever the lengths are that are not known. It returns None
where not even the number of dimensions is certain.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from types import EllipsisType

Length = int | None
Shape = tuple[Length, ...]


class ShapeMismatchError(Exception):
    """An operation that fails for every array of such shapes."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def shown(shape: Shape) -> str:
    """As NumPy writes it, a length that is not known as "?"."""
    lengths = ["?" if length is None else str(length) for length in shape]
    return (
        f"({lengths[0]},)" if len(lengths) == 1 else f"({', '.join(lengths)})"
    )


def size(shape: Shape) -> Length:
    """How many elements; 0 as soon as one length is 0."""
    known = [length for length in shape if length is not None]
    return math.prod(known) if len(known) == len(shape) or 0 in known else None


def only_length(shape: Shape | None) -> Length:
    """The length of what has one dimension."""
    return shape[0] if shape is not None and len(shape) == 1 else None


def differ(left: object, right: object) -> bool:
    """Whether two lengths, or whatever else may not be known, are both known and not the same."""
    return left is not None and right is not None and left != right


def same(left: Length, right: Length) -> Length:
    """The length that both are. Raises ShapeMismatchError if they are known to differ."""
    if differ(left, right):
        raise ShapeMismatchError(f"{left} is not {right}")
    return right if left is None else left


def is_beyond(index: int | None, length: Length) -> bool:
    """Whether an index, counted from either end, is certainly out of bounds."""
    return (
        index is not None
        and length is not None
        and not -length <= index < length
    )


# Element by element


def broadcast(*shapes: Shape) -> Shape:
    """The common shape of arrays that meet element by element."""
    result: Shape = ()
    for shape in shapes:
        result = _broadcast_two(result, shape)
    return result


def _broadcast_two(left: Shape, right: Shape) -> Shape:
    ndim = max(len(left), len(right))
    pairs = zip(_padded(left, ndim), _padded(right, ndim), strict=True)
    try:
        return tuple(_meeting(*pair) for pair in pairs)
    except ShapeMismatchError:
        raise ShapeMismatchError(
            f"shapes {shown(left)} and {shown(right)} cannot be broadcast together"
        ) from None


def _padded(shape: Shape, ndim: int) -> Shape:
    return (1,) * (ndim - len(shape)) + shape


def _meeting(left: Length, right: Length) -> Length:
    if left == 1:
        return right
    return left if right == 1 else same(left, right)


def broadcast_to(shape: Shape, target: Shape) -> Shape:
    """The target, which an array of `shape` can fill: as an assignment into a part of an array needs it."""
    extra = len(shape) - len(target)
    # NumPy drops leading axes of length 1 in an assignment: `row[:] = np.ones((1, 3))` runs.
    fits = all(
        length in (1, None) for length in shape[: max(extra, 0)]
    ) and all(
        None in (length, wanted) or length in (1, wanted)
        for length, wanted in zip(
            _padded(shape, len(target))[max(extra, 0) :], target, strict=True
        )
    )
    if not fits:
        raise ShapeMismatchError(
            f"could not broadcast input array from shape {shown(shape)} into shape {shown(target)}"
        )
    return target


# Products


def matmul(left: Shape, right: Shape) -> Shape:
    """left @ right."""
    # `a @ 3` is refused, although `a * 3` is not.
    if not left or not right:
        raise ShapeMismatchError("a matrix product does not take a scalar")
    rows = left if len(left) > 1 else (1, *left)
    columns = right if len(right) > 1 else (*right, 1)
    _inner(left, right, rows[-1], columns[-2])
    batch = broadcast(rows[:-2], columns[:-2])
    return (
        batch + rows[-2:-1] * (len(left) > 1) + columns[-1:] * (len(right) > 1)
    )


def _inner(
    left: Shape, right: Shape, of_left: Length, of_right: Length
) -> None:
    if of_left is not None and of_right is not None and of_left != of_right:
        raise ShapeMismatchError(
            f"shapes {shown(left)} and {shown(right)} not aligned: {of_left} != {of_right}"
        )


# The same elements in another shape


def reshape(shape: Shape, wanted: Sequence[Length]) -> Shape | None:
    """`wanted` may hold one -1; None in it is a number that is not known (perhaps -1)."""
    known = [length for length in wanted if length is not None]
    # NumPy takes `reshape(-2, 3)` as it takes -1.
    if min(known, default=0) < -1:
        return None
    if known.count(-1) > 1:
        raise ShapeMismatchError("can only specify one unknown dimension")
    fixed, total = abs(math.prod(known)), size(shape)
    if total is None:
        return _filled(wanted, None)
    if not _divides(fixed, total, wanted):
        raise ShapeMismatchError(
            f"cannot reshape array of size {total} into shape {shown(tuple(wanted))}"
        )
    found = total // fixed if fixed and None not in wanted else None
    return _filled(wanted, found)


def _filled(wanted: Sequence[Length], found: Length) -> Shape:
    return tuple(found if length == -1 else length for length in wanted)


def _divides(fixed: int, total: int, wanted: Sequence[Length]) -> bool:
    """Whether so many elements fit a shape of which the known lengths multiply to `fixed`."""
    if None not in wanted and -1 not in wanted:
        return total == fixed
    if fixed:
        return total % fixed == 0
    # With a length of 0 beside it, NumPy cannot find the length of -1.
    return -1 not in wanted and total == 0


# A part


class Some(StrEnum):
    """A part of an index of which the value is not known."""

    INTEGER = "integer"
    SLICE = "slice"
    ARRAY = "array"


Part = int | slice | EllipsisType | Some | None


def index(shape: Shape, parts: Sequence[Part]) -> Shape:
    """x[parts]: ranges, the number of indices. None is a new axis."""
    # NumPy counts the indices before it looks whether each is in bounds.
    n_taken = sum(part is not None and part is not Ellipsis for part in parts)
    if n_taken > len(shape):
        raise ShapeMismatchError(
            f"too many indices: {n_taken} for {len(shape)} dimensions"
        )
    if list(map(type, parts)).count(EllipsisType) > 1:
        raise ShapeMismatchError("an index can only have one '...'")
    kept: list[Length] = []
    at = 0
    for part in _spread(parts, len(shape) - n_taken):
        if part is None:
            kept.append(1)
            continue
        if isinstance(part, int):
            _refuse_beyond(part, shape, at)
        elif isinstance(part, (slice, Some)) and part is not Some.INTEGER:
            kept.append(_slice_length(shape[at], part))
        at += 1
    return tuple(kept)


def _refuse_beyond(position: int, shape: Shape, axis: int) -> None:
    if is_beyond(position, shape[axis]):
        raise ShapeMismatchError(
            f"index {position} is out of bounds for axis {axis} with size {shape[axis]}"
        )


def _spread(parts: Sequence[Part], n_left: int) -> list[Part]:
    """The parts with whole axes in the place of "..."."""
    whole: list[Part] = [slice(None)] * n_left
    at = next(
        (at for at, part in enumerate(parts) if part is Ellipsis), len(parts)
    )
    return [*parts[:at], *whole, *parts[at + 1 :]]


def _slice_length(length: Length, part: slice | Some) -> Length:
    if part == slice(None):
        return length
    if length is None or not isinstance(part, slice):
        return None
    return len(range(*part.indices(length)))
