"""Arrays of NumPy as abstract values: shape and dtype as facts, what NumPy reads a list as, how facts are forgotten.

Pure. Knows `numpy.ndarray` by its exact type; masked arrays, matrices and other subclasses compute as they like.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, Final

import numpy as np

from crane_core.detectors.rules.abstract_value import (
    AbstractValue,
    all_known,
    known_facts,
)
from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.harmless import VALUE_FACTS, may_share_memory
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import (
    Shape,
    ShapeMismatchError,
    same,
    shown,
)

ARRAY: Final = "numpy.ndarray"
NUMBERS: Final = ("int", "float", "bool", "complex")
_SCALARS_WORDS = (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 longdouble bool bool_ complex64"
    " complex128 str_"
)
SCALARS: Final = tuple(_SCALARS_WORDS.split())
_OF_PYTHON: Final = {
    "int": "int64",
    "float": "float64",
    "bool": "bool",
    "complex": "complex128",
    "str": "str",
}
# NumPy's promotion among numbers of Python: one float makes all of them floats.
_ORDER: Final = ("bool", "int", "float", "complex")
_SEQUENCES: Final = ("list", "tuple")


def array(
    shape: Shape | None, dtype: str | None = None, words: str = "", **facts: Any
) -> AbstractValue:
    """An array of which so much is known. Of shape () it is the number that NumPy returns in its place."""
    if shape == ():
        return scalar(dtype, words)
    return AbstractValue(
        ARRAY, known_facts(shape=shape, dtype=dtype, **facts), words=words
    )


def scalar(dtype: str | None, words: str = "") -> AbstractValue:
    """An element of an array; of objects it may be anything."""
    is_numeric = (kind_of(dtype) or "?") in "biufc"
    return AbstractValue(
        f"numpy.{np.dtype(dtype).name}" if is_numeric else "", words=words
    )


def view_of(
    value: AbstractValue, shape: Shape | None, words: str = ""
) -> AbstractValue:
    """An array over the memory of another, or a copy of a part: the dtype stays, the values are others."""
    if shape == ():
        return scalar(dtype_of(value), words)
    # The fields of records, and the class of objects, are the same in every part.
    facts = {name: value.fact(name) for name in ("fields", "held")}
    return array(shape, value.fact("dtype"), words, view_of=value, **facts)


def held_by(value: AbstractValue) -> str:
    """The type of all objects in an array of objects; "" where it is not known."""
    only = next(iter(value.item_types)) if len(value.item_types) == 1 else ""
    return value.fact("held") or (
        only if value.fact("dtype") == "object" else ""
    )


def is_array(value: AbstractValue) -> bool:
    """Whether it is an array of NumPy by its exact type: subclasses are not."""
    return value.type == ARRAY


def is_number(value: AbstractValue) -> bool:
    """A single number of Python or NumPy."""
    return value.type in NUMBERS or value.is_a("numpy", *SCALARS)


def shape_of(value: AbstractValue) -> Shape | None:
    """The shape in NumPy of an array, number or list by itself; None if it is not known or not NumPy's."""
    if is_array(value):
        return value.shape
    # A string is one element to NumPy, and not a row of characters.
    if is_number(value) or value.type == "str":
        return ()
    return _list_shape(value) if value.type in _SEQUENCES else None


def taken_shape(value: AbstractValue) -> Shape | None:
    """The shape of what `numpy.asarray` makes of it: of frames and series too."""
    if value.is_a("pandas", "DataFrame"):
        return value.shape
    if (
        value.is_a("pandas", "Series", "Index", "RangeIndex", "DatetimeIndex")
        or value.type == "range"
    ):
        length = value.fact("length")
        return (length if type(length) is int else None,)
    return shape_of(value)


def _list_shape(value: AbstractValue) -> Shape | None:
    if value.items is not None:
        return _common_shape([taken_shape(item) for item in value.items])
    # A state has a long nested list by its shape alone.
    if isinstance(nested := value.fact("nested_shape"), (tuple, list)):
        return tuple(nested)
    # Without the items only numbers and strings are sure to be one element: lists may be ragged.
    types, length = value.item_types, value.fact("length")
    return (
        (length,)
        if types and type(length) is int and types <= {*NUMBERS, "str"}
        else None
    )


def _common_shape(inner: Sequence[Shape | None]) -> Shape | None:
    """A list of values with these shapes; None if it is ragged or may be."""
    known = all_known(inner)
    if known is None or len({len(shape) for shape in known}) > 1:
        return None
    try:
        return (
            len(known),
            *(reduce(same, lengths) for lengths in zip(*known, strict=True)),
        )
    # np.array([[1, 2], [3]]) is a ValueError since NumPy 1.24, and was an array of objects before.
    except ShapeMismatchError:
        return None


# Dtypes


def dtype_of(value: AbstractValue) -> str | None:
    """The dtype of an array, or the one that a number or list would have."""
    if is_array(value):
        dtype = value.fact("dtype")
        return dtype if isinstance(dtype, str) else None
    if value.type in _OF_PYTHON:
        # Of integers that int64 does not hold NumPy makes objects.
        is_open = value.type == "int" and not (
            type(value.literal) is int and -(2**63) <= value.literal < 2**63
        )
        return None if is_open else _OF_PYTHON[value.type]
    if value.is_a("numpy", *SCALARS):
        # numpy.bool_ and numpy.str_ are the scalars of the dtypes bool and str.
        return value.class_name.removesuffix("_")
    return _list_dtype(value) if value.type in _SEQUENCES else None


def _list_dtype(value: AbstractValue) -> str | None:
    if value.items is not None:
        inner = {dtype_of(item) for item in value.items}
        return inner.pop() if len(inner) == 1 else _promoted(inner)
    types = value.item_types
    if types == {"str"}:
        return "str"
    return (
        _OF_PYTHON[max(types, key=_ORDER.index)]
        if types and types <= set(_ORDER)
        else None
    )


def kind_of(dtype: str | None) -> str | None:
    """NumPy's letter for the kind of a dtype: "f", "i", "u", "b", "U", "O", "M"; None if it is none of NumPy's."""
    try:
        # The dtype of records is a list of fields; "Int64" and "category" are dtypes of pandas.
        return (
            None
            if dtype is None
            else "V"
            if dtype.startswith("[")
            else np.dtype(dtype).kind
        )
    except (TypeError, ValueError):
        return None


def _promoted(dtypes: Collection[str | None]) -> str | None:
    """The dtype that these have in common, numbers only; None if one is not known."""
    known = [
        np.dtype(dtype)
        for dtype in dtypes
        if (kind_of(dtype) or "?") in "biufc"
    ]
    return (
        str(np.result_type(*known))
        if known and len(known) == len(dtypes)
        else None
    )


def dtype_meant(value: AbstractValue | None) -> str | None:
    """The dtype that an argument names: float, np.int32, "float64"; None if that is not known."""
    if value is None or value.path.startswith("builtins."):
        return (
            None
            if value is None
            else {**_OF_PYTHON, "object": "object"}.get(
                value.path.rpartition(".")[2]
            )
        )
    said = (
        value.path.removeprefix("numpy.").removesuffix("_")
        if value.path.startswith("numpy.")
        else value.literal
    )
    return said if isinstance(said, str) and kind_of(said) is not None else None


# Arguments


def whole(value: AbstractValue | None) -> int | None:
    """The integer that an argument is known to be."""
    return (
        value.literal
        if value is not None and type(value.literal) is int
        else None
    )


def is_none(value: AbstractValue | None) -> bool:
    """The argument was not given, or is None."""
    return value is None or value.literal is None


def lengths_in(value: AbstractValue | None) -> Shape | None:
    """The shape that an argument states: a number, or a tuple of numbers, some of them unknown."""
    if (
        value is None
        or value.type not in _SEQUENCES
        and not _may_be_whole(value)
    ):
        return None
    items = value.items if value.type in _SEQUENCES else [value]
    # An unknown length still counts as a dimension, and too many dimensions can be refused.
    are_whole = all(
        not item.type or _may_be_whole(item) for item in items or ()
    )
    return tuple(map(whole, items)) if items is not None and are_whole else None


def _may_be_whole(value: AbstractValue) -> bool:
    return value.type == "int" or value.is_a("numpy", *SCALARS)


# Evidence, and what a change makes untrue


def describe(value: AbstractValue, otherwise: str = "the array") -> str:
    """What is known of an array, for evidence."""
    shape, dtype = (
        taken_shape(value),
        dtype_of(value) if is_array(value) else None,
    )
    parts = [f"the shape {shown(shape)}"] if shape else []
    parts += [f"the dtype {dtype}"] if dtype else []
    name = value.named(otherwise)
    return f"{name} has {' and '.join(parts)}" if parts else name


def describe_all(
    values: Iterable[AbstractValue], otherwise: str = "the array"
) -> str:
    """What is known of several arrays, for evidence; each sentence once."""
    return "; ".join(
        dict.fromkeys(describe(value, otherwise) for value in values)
    )


@contextmanager
def crash_on_shape_mismatch(
    fact: str, remedy: str, *, exception: str = "ValueError"
) -> Iterator[None]:
    """What does not fit within is a crash, of the class that NumPy has for it."""
    try:
        yield
    except ShapeMismatchError as mismatch:
        raise Crash(exception, mismatch.why, fact=fact, remedy=remedy) from None


def values_changed(operation: Operation, value: AbstractValue) -> None:
    """The elements may be others now: in the object, in what shares its memory, and in what may be a view of it."""
    seen: Any = value
    # A view writes into its base, and that into its own base.
    while isinstance(seen, AbstractValue):
        seen.drop(VALUE_FACTS)
        seen = seen.fact("view_of")
    # No fact leads from a base to its views: all that may be one are forgotten.
    for other in operation.variables():
        if may_share_memory(other):
            other.drop(VALUE_FACTS)


def values_told(value: AbstractValue) -> list[Any]:
    """Values that certainly occur in an array, series or column."""
    names = ("unique_values", "example_values", "other_texts", "items")
    found = (
        facts.get(name)
        for facts in (value.mapping("value_info"), value.facts)
        for name in names
    )
    return [
        each for values in found if isinstance(values, list) for each in values
    ]


def some_texts(value: AbstractValue) -> list[str]:
    """Texts that certainly stand in an array or column, none of them cut."""
    # A string that the state cut may read as a number where the real one does not, and vice versa.
    return [
        text
        for text in values_told(value)
        if isinstance(text, str) and "\u2026" not in text
    ]


def slice_of(value: AbstractValue) -> slice | None:
    """The slice that an index is, where its bounds are known."""
    bounds = (
        [bound.literal for bound in value.items or ()]
        if value.type == "slice"
        else []
    )
    is_known = (
        len(bounds) == 3
        and all(bound is None or type(bound) is int for bound in bounds)
        # slice() takes a step of 0; the error comes when it is used.
        and bounds[2] != 0
    )
    return slice(*bounds) if is_known else None


def literal_of(value: AbstractValue | None, default: Any = None) -> Any:
    """The value of an argument, the default where it was not given, NOT_KNOWN where it is not known."""
    return default if value is None else value.literal
