"""Surrogates of arrays and numbers of NumPy: shape and dtype as stated, elements by the fill."""

from __future__ import annotations

import ast
import math
from typing import Any, Mapping

import numpy as np

from .asked.places import words
from .made import MOST_ELEMENTS, NotMadeError, seen

PACKAGE = np
_MOST_DIFFERENT = 100_000
"""Elements of an array beyond which all its elements are one in memory, and equal."""
_ARRAY = "numpy.ndarray"
_OF_CHANCE = {
    "numpy.random._generator.Generator": np.random.default_rng,
    "numpy.random.mtrand.RandomState": np.random.RandomState,
}
_OF_ARRAY = ("shape", "dtype", "writeable")
_TEXTS = ("1", "a", "2020-01-01")
_NAMED = words(
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 longdouble complex64 complex128 bool"
    " bool_ str_ bytes_ object_ number integer floating inexact signedinteger unsignedinteger generic intp uintp int_"
    " uint single double half byte short intc datetime64 timedelta64 nan inf pi e newaxis ndarray"
)


_IS_BY_VALUE = np.__version__.startswith("1.")
"""Before NumPy 2, the dtype of a result depended on the values of numbers and of arrays without axes."""


def named(name: str) -> Any:
    """A dtype class or constant; raises NotMadeError for others."""
    if name not in _NAMED or not hasattr(np, name):
        raise NotMadeError(name)
    return getattr(np, name)


def make(facts: Mapping[str, Any], fill: int) -> Any:
    """An array, or a number of NumPy, with these facts: `type`, and of an array `shape`, `dtype`, `writeable`."""
    kind = facts["type"]
    if kind == _ARRAY:
        return _array(
            tuple(facts["shape"]),
            _dtype(facts["dtype"]),
            fill,
            writeable=facts.get("writeable", True),
        )
    if kind == "numpy.ma.MaskedArray":
        array = _array(
            tuple(facts["shape"]), _dtype(facts["dtype"]), fill, writeable=True
        )
        # Nothing masked, all masked, every second: what depends on the mask differs with the fill.
        mask: Any = (
            np.ma.nomask,
            True,
            np.arange(array.size).reshape(array.shape) % 2 == 0,
        )[fill]
        return np.ma.array(array, mask=mask)
    # Another seed with each fill: what is drawn must not decide.
    if kind in _OF_CHANCE:
        return _OF_CHANCE[kind](fill)
    name = kind.partition(".")[2]
    scalar = getattr(np, name, None) if name in _NAMED else None
    # In NumPy 1 a scalar's value decides the dtype of results, so no stand-in is like it.
    if (
        not (
            isinstance(scalar, type)
            and issubclass(scalar, (np.number, np.bool_))
        )
        or _IS_BY_VALUE
    ):
        raise NotMadeError(kind)
    return _elements(np.dtype(scalar), 3, fill)[fill]


def read(value: Any) -> dict[str, Any]:
    """The schema of an array or number, by the probe; empty for others."""
    kind = type(value)
    if kind is np.ndarray:
        told = seen(value)
        return {
            "type": _ARRAY,
            **{name: told[name] for name in _OF_ARRAY if name in told},
        }
    path = f"{kind.__module__}.{kind.__name__}"
    if path in _OF_CHANCE:
        return {"type": path}
    return (
        {"type": "numpy." + kind.__name__}
        if isinstance(value, (np.number, np.bool_))
        else {}
    )


def _dtype(text: str) -> Any:
    try:
        # A dtype of records comes as a list in its text.
        return np.dtype(
            ast.literal_eval(text) if text.startswith("[") else text
        )
    except (TypeError, ValueError, SyntaxError):
        raise NotMadeError(text) from None


def _array(shape: Any, dtype: Any, fill: int, *, writeable: bool) -> Any:
    n_elements = math.prod(shape)
    # 32 dimensions are the most of NumPy 1.
    if (
        len(shape) > 32
        or not shape
        and _IS_BY_VALUE
        or n_elements > MOST_ELEMENTS
    ):
        raise NotMadeError("an array of so many elements")
    if n_elements <= _MOST_DIFFERENT:
        array = _elements(dtype, n_elements, fill).reshape(shape)
    else:
        one = _elements(dtype, 3, fill)[fill : fill + 1]
        # One element in memory for all places: shape and dtype cost nothing then.
        array = np.lib.stride_tricks.as_strided(
            one, shape, (0,) * len(shape), writeable=True
        )
    if not writeable:
        array.flags.writeable = False
    return array


def _elements(dtype: Any, n: int, fill: int) -> Any:
    """`n` elements in a row: none, ones, or all different as far as the dtype allows."""
    kind = dtype.kind
    if kind in "biufc":
        if fill < 2:
            return np.full(n, fill, dtype)
        # At most 100 different ones, so that they fit into every integer dtype.
        ramp = np.arange(n) % (2 if kind == "b" else 100)
        return (ramp + 0.5 if kind in "fc" else ramp).astype(dtype)
    if kind in "US":
        return np.full(n, _TEXTS[fill], dtype)
    if kind in "mM":
        return _times(dtype, n, fill)
    if kind == "O":
        array = np.empty(n, dtype)
        # None, a number, a text: objects of an array may be anything.
        array[:] = (None, 1, "a")[fill]
        return array
    if kind == "V" and dtype.names:
        return np.zeros(n, dtype)
    raise NotMadeError(str(dtype))


def _times(dtype: Any, n: int, fill: int) -> Any:
    """Times or spans of time, all equal; without a unit they cannot be anything but zero."""
    if np.datetime_data(dtype)[0] == "generic":
        return np.zeros(n, dtype)
    # The least integer is NaT.
    least = np.iinfo("i8").min
    return np.full(n, (0, least, 10_000)[fill], "i8").astype(dtype)
