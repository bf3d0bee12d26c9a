"""Reading and writing parts of arrays: ranges, the number of indices, masks, texts as indices, what fills a part."""

from __future__ import annotations

from types import EllipsisType

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    crash_on_shape_mismatch,
    describe,
    dtype_of,
    held_by,
    is_array,
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


class UnknownIndexError(Exception):
    """The index is not known well enough."""


def parts_of(value: AbstractValue) -> list[Part]:
    """The parts of an index. Raises UnknownIndexError if one of them may be anything."""
    values = value.items if value.type == "tuple" and value.items is not None else [value]
    if value.type == "tuple" and value.items is None:
        raise UnknownIndexError
    return [_part(each) for each in values]


def _leading(value: AbstractValue) -> list[Part]:
    """The numbers and slices of an index before its first part that is not known: their axes are certain."""
    found: list[Part] = []
    for each in value.items or () if value.type == "tuple" else ():
        if each.type not in ("int", "slice"):
            break
        found.append(_part(each))
    return found


def _part(value: AbstractValue) -> Part:
    if value.literal is None or value.path == "numpy.newaxis":
        return None
    if value.type in ("slice", "ellipsis", "int"):
        return simple_part(value)
    if value.is_a("numpy") and kind_of(value.class_name) in ("i", "u"):
        return Some.INTEGER
    return _gathering(value)


def simple_part(value: AbstractValue) -> Part:
    """A slice, an ellipsis or an integer as an index."""
    if value.type == "slice":
        return slice_of(value) or Some.SLICE
    if value.type == "ellipsis":
        return Ellipsis
    return value.literal if type(value.literal) is int else Some.INTEGER


def _gathering(value: AbstractValue) -> Numbers | Mask:
    """A list or array as an index. Of an empty list NumPy makes numbers."""
    shape = taken_shape(value)
    dtype = value.fact("dtype") if value.is_a("pandas", "Series") else dtype_of(value)
    kind = kind_of(dtype) if isinstance(dtype, str) else None
    if not shape or kind not in ("b", "i", "u"):
        raise UnknownIndexError
    if kind == "b":
        return Mask(shape, _n_true(value))
    return Numbers(shape, *_ends(value, shape))


def _n_true(value: AbstractValue) -> int | None:
    values = value.literal if value.items is not None else value.fact("items")
    return values.count(True) if isinstance(values, (list, tuple)) and _is_flat(values) else None


def _is_flat(values: list[object] | tuple[object, ...]) -> bool:
    return all(type(value) is bool for value in values)


def _ends(value: AbstractValue, shape: Shape) -> tuple[int | None, int | None]:
    values = value.literal if value.items is not None and len(shape) == 1 else None
    ends = value.fact("value_range") or value.mapping("value_info").get("value_range")
    if isinstance(values, (list, tuple)) and values:
        ends = [min(values), max(values)]
    if not isinstance(ends, (list, tuple)) or [*map(type, ends)] != [int, int] or not size(shape):
        return None, None
    return ends[0], ends[1]


@RULES.item(ARRAY)
def read(operation: Operation) -> Answer:
    receiver, asked = operation.receiver, operation.first
    if (field := _field(operation, receiver, asked)) is not None:
        return field
    _is_no_number(operation, asked)
    _are_whole_bounds(operation, receiver, asked)
    shape = shape_of(receiver)
    if shape is None or receiver.fact("fields"):
        return UNCHANGED
    try:
        parts = parts_of(asked)
    except UnknownIndexError:
        with crash_on_shape_mismatch(describe(receiver), _REMEDY, exception="IndexError"):
            index(shape, *_leading(asked))
        return UNCHANGED
    with crash_on_shape_mismatch(describe(receiver), _REMEDY, exception="IndexError"):
        found = index(shape, *parts)
    return _element(receiver, parts) if found == () else view_of(receiver, found)


def _element(receiver: AbstractValue, parts: list[Part]) -> AbstractValue:
    """A single element; of an array whose elements are told the value as a number of NumPy."""
    if any(isinstance(part, EllipsisType) for part in parts):
        return AbstractValue()
    return AbstractValue(held_by(receiver)) if held_by(receiver) else scalar(dtype_of(receiver))


def _field(operation: Operation, receiver: AbstractValue, asked: AbstractValue) -> AbstractValue | None:
    """x["name"]: only an array with fields has names."""
    if asked.type != "str" or not is_array(receiver):
        return None
    fields, dtype = receiver.fact("fields"), dtype_of(receiver)
    if isinstance(fields, list) and isinstance(asked.literal, str):
        if asked.literal in fields:
            return AbstractValue(ARRAY)  # a field may have more axes
        operation.crash(
            "ValueError",
            f"no field of name {asked.literal!r}",
            fact=f"{receiver.named('the array')} has the fields {', '.join(fields)}",
            remedy="use one of its fields",
        )
    if kind_of(dtype) in (None, "V"):
        return AbstractValue()
    return operation.crash(
        "IndexError",
        "only integers, slices, ellipsis, numpy.newaxis and integer or boolean arrays are valid indices",
        fact=describe(receiver),
        remedy="use the number of the column, or keep the data in a DataFrame",
    )


def fraction_in(asked: AbstractValue) -> AbstractValue | None:
    """A bound of a slice, or of one among several indices, that is a fraction by its type."""
    parts = asked.items if asked.type == "tuple" and asked.items is not None else [asked]
    bounds = [bound for part in parts if part.type == "slice" for bound in part.items or ()]
    return next((bound for bound in bounds if bound.type in ("float", "numpy.float64", "numpy.float32")), None)


def _are_whole_bounds(operation: Operation, receiver: AbstractValue, asked: AbstractValue) -> None:
    shape = shape_of(receiver)
    n_parts = len(asked.items) if asked.type == "tuple" and asked.items is not None else 1
    if (bound := fraction_in(asked)) is None or shape is None or len(shape) < n_parts:
        return
    operation.crash(
        "TypeError",
        "slice indices must be integers or None or have an __index__ method",
        fact=f"{bound.named('a bound')} is a {bound.type}",
        remedy="convert it: int(...), or divide with // instead of /",
    )


def _is_no_number(operation: Operation, asked: AbstractValue) -> None:
    parts = asked.items if asked.type == "tuple" and asked.items is not None else [asked]
    for part in parts:
        if part.type in ("float", "dict") or part.is_a("numpy", "float64", "float32", "float16"):
            operation.crash(
                "IndexError",
                f"only integers, slices and integer or boolean arrays are valid indices, not "
                f"{part.class_name or part.type}",
                fact=f"the index is {part.literal!r}"
                if part.is_literal
                else f"{part.named(operation.text)} is not an integer",
                remedy="convert it to an integer: int(...), or use // instead of /",
            )


@RULES.set_item(ARRAY)
def write(operation: Operation) -> Answer:
    receiver = operation.receiver
    if len(operation.arguments.positional) != 2:
        return UNKNOWN
    asked, value = operation.arguments.positional
    refuse_read_only(operation, receiver, "assignment destination is read-only")
    if asked.type == "str":
        _field(operation, receiver, asked)
    _is_no_number(operation, asked)
    _are_whole_bounds(operation, receiver, asked)
    shape = shape_of(receiver)
    try:
        parts = parts_of(asked)
    except UnknownIndexError:
        values_changed(operation, receiver)
        return UNCHANGED
    if shape is not None and not receiver.fact("fields"):
        with crash_on_shape_mismatch(describe(receiver), _REMEDY, exception="IndexError"):
            target = index(shape, *parts)
        _fills(operation, receiver, target, value)
    values_changed(operation, receiver)
    return UNCHANGED


@RULES.attribute(ARRAY, "flags")
def flags(operation: Operation) -> Answer:
    """Code that takes the flags may make the array writeable by them."""
    (operation.receiver).facts.pop("writeable", None)
    return UNKNOWN


def _fills(operation: Operation, receiver: AbstractValue, target: Shape, value: AbstractValue) -> None:
    """What is written has a shape that fills the part, and is of a kind that the array holds."""
    kind = kind_of(dtype_of(receiver))
    if kind is None or kind in "OV" or size(target) == 0:
        return
    shape = taken_shape(value)
    if shape is not None:
        remedy = "assign as many values as there are elements, or use a longer array"
        with crash_on_shape_mismatch(f"{describe(receiver)}; {describe(value, 'the value')}", remedy):
            broadcast_to(shape, target)
    if size(target):
        _holds(operation, receiver, value, kind)


def _holds(operation: Operation, receiver: AbstractValue, value: AbstractValue, kind: str) -> None:
    """A single value reads as one of the kind."""
    if kind in "biuf" and isinstance(value.literal, str):
        _reads_as_number(operation, receiver, value.literal, kind)
    if kind in "iu" and value.literal != value.literal:
        operation.crash(
            "ValueError",
            "cannot convert float NaN to integer",
            fact=describe(receiver),
            remedy="convert the array to float first: .astype(float)",
        )
    if kind in "iu" and value.literal is None:
        operation.crash(
            "TypeError",
            "int() argument must not be NoneType",
            fact=describe(receiver),
            remedy="assign a number, or create the array with dtype=object",
        )


def _reads_as_number(operation: Operation, receiver: AbstractValue, text: str, kind: str) -> None:
    if kind == "b":
        return
    try:
        (int if kind in "iu" else float)(text)
    except ValueError:
        operation.crash(
            "ValueError",
            f"could not convert string to float: {text!r}",
            fact=describe(receiver),
            remedy="assign a number, or create the array with dtype=object",
        )
