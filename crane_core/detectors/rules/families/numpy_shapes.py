"""Arrays in another shape, what they say of themselves, names that they do not have, and their parts one by one."""

from typing import Final

import numpy as np

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue, integer
from crane_core.detectors.rules.answer import (
    UNCHANGED,
    UNKNOWN,
    Answer,
    or_unknown,
)
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    crash_on_shape_mismatch,
    describe,
    dtype_of,
    held_by,
    is_array,
    lengths_in,
    shape_of,
    view_of,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("numpy: shapes and axes")
_LISTED: Final = 100
"""Parts of an array that are stated one by one."""
_BY_VERSION: Final = frozenset(
    ["itemset", "newbyteorder", "ptp", "tostring", "device", "to_device", "mT"]
)
"""Names that arrays had before NumPy 2, or have since."""
_KINDS: Final = (np.ndarray, np.float64, np.int64)
"""The result of a step on an array may be a number of NumPy."""
_REMEDIES: Final = {
    "append extend insert pop remove": "an array has a fixed length: use numpy.append",
    "numpy detach cpu cuda to unsqueeze permute": "it is not a tensor: remove the call",
    "scatter bar barh imshow set_title set_xlabel set_ylabel legend boxplot": "select one of the axes by its index",
    "shapes lenght length len dimension": "use .shape, .size or .ndim",
}
_OTHERWISE: Final = (
    "use an attribute of arrays, or convert it to a table: pandas.DataFrame(x)"
)


@RULES.method(ARRAY, "reshape")
def reshape(operation: Operation) -> Answer:
    """A view in another shape; raises Crash where the number of elements differs."""
    given, subject = operation.arguments, operation.receiver
    # order= and copy= decide what the result shares, so calls with keywords are left to NumPy.
    if not given.is_complete or given.keywords or not given.positional:
        return UNCHANGED
    one = given.positional[0]
    wanted = lengths_in(
        one
        if len(given.positional) == 1
        else AbstractValue("tuple", items=given.positional)
    )
    shape = shape_of(subject)
    if shape is None or wanted is None:
        return AbstractValue(ARRAY)
    remedy = f"its {shapes.size(shape)} elements need lengths with that product; -1 computes one of them"
    with crash_on_shape_mismatch(describe(subject), remedy):
        return view_of(subject, shapes.reshape(shape, wanted))


@RULES.method(ARRAY, "ravel", "flatten")
def flat(operation: Operation) -> Answer:
    """All elements in one row."""
    shape = shape_of(operation.receiver)
    return (
        # flatten() copies, but counted as a view it is only forgotten earlier.
        view_of(operation.receiver, (shapes.size(shape),))
        if shape is not None
        else AbstractValue(ARRAY)
    )


@RULES.attribute(ARRAY, "shape", "ndim", "size", "T", "dtype")
def attribute(operation: Operation) -> Answer:
    """shape, ndim, size, dtype or the transposed array, as far as the shape is known."""
    subject = operation.receiver
    shape, words = (
        shape_of(subject),
        f"{subject.named('the array')}.{operation.name}",
    )
    # Its class depends on the kind, such as numpy.dtypes.Float64DType, and
    # stays open.
    if operation.name == "dtype":
        return AbstractValue(
            "",
            {"dtype": dtype_of(subject)} if dtype_of(subject) else {},
            words=words,
        )
    if operation.name == "T":
        # A transpose is a view: what is written into one of the two is in both.
        return view_of(subject, None if shape is None else shape[::-1])
    if operation.name == "shape":
        return (
            UNCHANGED
            if shape is None
            else AbstractValue("tuple", items=map(integer, shape), words=words)
        )
    number = (
        None
        if shape is None
        else len(shape)
        if operation.name == "ndim"
        else shapes.size(shape)
    )
    return integer(number)


@RULES.attribute(ARRAY)
@RULES.method(ARRAY)
def missing(operation: Operation) -> Answer:
    """Arrays cannot get new attributes: they are as NumPy was built."""
    receiver, name = operation.receiver, operation.name
    is_there = (
        any(hasattr(kind, name) for kind in _KINDS)
        or name in _BY_VERSION
        or name in receiver.attributes
    )
    # Names with underscores differ by release: __array_namespace__ came with NumPy 2.
    if is_there or name.startswith("_"):
        return UNKNOWN
    return operation.crash(
        "AttributeError",
        f"'numpy.ndarray' object has no attribute {name!r}",
        fact=describe(receiver, "it")
        if receiver.shape
        else f"{receiver.named('it')} is a numpy.ndarray",
        remedy=next(
            (
                remedy
                for names, remedy in _REMEDIES.items()
                if name in names.split()
            ),
            _OTHERWISE,
        ),
    )


@RULES.function("builtins.list", "builtins.tuple")
def listed(operation: Operation) -> Answer:
    """A list of the parts along the first axis."""
    if len(operation.arguments.positional) != 1 or not is_array(
        operation.first
    ):
        return UNKNOWN
    found = _parts(operation.first)
    return AbstractValue(
        operation.function_name,
        items=found.items if found is not None else None,
    )


@RULES.other("elements", ARRAY)
def all_parts(operation: Operation) -> Answer:
    """The parts along the first axis, for loops and unpacking."""
    return or_unknown(_parts(operation.receiver))


def _parts(subject: AbstractValue) -> AbstractValue | None:
    shape, held = shape_of(subject), held_by(subject)
    if not shape or shape[0] is None or shape[0] > _LISTED:
        return None
    # The parts of a grid of axes are its rows: arrays of objects, not objects.
    are_objects = held and len(shape) == 1
    return AbstractValue(
        "list",
        items=[
            AbstractValue(held) if are_objects else view_of(subject, shape[1:])
            for _ in range(shape[0])
        ],
    )
