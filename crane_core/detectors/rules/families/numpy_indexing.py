"""Reading and writing parts of arrays: ranges, the number of indices, what cannot be one, what fills a part."""

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    crash_on_shape_mismatch,
    describe,
    dtype_of,
    held_by,
    kind_of,
    scalar,
    shape_of,
    slice_of,
    taken_shape,
    values_changed,
    view_of,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("numpy: indices")
_REMEDY = "use an index within the shape of the array"
_NO_INDEX = ("float", "dict", "numpy.float64", "numpy.float32", "numpy.float16")


@RULES.item(ARRAY)
def read(operation: Operation) -> Answer:
    """An element or a view; raises Crash for an index beyond the shape or of a wrong type."""
    receiver, asked = operation.receiver, operation.first
    found = _selected(operation, receiver, asked)
    if found != ():
        return UNCHANGED if found is None else view_of(receiver, found)
    if any(part.type == "ellipsis" for part in indices_of(asked)):
        return UNCHANGED  # an array without dimensions
    return (
        AbstractValue(held_by(receiver))
        if held_by(receiver)
        else scalar(dtype_of(receiver))
    )


@RULES.set_item(ARRAY)
def write(operation: Operation) -> Answer:
    """What is written has a shape that fills the part. A list as one element is refused by other classes, or taken."""
    receiver, (asked, value) = (
        operation.receiver,
        operation.arguments.positional,
    )
    # Since NumPy 2.5 it is refused before the index is looked at, which another class of exceptions may refuse.
    if receiver.fact("writeable") is False:
        return UNKNOWN
    target, shape = _selected(operation, receiver, asked), taken_shape(value)
    kind = kind_of(dtype_of(receiver)) or "O"
    # A list as one element: float arrays raise ValueError, int and complex ones TypeError,
    # and bool arrays take it for True. Only the ValueError is claimed here.
    is_told = target != () or kind == "f" or kind != "c" and value.type == ARRAY
    if (
        is_told
        and target is not None
        and shape is not None
        # One object may be any list, and one record is written as a tuple.
        and kind not in "OV"
        and shapes.size(target) != 0
    ):
        remedy = (
            "assign as many values as there are elements, or use a longer array"
        )
        with crash_on_shape_mismatch(
            f"{describe(receiver)}; {describe(value, 'the value')}", remedy
        ):
            shapes.broadcast_to(shape, target)
    values_changed(operation, receiver)
    return UNCHANGED


@RULES.attribute(ARRAY, "flags")
def flags(operation: Operation) -> Answer:
    """Code that takes the flags may make the array writeable by them."""
    operation.receiver.facts.pop("writeable", None)
    return UNKNOWN


# What an index selects


def _selected(
    operation: Operation, receiver: AbstractValue, asked: AbstractValue
) -> shapes.Shape | None:
    """The shape that an index selects; None of an array of unknown shape or with fields, or if the index may be any."""
    shape, parts = (
        shape_of(receiver),
        [_part(part) for part in indices_of(asked)],
    )
    # Types first: NumPy refuses a float or a string before it counts the indices.
    _refuse_types(operation, receiver, asked)
    # A mask selects as many elements as its values say, and a name of a field selects all rows.
    if shape is None or receiver.fact("fields") or shapes.Some.ARRAY in parts:
        return None
    with crash_on_shape_mismatch(
        describe(receiver), _REMEDY, exception="IndexError"
    ):
        return shapes.index(shape, parts)


def _refuse_types(
    operation: Operation, receiver: AbstractValue, asked: AbstractValue
) -> None:
    """Fractions are not indices, and texts are only where the array has fields; a fraction does not bound a slice."""
    parts = indices_of(asked)
    has_names = kind_of(dtype_of(receiver)) in (None, "V")
    for part in parts:
        if (
            part.type in _NO_INDEX
            or part is asked
            and part.type == "str"
            and not has_names
        ):
            operation.crash(
                "IndexError",
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays "
                "are valid indices",
                fact=f"{part.named('the index')} is of type {part.type}; {describe(receiver)}",
                remedy="use an integer: int(...), or // instead of /; for names of columns, keep the data in a table",
            )
    shape = shape_of(receiver)
    # Too many indices are an IndexError before NumPy reads the bounds of a slice.
    if (
        (bound := fraction_in(asked)) is not None
        and shape is not None
        and len(shape) >= len(parts)
    ):
        operation.crash(
            "TypeError",
            "slice indices must be integers or None or have an __index__ method",
            fact=f"{bound.named('a bound')} is a {bound.type}",
            remedy="convert it: int(...), or divide with // instead of /",
        )


def fraction_in(asked: AbstractValue) -> AbstractValue | None:
    """A bound of a slice, or of one among several indices, that is a fraction by its type."""
    bounds = [
        bound
        for part in indices_of(asked)
        if part.type == "slice"
        for bound in part.items or ()
    ]
    return next(
        (
            bound
            for bound in bounds
            if bound.type in ("float", "numpy.float64", "numpy.float32")
        ),
        None,
    )


def indices_of(asked: AbstractValue) -> list[AbstractValue]:
    """The indices of x[1, 2], or the only one."""
    return (
        asked.items
        if asked.type == "tuple" and asked.items is not None
        else [asked]
    )


def _part(value: AbstractValue) -> shapes.Part:
    """One of several indices; Some.ARRAY if it may be one, or anything."""
    if value.literal is None or value.path == "numpy.newaxis":
        return None
    if value.type == "slice":
        return slice_of(value) or shapes.Some.SLICE
    if value.type == "ellipsis":
        return Ellipsis
    # A boolean is not among these: `a[True]` adds an axis.
    if value.type == "int":
        return (
            value.literal if type(value.literal) is int else shapes.Some.INTEGER
        )
    return (
        shapes.Some.INTEGER
        if value.is_a("numpy") and kind_of(value.class_name) in ("i", "u")
        else shapes.Some.ARRAY
    )
