"""TensorFlow: which of its classes is looked at by which file, and what attributes of its objects are.

Knows shapes, and that `tf.keras` is read only where it is loaded.
"""

from __future__ import annotations

import sys
from typing import Any

from ..anatomy import instance_dict, package_of
from ..bounds import Facts
from ..chains.following import Resolution, resolve_attribute
from ..syntax.asked import ATTRIBUTE, Steps
from .tensorflow import data, tensors
from .tensorflow.tensors import dims, is_eager

# Which package `tf.keras` is depends on the release and on TF_USE_LEGACY_KERAS.
_KERAS = {
    "keras_3": "keras._tf_keras.keras",
    "keras_2": "keras.api._v2.keras",
    "tf_keras": "tf_keras.api._v2.keras",
}


def follow(value: Any, steps: Steps) -> Resolution | None:
    """Shape and dtype of tensors; what is behind `tf.keras`."""
    step = steps[0]
    if step.kind != ATTRIBUTE:
        return Resolution()
    # By name, as the class is in a module that older releases of TensorFlow lack.
    if type(value).__name__ == "KerasLazyLoader":
        return _in_keras(value, step.value)
    if is_eager(value) and step.value in ("shape", "dtype", "ndim", "device"):
        return Resolution(getattr(value, step.value))
    return None


def _in_keras(value: Any, name: str) -> Resolution | None:
    loaded = _loaded_keras(value)
    # While Keras is not loaded, an attribute of tf.keras would load it: seconds, and memory of a
    # GPU.
    return (
        resolve_attribute(loaded, name) if loaded is not None else Resolution()
    )


def _loaded_keras(value: Any) -> Any:
    """The module that `tf.keras` refers to; None while it is not loaded."""
    held = instance_dict(value)
    # With a submodule the loader is for another module than Keras itself.
    if (
        held.get("_tfll_initialized") is not True
        or held.get("_tfll_submodule") is not None
    ):
        return None
    return sys.modules.get(_KERAS.get(str(held.get("_tfll_keras_version")), ""))


def has_attribute(value: Any, name: str) -> bool | None:
    """A tensor's `__getattr__` finds nothing: it only words the error."""
    if is_eager(value):
        # Tensor.__getattr__ raises for `numpy` or `ravel` with a hint, whatever the name.
        return False
    return None


def tensor_shape(value: Any, look: Any) -> Facts:
    """A TensorShape: its sizes, None where one is open."""
    return {"plus": {"values": {"value": dims(value)}}}


def dtype(value: Any, look: Any) -> Facts:
    """A DType of TensorFlow: its name."""
    return (
        {"plus": {"values": {"value": look.text(value.name)}}}
        if package_of(type(value)) == "tensorflow"
        else {}
    )


def spec(value: Any, look: Any) -> Facts:
    """A TypeSpec: the shapes and dtypes that it describes."""
    return {"plus": {"representation": {"spec": data.described(value)}}}


def wrapped(value: Any, look: Any) -> Facts:
    """A list or dict that a tracked object holds, by what it wraps: itself it may be empty."""
    inner = unwrapped(value)
    if inner is value:
        return {}
    entry = look.summary(inner)
    return {group: facts for group, facts in entry.items() if group != "type"}


def unwrapped(value: Any) -> Any:
    """What a tracked list or dict wraps; another value itself."""
    name = type(value).__name__
    if name == "ListWrapper":
        return instance_dict(value).get("_storage", value)
    # A wrapt proxy in C: __wrapped__ runs no code of Python.
    return value.__wrapped__ if name == "_DictWrapper" else value


def shape(value: Any) -> tuple[int, ...] | None:
    """Of tensors, and the length of a wrapped list."""
    inner = unwrapped(value)
    if inner is not value and (type(inner) is list or type(inner) is dict):
        return (len(inner),)
    return tensors.shape(value) if is_eager(value) else None


FOLLOW = follow
HAS_ATTRIBUTE = has_attribute
SHAPE = shape
SCALAR = tensors.plain_scalar
SUMMARIZERS = {
    "tensorflow.python.framework.tensor.Tensor": tensors.tensor,
    # Older releases of TensorFlow have the class in ops.
    "tensorflow.python.framework.ops.Tensor": tensors.tensor,
    "tensorflow.python.ops.variables.Variable": tensors.variable,
    "RaggedTensor": tensors.ragged,
    "SparseTensor": tensors.sparse,
    "DatasetV2": data.dataset,
    "OwnedIterator": data.iterator,
    "TensorShape": tensor_shape,
    "DType": dtype,
    "TypeSpec": spec,
    **dict.fromkeys(("ListWrapper", "_DictWrapper"), wrapped),
}
