"""The same elements in another shape, fewer axes, more: reshape, transpose, squeeze, sums and means along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer, or_unknown
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    array,
    axis_in,
    called,
    crash_on_shape_mismatch,
    describe,
    dtype_of,
    given_to,
    held_by,
    is_array,
    lengths_in,
    literal_of,
    shape_of,
    subject_of,
    view_of,
    whole,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape, size

RULES = Family("numpy: shapes and axes")
_AXIS: Final = "axes are numbered from 0: use an axis of the array"


def _reshaped(operation: Operation, subject: AbstractValue, wanted: Shape | None) -> AbstractValue:
    shape = shape_of(subject)
    if shape is None or wanted is None:
        return AbstractValue(ARRAY) if is_array(subject) else AbstractValue()
    with crash_on_shape_mismatch(
        describe(subject), f"its {size(shape)} elements need lengths with that product; -1 computes one of them"
    ):
        found = shapes.reshape(shape, wanted)
    return view_of(subject, found) if is_array(subject) else array(found, dtype_of(subject))


@RULES.method(ARRAY, "reshape")
def reshape_method(operation: Operation) -> Answer:
    given, extra = operation.arguments, set(operation.arguments.keywords) - {"order", "copy"}
    if not given.is_complete or extra or not given.positional:
        return UNCHANGED
    values = given.positional
    wanted = lengths_in(values[0]) if len(values) == 1 else _one_by_one(values)
    return _reshaped(operation, subject_of(operation), wanted)


def _one_by_one(values: Sequence[AbstractValue]) -> Shape | None:
    return None if any(value.type not in ("int", "") for value in values) else tuple(map(whole, values))


@RULES.function("numpy.reshape")
def reshape_function(operation: Operation) -> Answer:
    given = given_to(operation, "a, shape=None, order='C', *, newshape=None, copy=None")
    if given is None or not {"a", "shape"} <= given.keys():
        return UNCHANGED
    return _reshaped(operation, given["a"], lengths_in(given["shape"]))


@RULES.method(ARRAY, "ravel", "flatten")
def flat_method(operation: Operation) -> Answer:
    subject = subject_of(operation)
    shape = shape_of(subject)
    return view_of(subject, shapes.flatten(shape)) if shape is not None else AbstractValue(ARRAY)


@RULES.function("numpy.ravel")
def flat_function(operation: Operation) -> Answer:
    shape = shape_of(operation.first)
    if shape is None or len(operation.arguments.positional) != 1:
        return UNCHANGED
    return array(shapes.flatten(shape), dtype_of(operation.first))


# Along an axis


def _less(operation: Operation, take_out: Callable[..., Shape | None]) -> Answer:
    """An array with fewer axes, or the number that is left."""
    given = given_to(operation, "a, axis=None, **more")
    if given is None or "a" not in given or given.keys() - {"a", "axis", "keepdims"}:
        return UNKNOWN if given is not None and "out" in given else UNCHANGED
    shape = shape_of(given["a"])
    known, axis = axis_in(given.get("axis"))
    keepdims = literal_of(given.get("keepdims"), default=False)
    if shape is None or not known or type(keepdims) is not bool:
        return AbstractValue()
    with crash_on_shape_mismatch(describe(given["a"]), _AXIS):
        found = take_out(shape, axis, **({"keepdims": keepdims} if keepdims else {}))
    return array(found) if found != () else UNCHANGED


@RULES.function("numpy.squeeze")
@RULES.method(ARRAY, "squeeze")
def squeeze(operation: Operation) -> Answer:
    return _less(operation, lambda shape, axis: shapes.squeeze(shape, (axis,) if isinstance(axis, int) else axis))


_REDUCTIONS: Final = ("sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "argmax", "argmin")


@RULES.function(*(f"numpy.{name}" for name in _REDUCTIONS))
@RULES.method(ARRAY, *_REDUCTIONS)
def reduced(operation: Operation) -> Answer:
    return _less(operation, shapes.reduce)


# What an array says of itself


@RULES.attribute(ARRAY, "shape", "ndim", "size", "T", "dtype", "flat", "real", "imag", "nbytes", "itemsize")
def attribute(operation: Operation) -> Answer:
    subject = operation.receiver
    shape = shape_of(subject)
    if operation.name in ("nbytes", "itemsize"):
        return AbstractValue("int")
    if operation.name == "dtype":
        return AbstractValue(
            "", {"dtype": dtype_of(subject)} if dtype_of(subject) else {}, words=f"{subject.words}.dtype"
        )
    if shape is None:
        return (
            AbstractValue(ARRAY)
            if operation.name == "T"
            else AbstractValue("int")
            if operation.name in ("ndim", "size")
            else UNCHANGED
        )
    if operation.name == "shape":
        lengths = [AbstractValue("int") if length is None else _number(length) for length in shape]
        return AbstractValue("tuple", items=lengths, words=f"{subject.named('the array')}.shape")
    if operation.name == "T":
        return view_of(subject, shapes.transpose(shape))
    number = len(shape) if operation.name == "ndim" else size(shape)
    if operation.name in ("ndim", "size"):
        return _number(number) if number is not None else AbstractValue("int")
    return UNCHANGED


def _number(value: int) -> AbstractValue:
    return AbstractValue("int", literal=value)


@RULES.function("builtins.len")
def length(operation: Operation) -> Answer:
    subject = operation.first
    if not is_array(subject):
        return UNKNOWN
    shape = shape_of(subject)
    if shape is None:
        return AbstractValue("int")
    if not shape:
        return operation.crash(
            "TypeError",
            "len() of unsized object",
            fact=describe(subject),
            remedy="get its value with .item()",
        )
    return AbstractValue("int") if shape[0] is None else _number(shape[0])


_LISTED: Final = 100
"""Parts of an array that are told one by one."""


@RULES.function("builtins.list", "builtins.tuple")
def listed(operation: Operation) -> Answer:
    """A list of the parts along the first axis."""
    if len(operation.arguments.positional) != 1 or not is_array(operation.first):
        return UNKNOWN
    found = _parts(operation.first)
    return (
        AbstractValue(called(operation), items=found.items) if found is not None else AbstractValue(called(operation))
    )


@RULES.other("elements", ARRAY)
def all_parts(operation: Operation) -> Answer:
    return or_unknown(_parts(operation.receiver))


def _parts(subject: AbstractValue) -> AbstractValue | None:
    shape = shape_of(subject)
    if not shape or shape[0] is None or shape[0] > _LISTED:
        return None
    held = held_by(subject)
    return AbstractValue("list", items=[_part(subject, shape, held) for _ in range(shape[0])])


def _part(subject: AbstractValue, shape: Shape, held: str) -> AbstractValue:
    return AbstractValue(held) if held and len(shape) == 1 else view_of(subject, shape[1:])
