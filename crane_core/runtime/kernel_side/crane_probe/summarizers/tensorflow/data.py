"""Datasets of TensorFlow: what their elements are, by the specification alone; nothing is iterated.

Knows specs as trees. Refuses to make an iterator.
"""

from __future__ import annotations

from typing import Any, Mapping

from ...anatomy import (
    class_dict,
    instance_dict,
    is_kind,
    owner_of,
    package_of,
    type_name,
)
from ...bounds import Facts, merged
from ...brief import attributes_held
from ...kinds import CONTAINERS
from .tensors import dims, is_eager

_DEEPEST = 5
# What cardinality() returns for these two.
_INFINITE, _UNKNOWN = -1, -2


def dataset(value: Any, look: Any) -> Facts:
    """element_spec as a tree of shapes and dtypes; how many elements, as far as that is known without counting."""
    plus: Facts = merged(
        attributes_held(value, look), {"structure": _cardinality(value)}
    )
    return merged({"representation": _spec_of(value)}, {"plus": plus})


def iterator(value: Any, look: Any) -> Facts:
    """The elements of an iterator over a dataset."""
    spec = instance_dict(value).get("_element_spec")
    facts = {"element_spec": described(spec)} if spec is not None else {}
    return {
        "plus": {
            "representation": facts,
            "values": {"advanced": "not by looking"},
        }
    }


def _spec_of(value: Any) -> Facts:
    owner = owner_of(type(value), "element_spec")
    # A dataset class of the notebook has its own element_spec, which is code.
    if owner is None or package_of(owner) != "tensorflow":
        return {}
    spec = class_dict(owner)["element_spec"].__get__(value)
    container = (
        {"element_type": type(spec).__name__}
        if type(spec) in CONTAINERS
        else {}
    )
    return dict(container, element_spec=described(spec))


def described(spec: Any, depth: int = 0) -> Any:
    """{"shape", "dtype"} at the ends of the tree; specs of other things than dense tensors with their type."""
    # Nested deeper, specs describe sequences of sequences.
    if depth > _DEEPEST:
        return type_name(type(spec))
    if isinstance(spec, Mapping):
        return {
            str(key): described(part, depth + 1) for key, part in spec.items()
        }
    if is_kind(spec, tuple) or is_kind(spec, list):
        return [described(part, depth + 1) for part in spec]
    held = instance_dict(spec)
    dtype = getattr(held.get("_dtype"), "name", None)
    facts = {"shape": dims(held.get("_shape")), "dtype": dtype} if dtype else {}
    kind = type(spec).__name__
    facts.update(
        {"ragged_rank": held["_ragged_rank"]} if "_ragged_rank" in held else {}
    )
    return facts if kind == "TensorSpec" else dict({"type": kind}, **facts)


def _cardinality(value: Any) -> Facts:
    """The number of elements where the dataset states it."""
    if package_of(type(value)) != "tensorflow":
        return {}
    found = value.cardinality()
    # Within a graph the number is a symbolic tensor.
    if not is_eager(found):
        return {}
    # _numpy_internal shares memory where numpy() would copy.
    n = int(found._numpy_internal())
    return {
        "n_elements": {_INFINITE: "infinite", _UNKNOWN: "unknown"}.get(n, n)
    }
