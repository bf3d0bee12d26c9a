"""Surrogates of TensorFlow's eager tensors and variables: shape and dtype as stated, elements by the fill."""

from __future__ import annotations

from typing import Any, Mapping

import tensorflow

from .made import MOST_ELEMENTS, NotMadeError, seen

PACKAGE = tensorflow
_EAGER = "tensorflow.python.framework.ops.EagerTensor"
_VARIABLE = "tensorflow.python.ops.resource_variable_ops.ResourceVariable"


def named(name: str) -> Any:
    """A dtype, or the axis that `newaxis` makes; raises NotMadeError for others."""
    found = getattr(tensorflow, name, None)
    if not isinstance(found, tensorflow.DType) and name != "newaxis":
        raise NotMadeError(name)
    return found


def make(facts: Mapping[str, Any], fill: int) -> Any:
    """A tensor or variable with these facts; raises NotMadeError for others, and for texts."""
    if facts["type"] not in (_EAGER, _VARIABLE):
        raise NotMadeError(facts["type"])
    shape, dtype = (
        tensorflow.TensorShape(facts["shape"]),
        tensorflow.as_dtype(facts["dtype"]),
    )
    n_elements = shape.num_elements()
    is_numeric = dtype.is_floating or dtype.is_integer or dtype.is_complex
    if not (is_numeric or dtype.is_bool) or n_elements > MOST_ELEMENTS:
        raise NotMadeError("texts, or too many elements")
    tensor = tensorflow.reshape(_elements(n_elements, dtype, fill), shape)
    return tensor if facts["type"] == _EAGER else tensorflow.Variable(tensor)


def _elements(n: int, dtype: Any, fill: int) -> Any:
    if fill < 2:
        return tensorflow.cast(tensorflow.fill([n], fill), dtype)
    # At most 100 different ones, so that they fit into every integer dtype.
    ramp = tensorflow.cast(
        tensorflow.range(n) % (2 if dtype.is_bool else 100), dtype
    )
    # Halves, so that what needs integers differs with the fill.
    return ramp + tensorflow.cast(0.5, dtype) if dtype.is_floating else ramp


def read(value: Any) -> dict[str, Any]:
    """The schema of an eager tensor or variable, by the probe; empty for others."""
    told = seen(value)
    known = {
        name: told[name]
        for name in ("shape", "dtype")
        if told.get(name) is not None
    }
    if told["type"] not in (_EAGER, _VARIABLE) or len(known) < 2:
        return {}
    return {"type": told["type"], **known}
