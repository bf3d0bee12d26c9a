"""Reading and writing parts of arrays: ranges, the number of indices, masks, what cannot be one, what fills a part."""

from __future__ import annotations

from collections.abc import Sequence

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    crash_on_shape_mismatch,
    describe,
    dtype_of,
    ends_of,
    held_by,
    kind_of,
    refuse_read_only,
    scalar,
    shape_of,
    slice_of,
    taken_shape,
    values_changed,
    view_of,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Mask, Numbers, Part, Shape, Some, broadcast_to, index, size

RULES = Family("numpy: indices")
_REMEDY = "use an index within the shape of the array"
_NO_INDEX = ("float", "dict", "numpy.float64", "numpy.float32", "numpy.float16")


class UnknownIndexError(Exception):
    """A part of the index may be anything; `leading` are the numbers and slices before it."""

    def __init__(self, leading: Sequence[Part]) -> None:
        super().__init__()
        self.leading = leading


@RULES.item(ARRAY)
def read(operation: Operation) -> Answer:
    receiver, asked = operation.receiver, operation.first
    try:
        parts, found = _selected(operation, receiver, asked)
    except UnknownIndexError:
        return AbstractValue() if asked.type == "str" else UNCHANGED
    if found is None:
        return UNCHANGED
    return _element(receiver, parts) if found == () else view_of(receiver, found)


def _element(receiver: AbstractValue, parts: list[Part]) -> AbstractValue:
    """A single element; of an array whose elements are told the value as a number of NumPy."""
    if Ellipsis in parts:
        return AbstractValue()
    return AbstractValue(held_by(receiver)) if held_by(receiver) else scalar(dtype_of(receiver))


@RULES.set_item(ARRAY)
def write(operation: Operation) -> Answer:
    receiver = operation.receiver
    if len(operation.arguments.positional) != 2:
        return UNKNOWN
    asked, value = operation.arguments.positional
    refuse_read_only(operation, receiver, "assignment destination is read-only")
    try:
        _, target = _selected(operation, receiver, asked)
        if target is not None:
            _fills(operation, receiver, target, value)
    except UnknownIndexError:
        pass
    values_changed(operation, receiver)
    return UNCHANGED


@RULES.attribute(ARRAY, "flags")
def flags(operation: Operation) -> Answer:
    """Code that takes the flags may make the array writeable by them."""
    operation.receiver.facts.pop("writeable", None)
    return UNKNOWN


def _fills(operation: Operation, receiver: AbstractValue, target: Shape, value: AbstractValue) -> None:
    """What is written has a shape that fills the part, and no NaN is written among integers."""
    kind, shape = kind_of(dtype_of(receiver)), taken_shape(value)
    if kind is None or kind in "OV" or size(target) == 0:
        return
    if shape is not None:
        remedy = "assign as many values as there are elements, or use a longer array"
        with crash_on_shape_mismatch(f"{describe(receiver)}; {describe(value, 'the value')}", remedy):
            broadcast_to(shape, target)
    if size(target) and kind in "iu" and value.literal != value.literal:
        operation.crash(
            "ValueError",
            "cannot convert float NaN to integer",
            fact=describe(receiver),
            remedy="convert the array to float first: .astype(float)",
        )


# What an index selects


def _selected(operation: Operation, receiver: AbstractValue, asked: AbstractValue) -> tuple[list[Part], Shape | None]:
    """The parts of an index and the shape that they select, None of an array of unknown shape, or with fields."""
    shape = shape_of(receiver)
    _refuse_types(operation, receiver, asked)
    is_shaped = shape is not None and not receiver.fact("fields")
    with crash_on_shape_mismatch(describe(receiver), _REMEDY, exception="IndexError"):
        try:
            parts = _parts_of(asked)
        except UnknownIndexError as unknown:
            if shape is not None and is_shaped:
                index(shape, *unknown.leading)
            raise
        return parts, index(shape, *parts) if shape is not None and is_shaped else None


def _refuse_types(operation: Operation, receiver: AbstractValue, asked: AbstractValue) -> None:
    """Fractions are not indices, and texts are only where the array has fields; a fraction does not bound a slice."""
    parts = _indices(asked)
    has_names = kind_of(dtype_of(receiver)) in (None, "V")
    for part in parts:
        if part.type in _NO_INDEX or part is asked and part.type == "str" and not has_names:
            operation.crash(
                "IndexError",
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays "
                "are valid indices",
                fact=f"{part.named('the index')} is of type {part.type}; {describe(receiver)}",
                remedy="use an integer: int(...), or // instead of /; for names of columns, keep the data in a table",
            )
    shape = shape_of(receiver)
    if (bound := fraction_in(asked)) is not None and shape is not None and len(shape) >= len(parts):
        operation.crash(
            "TypeError",
            "slice indices must be integers or None or have an __index__ method",
            fact=f"{bound.named('a bound')} is a {bound.type}",
            remedy="convert it: int(...), or divide with // instead of /",
        )


def fraction_in(asked: AbstractValue) -> AbstractValue | None:
    """A bound of a slice, or of one among several indices, that is a fraction by its type."""
    bounds = [bound for part in _indices(asked) if part.type == "slice" for bound in part.items or ()]
    return next((bound for bound in bounds if bound.type in ("float", "numpy.float64", "numpy.float32")), None)


def _indices(asked: AbstractValue) -> list[AbstractValue]:
    """The indices of x[1, 2], or the only one."""
    return asked.items if asked.type == "tuple" and asked.items is not None else [asked]


def _parts_of(value: AbstractValue) -> list[Part]:
    """The parts of an index. Raises UnknownIndexError if one of them may be anything."""
    if value.type == "tuple" and value.items is None:
        raise UnknownIndexError([])
    found: list[Part] = []
    for each in _indices(value):
        if each.literal is None or each.path == "numpy.newaxis":
            found.append(None)
        elif each.type in ("slice", "ellipsis", "int"):
            found.append(simple_part(each))
        elif _is_integer(each):
            found.append(Some.INTEGER)
        elif (gathering := _gathering(each)) is not None:
            found.append(gathering)
        else:
            raise UnknownIndexError([] if {Ellipsis, None} & {*map(_plain, found)} else found)
    return found


def _is_integer(value: AbstractValue) -> bool:
    """One of NumPy's own."""
    return value.is_a("numpy") and kind_of(value.class_name) in ("i", "u")


def _plain(part: Part) -> object:
    return part if part is None or part is Ellipsis else 0


def simple_part(value: AbstractValue) -> Part:
    """A slice, an ellipsis or an integer as an index."""
    if value.type == "slice":
        return slice_of(value) or Some.SLICE
    if value.type == "ellipsis":
        return Ellipsis
    return value.literal if type(value.literal) is int else Some.INTEGER


def _gathering(value: AbstractValue) -> Numbers | Mask | None:
    """A list or array as an index; None if it is none of integers or booleans. Of an empty list NumPy makes numbers."""
    shape, kind = taken_shape(value), _kind_of_values(value)
    if not shape:
        return None
    values = value.literal if value.items is not None else value.fact("items")
    values = values if isinstance(values, (list, tuple)) else ()
    if kind == "b":
        are_told = values and all(type(each) is bool for each in values)
        return Mask(shape, values.count(True) if are_told else None)
    return Numbers(shape, *_ends_of_numbers(value, shape, values)) if kind in ("i", "u") else None


def _kind_of_values(value: AbstractValue) -> str | None:
    dtype = value.fact("dtype") if value.is_a("pandas", "Series") else dtype_of(value)
    return kind_of(dtype) if isinstance(dtype, str) else None


def _ends_of_numbers(value: AbstractValue, shape: Shape, values: Sequence[int]) -> Sequence[int | None]:
    """The smallest and the largest; of an array those that the state tells."""
    ends = ends_of(value) or value.mapping("value_info").get("value_range")
    if values and len(shape) == 1 and value.items is not None:
        ends = [min(values), max(values)]
    is_told = isinstance(ends, (list, tuple)) and [*map(type, ends)] == [int, int] and size(shape)
    return ends if is_told and ends else (None, None)
