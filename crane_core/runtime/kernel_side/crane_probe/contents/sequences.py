"""What can be said of a long row of plain values without copying it: kinds, range, distinct values, inner shapes.

Knows exact numbers, texts and containers of Python. Refuses to compare, hash or iterate anything else.
"""

from __future__ import annotations

import operator
from collections import Counter
from itertools import islice
from typing import Any, Callable, Iterable, Iterator, NamedTuple

from ..anatomy import type_name
from ..bounds import Facts, stated
from ..dispatch import answer_of
from ..kinds import ROWS, SCALARS

# Measured, in nanoseconds: what a look can afford is decided before it starts.
NS_PER_TYPE = 40
NS_PER_VALUE = 90
NS_PER_DISTINCT = 50
CATEGORIES = 10
"""Distinct values up to which numbers count as categories (the published extractor's number)."""
_SHORT = 20_000
"""Length up to which all distinct values are counted."""
KNOWN_DISTINCT = 100
"""Distinct values that are distinguished in a longer row; more are not counted."""
_FEW = 1024
"""Distinct values of which all are kept."""
_CHUNK = 1024
_NS_PER_SORTED = 400
_DEEPEST = 6


class DistinctItems(NamedTuple):
    """How many distinct values there are, and which; some of them where they are many."""

    n: int
    few: set[Any]


class RowOfValues(NamedTuple):
    """Values in a row: how many, an iterator over them from the start each time, and one by its position."""

    length: int
    again: Callable[[], Iterator[Any]]
    at: Callable[[int], Any]

    def first(self, n: int) -> list[Any]:
        """The first `n` values, or all if there are fewer."""
        return list(islice(self.again(), n))


def kind_counts(kinds: list[tuple[type, int]], limit: int) -> dict[str, int]:
    """The counts by name of type, the most frequent first, then by name."""
    counts: Counter[str] = Counter()
    for kind, count in kinds:
        # By name, as two classes of one name are one line.
        counts[type_name(kind)] += count
    return dict(
        sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:limit]
    )


def item_types(kinds: list[tuple[type, int]], look: Any) -> Facts:
    """{"item_types": counts by name}; nothing where there are no items."""
    return stated(item_types=kind_counts(kinds, look.limits.values))


def number_facts(row: RowOfValues, look: Any) -> Facts:
    """value_info of exact numbers: NaN, range, distinct values."""
    if not look.affords(row.length * NS_PER_VALUE):
        return {
            "not_computed": f"{row.length} values are too many to look through"
        }
    n_nan = _n_nan(row)
    facts: Facts = {"has_nan": n_nan > 0}
    if n_nan == row.length:
        return dict(facts, value_type="empty or all NaN")
    real = (
        row.again
        if not n_nan
        else lambda: (number for number in row.again() if number == number)
    )
    facts["value_range"] = [look.scalar(min(real())), look.scalar(max(real()))]
    facts.update(stated(n_nan=n_nan))
    return dict(facts, **distinct_facts(real, row.length, look))


def _n_nan(row: RowOfValues) -> int:
    """How many numbers are NaN. One NaN makes a sum of floats NaN, so most rows show it by their sum."""
    try:
        # One pass in C; comparing each number with itself is far slower.
        total = sum(row.again())
    # An int beyond the range of floats meets a float: the slow way decides.
    except OverflowError:
        total = float("nan")
    # Infinities of both signs sum to NaN as well: the slow way then finds no NaN.
    return (
        0
        if total == total
        else sum(1 for number in row.again() if number != number)
    )


def distinct_facts(
    again: Callable[[], Iterable[Any]], length: int, look: Any
) -> Facts:
    """How many distinct values there are, which where they are few, and what that makes of them."""
    distinct = distinct_values(again, length, look)
    if distinct is None:
        return {
            "value_type": "continuous",
            "not_computed": "the number of distinct values",
        }
    facts = _number_of(distinct, length)
    if distinct.n <= look.limits.values:
        facts["unique_values"] = [
            look.scalar(value) for value in sorted(distinct.few)
        ]
    return dict(facts, value_type=value_type(distinct.few))


def _number_of(distinct: DistinctItems, length: int) -> Facts:
    return {
        "num_unique"
        if distinct.n <= distinct_limit(length)
        else "num_unique_at_least": distinct.n
    }


def distinct_limit(length: int) -> int:
    """Distinct values that are distinguished in a row of this length."""
    return length if length <= _SHORT else KNOWN_DISTINCT


def distinct_values(
    again: Callable[[], Iterable[Any]], length: int, look: Any
) -> DistinctItems | None:
    """How many there are, one more than distinct_limit where there are more; None where looking costs too much.

    Where they are many they are counted in order: a set of them would be larger than what is looked at.
    """
    # A fresh iterator each time, because a row may be a view that is not a list.
    cut, rest = distinct_limit(length), iter(again())
    found: set[Any] = set()
    # A set is small while there are few; beyond that, order costs less memory.
    while len(found) <= min(cut, _FEW):
        chunk = set(islice(rest, _CHUNK))
        if not chunk:
            return DistinctItems(len(found), found)
        if not look.affords(_CHUNK * NS_PER_DISTINCT):
            return None
        found |= chunk
    if cut < length:
        return DistinctItems(cut + 1, found)
    if not look.affords(length * _NS_PER_SORTED):
        return None
    ordered = sorted(again())
    # Neighbours that differ, plus one, without a second list.
    return DistinctItems(
        1 + sum(map(operator.ne, ordered, islice(ordered, 1, None))), found
    )


def value_type(distinct: Any) -> str:
    """The published extractor's words for what a row of numbers is."""
    # True and 1 are equal, so booleans count as binary, as in the published extractor.
    if distinct <= {0, 1}:
        return "binary"
    if len(distinct) <= CATEGORIES:
        return "categorical numeric(no more than 10 unique values)"
    return "continuous"


def text_facts(row: RowOfValues, look: Any) -> Facts:
    """value_info of texts: all distinct ones where they are few, else the first ones."""
    facts: Facts = {"value_type": "categorical or object"}
    distinct = distinct_values(row.again, row.length, look)
    if distinct is not None:
        facts.update(_number_of(distinct, row.length))
    if distinct is not None and distinct.n <= look.limits.values:
        return dict(
            facts,
            unique_values=[look.text(value) for value in sorted(distinct.few)],
        )
    # More than are shown, as the first ones are often equal.
    first = dict.fromkeys(row.first(4 * look.limits.values))
    return dict(
        facts,
        example_values=[
            look.text(value) for value in list(first)[: look.limits.values]
        ],
    )


class Nesting(NamedTuple):
    """The shape of a list of lists as numpy would read it; where it is ragged, at which depth and how."""

    shape: tuple[int, ...]
    ragged: Facts | None = None


def nesting_of(row: RowOfValues, look: Any) -> Nesting:
    """Shape through all the lists, tuples and arrays of a row."""
    counts: dict[Any, int] = {}
    first_at: dict[Any, int] = {}
    for at, item in enumerate(row.again()):
        # A list of long lists may be larger than the time allows: the rest is named, not guessed.
        if type(item) in ROWS and not look.affords(NS_PER_TYPE * len(item)):
            return Nesting(
                (row.length,), {"not_computed": f"shapes from item {at} on"}
            )
        shape = full_shape(item, 1)
        if shape not in counts:
            first_at[shape] = at
        counts[shape] = counts.get(shape, 0) + 1
        # A check costs more than an item, so it is done once in a thousand.
        if not at & 1023:
            look.check()
    if len(counts) == 1:
        only = next(iter(counts))
        return (
            Nesting((row.length,), {"inside": "each item"})
            if _is_ragged(only)
            else Nesting((row.length, *(only or ())))
        )
    # The most frequent first, then by position: one list always makes one text.
    most = sorted(counts.items(), key=lambda one: (-one[1], first_at[one[0]]))
    return Nesting(
        (row.length,),
        {
            "first_differing_index": sorted(first_at.values())[1],
            "shapes": {_shape_text(shape): count for shape, count in most[:5]},
            "n_distinct_shapes": len(counts),
        },
    )


def _is_ragged(shape: Any) -> bool:
    return shape is not None and -1 in shape


def _shape_text(shape: Any) -> str:
    return (
        "single value"
        if shape is None
        else str(["ragged" if size < 0 else size for size in shape])
    )


def full_shape(value: Any, depth: int) -> tuple[int, ...] | None:
    """Shape of a value through its lists and arrays; -1 means sizes that differ; None for a single value."""
    kind = type(value)
    if kind is not list and kind is not tuple:
        return own_shape(value)
    if depth >= _DEEPEST or SCALARS.hold_all(value):
        return (len(value),)
    shapes = {full_shape(item, depth + 1) for item in value}
    # Which size differs is told one level up, where the item has a number.
    if len(shapes) > 1:
        return (len(value), -1)
    return (len(value), *(next(iter(shapes)) or ()))


def row_of(value: Any) -> RowOfValues:
    """An exact list or tuple as a row."""
    return RowOfValues(len(value), value.__iter__, value.__getitem__)


def sign_of(value: Any) -> tuple[int, Any, str]:
    """What tells values apart whose summaries differ: type, shape, and what their package calls their sign."""
    shape = own_shape(value)
    is_plain = type(value) in SCALARS or type(value) in ROWS
    # Values of libraries differ by more than their shape: two models, two frames.
    return (
        id(type(value)),
        shape,
        "" if is_plain else answer_of(value, "SIGN", ""),
    )


def own_shape(value: Any) -> tuple[int, ...] | None:
    """Shape of an array, length of a list or tuple; None for what is a single value."""
    if type(value) in ROWS:
        return (len(value),)
    if type(value) in SCALARS:
        return None
    shape: tuple[int, ...] | None = answer_of(value, "SHAPE", None)
    return shape
