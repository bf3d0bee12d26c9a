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
    dtype_meant,
    dtype_of,
    given_to,
    held_by,
    is_array,
    is_none,
    kind_of,
    lengths_in,
    literal_of,
    shape_of,
    subject_of,
    view_of,
    whole,
)
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family, Rule
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


def _moved(parameters: str, change: Callable[[Shape, dict[str, AbstractValue]], Shape | None]) -> Rule:
    """A function or method that gives the array with other axes; `change` gives None if it is not known how."""

    def rule(operation: Operation) -> Answer:
        given = given_to(operation, parameters)
        if given is None or "a" not in given:
            return UNCHANGED
        subject = given["a"]
        shape = shape_of(subject)
        if shape is None:
            return AbstractValue(ARRAY) if is_array(subject) else UNCHANGED
        with crash_on_shape_mismatch(describe(subject), _AXIS):
            found = change(shape, given)
        return view_of(subject, found) if is_array(subject) else array(found, dtype_of(subject))

    return rule


def _numbers(given: dict[str, AbstractValue], *names: str) -> list[int] | None:
    found = [whole(given.get(name)) for name in names]
    known = [number for number in found if number is not None]
    return known if len(known) == len(found) else None


def _swap(shape: Shape, given: dict[str, AbstractValue]) -> Shape | None:
    axes = _numbers(given, "axis1", "axis2")
    return shapes.swapaxes(shape, *axes) if axes is not None else None


def _move(shape: Shape, given: dict[str, AbstractValue]) -> Shape | None:
    axes = _numbers(given, "source", "destination")
    return shapes.moveaxis(shape, *axes) if axes is not None else None


def _expand(shape: Shape, given: dict[str, AbstractValue]) -> Shape | None:
    axes = _numbers(given, "axis")
    return shapes.expand_dims(shape, axes[0]) if axes is not None else None


def _squeeze(shape: Shape, given: dict[str, AbstractValue]) -> Shape | None:
    known, axis = axis_in(given.get("axis"))
    if not known:
        return None
    return shapes.squeeze(shape, (axis,) if isinstance(axis, int) else axis)


for _name, _parameters, _change in (
    ("swapaxes", "a, axis1, axis2", _swap),
    ("squeeze", "a, axis=None", _squeeze),
):
    RULES.function(f"numpy.{_name}")(_moved(_parameters, _change))
    RULES.method(ARRAY, _name)(_moved(_parameters, _change))
RULES.function("numpy.moveaxis")(_moved("a, source, destination", _move))
RULES.function("numpy.expand_dims")(_moved("a, axis", _expand))


@RULES.method(ARRAY, "transpose")
def transpose_method(operation: Operation) -> Answer:
    subject, given = subject_of(operation), operation.arguments
    shape = shape_of(subject)
    if shape is None or given.keywords or not given.is_complete:
        return AbstractValue(ARRAY)
    values = given.positional
    if not values or is_none(values[0]):
        return view_of(subject, shapes.transpose(shape))
    axes = lengths_in(values[0]) if len(values) == 1 else _one_by_one(values)
    return _transposed(subject, shape, axes)


def _transposed(subject: AbstractValue, shape: Shape, axes: Shape | None) -> AbstractValue:
    known = [axis for axis in axes or () if axis is not None]
    if axes is None or len(known) < len(axes):
        return view_of(subject, (None,) * len(shape))
    with crash_on_shape_mismatch(describe(subject), "list each axis of the array once"):
        return view_of(subject, shapes.transpose(shape, known))


@RULES.function("numpy.transpose")
def transpose_function(operation: Operation) -> Answer:
    given = given_to(operation, "a, axes=None")
    if given is None or not is_array(given["a"]):
        return UNCHANGED
    shape = shape_of(given["a"])
    if shape is None:
        return AbstractValue(ARRAY)
    if is_none(given.get("axes")):
        return view_of(given["a"], shapes.transpose(shape))
    return _transposed(given["a"], shape, lengths_in(given["axes"]))


# Along an axis

_TO_FLOAT: Final = ("mean", "std", "var", "nanmean", "nanstd", "nanvar", "median", "nanmedian", "average")
_TO_BOOL: Final = ("any", "all")
_TO_INDEX: Final = ("argmax", "argmin", "nanargmax", "nanargmin", "count_nonzero")
_SAME: Final = ("max", "min", "amax", "amin", "nanmax", "nanmin", "ptp")
_SUMS: Final = ("sum", "prod", "nansum", "nanprod")
_METHODS: Final = ("sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "argmax", "argmin")
_NEED_ONE: Final = (
    "max",
    "min",
    "amax",
    "amin",
    "nanmax",
    "nanmin",
    "ptp",
    "argmax",
    "argmin",
    "nanargmax",
    "nanargmin",
)
_PARAMETERS: Final = "a, axis=None, dtype=None, out=None, keepdims=False, *, initial=None, where=None, ddof=0"
_OF_NAME: Final = {
    **dict.fromkeys(("argmax", "argmin"), "a, axis=None, out=None, *, keepdims=False"),
    **dict.fromkeys(("nanargmax", "nanargmin"), "a, axis=None, out=None, *, keepdims=False"),
    **dict.fromkeys(("max", "min", "amax", "amin", "ptp"), "a, axis=None, out=None, keepdims=False, initial=None"),
    **dict.fromkeys(("nanmax", "nanmin", "any", "all"), "a, axis=None, out=None, keepdims=False, *, initial=None"),
    **dict.fromkeys(("median", "nanmedian"), "a, axis=None, out=None, overwrite_input=False, keepdims=False"),
    "average": "a, axis=None, weights=None, returned=False, *, keepdims=False",
    "count_nonzero": "a, axis=None, *, keepdims=False",
}


def _reduction(name: str) -> Rule:
    def rule(operation: Operation) -> Answer:
        given = given_to(operation, _OF_NAME.get(name, _PARAMETERS))
        if given is None or "a" not in given or {"out", "weights", "returned"} & given.keys():
            return UNCHANGED if given is not None and "out" not in given else UNKNOWN
        return _reduced(operation, name, given)

    return rule


def _reduced(operation: Operation, name: str, given: dict[str, AbstractValue]) -> AbstractValue:
    subject = given["a"]
    shape = shape_of(subject)
    if shape is None:
        return AbstractValue()
    _is_of_numbers(operation, name, subject)
    known, axis = axis_in(given.get("axis"))
    keepdims = literal_of(given.get("keepdims"), default=False)
    if not known:
        return AbstractValue()
    with crash_on_shape_mismatch(describe(subject), _AXIS):
        found = shapes.reduce(shape, axis, keepdims=keepdims is True)
    if name in _NEED_ONE and size(shape) == 0 and size(found) != 0 and "initial" not in given:
        operation.crash(
            "ValueError",
            f"zero-size array to reduction operation {name} which has no identity",
            fact=describe(subject),
            remedy="check first that the array is not empty: if x.size",
        )
    dtype = _dtype_after(name, dtype_of(subject), given)
    return array(found, dtype) if type(keepdims) is bool else AbstractValue()


def _dtype_after(name: str, dtype: str | None, given: dict[str, AbstractValue]) -> str | None:
    kind = kind_of(dtype)
    if "dtype" in given:
        return dtype_meant(given["dtype"])
    if name in _TO_INDEX:
        return "int64" if name != "count_nonzero" else None
    if kind is None or kind not in "biuf":
        return None
    if name in _TO_BOOL:
        return "bool"
    if name in _TO_FLOAT:
        return dtype if kind == "f" else "float64"
    if name in _SUMS:
        return dtype if kind == "f" or dtype in ("int64", "uint64") else None
    return dtype if name != "ptp" or kind != "b" else None


def _is_of_numbers(operation: Operation, name: str, subject: AbstractValue) -> None:
    shape = shape_of(subject)
    if name in ("mean", "std", "var", "sum", "prod") and kind_of(dtype_of(subject)) == "U" and shape and size(shape):
        operation.crash(
            "TypeError" if is_at_least(operation, "numpy", 2, 0) else "UFuncTypeError",
            f"cannot compute {name} of strings",
            fact=describe(subject),
            remedy="convert the strings to numbers first: .astype(float)",
        )


for _name in (*_TO_FLOAT, *_TO_BOOL, *_TO_INDEX, *_SAME, *_SUMS):
    RULES.function(f"numpy.{_name}")(_reduction(_name))
    if _name in _METHODS:
        RULES.method(ARRAY, _name)(_reduction(_name))


def _running(name: str) -> Rule:
    """cumsum and the like: with no axis the array is read as one line; sorting takes the last axis."""

    def rule(operation: Operation) -> Answer:
        given = given_to(operation, "a, axis=None, dtype=None, out=None, *, kind=None, order=None, stable=None")
        if given is None or "out" in given:
            return UNCHANGED
        subject = given["a"]
        shape = shape_of(subject)
        known, axis = axis_in(given.get("axis")) if "axis" in given else (True, None if "sort" not in name else -1)
        if shape is None or not known or isinstance(axis, tuple):
            return UNCHANGED
        if axis is None:
            return array(shapes.flatten(shape), None)
        if shape:
            with crash_on_shape_mismatch(describe(subject), _AXIS):
                shapes.axis_of(axis, len(shape))
        return array(shape, "int64" if name == "argsort" else dtype_of(subject) if name == "sort" else None)

    return rule


for _name in ("cumsum", "cumprod", "sort", "argsort"):
    RULES.function(f"numpy.{_name}")(_running(_name))
    if _name != "sort":
        RULES.method(ARRAY, _name)(_running(_name))


@RULES.function("numpy.percentile", "numpy.quantile", "numpy.nanpercentile", "numpy.nanquantile")
def percentile(operation: Operation) -> Answer:
    given = given_to(operation, "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False")
    if given is None or set(given) - {"a", "q", "axis", "method"}:
        return UNCHANGED
    shape, wanted = shape_of(given["a"]), shape_of(given["q"])
    known, axis = axis_in(given.get("axis"))
    if shape is None or wanted is None or not known:
        return UNCHANGED
    with crash_on_shape_mismatch(describe(given["a"]), _AXIS):
        return array((*wanted, *shapes.reduce(shape, axis)), None)


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


@RULES.other("length", ARRAY)
def number_of_parts(operation: Operation) -> Answer:
    shape = shape_of(operation.receiver)
    return _number(shape[0]) if shape and shape[0] is not None else UNKNOWN


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


@RULES.function("numpy.shape", "numpy.ndim", "numpy.size")
def asked_of_function(operation: Operation) -> Answer:
    return UNCHANGED


@RULES.method(ARRAY, "item")
def item(operation: Operation) -> Answer:
    subject = operation.receiver
    shape = shape_of(subject)
    count = size(shape) if shape is not None else None
    if operation.arguments.positional or count in (None, 1):
        return UNCHANGED
    return operation.crash(
        "ValueError",
        "only length-1 arrays can be converted to Python scalars",
        fact=describe(subject),
        remedy="select one element by its index, or use .tolist()",
    )


@RULES.method(ARRAY, "tolist")
def tolist(operation: Operation) -> Answer:
    subject = operation.receiver
    shape = shape_of(subject)
    if not shape or len(shape) != 1 or shape[0] is None:
        return AbstractValue("list") if shape else UNCHANGED
    return AbstractValue("list", {"length": shape[0]})


@RULES.method(ARRAY, "copy")
def copy(operation: Operation) -> Answer:
    subject = operation.receiver
    facts = {name: fact for name, fact in subject.facts.items() if name not in ("view_of", "writeable")}
    return AbstractValue(ARRAY, facts)


@RULES.function("numpy.copy")
def copy_function(operation: Operation) -> Answer:
    shape = shape_of(operation.first)
    if shape is None:
        return UNCHANGED
    return array(shape, dtype_of(operation.first)) if is_array(operation.first) else UNCHANGED
