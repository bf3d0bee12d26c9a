"""What Keras keeps in its objects, for Keras 3 and the Keras 2 of older TensorFlow: layers, weights, shapes, calls.

Knows the private attributes of both, which are plain data where the public ones are code. Refuses to build, to call
and to run a property.
"""

from __future__ import annotations

from typing import Any, Iterator, Mapping

from ...anatomy import (
    Names,
    instance_dict,
    is_kind,
    mro_of,
    name_of,
    own_dict,
    package_of,
)
from ...bounds import Facts
from ..tensorflow.tensors import dims

# tf_keras is Keras 2 under its own name, for TensorFlow 2.16 and later.
PACKAGES = ("keras", "tf_keras")
_LAYER_LISTS = ("_layers", "_self_tracked_trackables")
_VARIABLE_LISTS = {
    "trainable": ("_trainable_variables", "_trainable_weights"),
    "other": ("_non_trainable_variables", "_non_trainable_weights"),
}
# Lists in lists, as models hold blocks: deeper ones hold themselves.
_DEEPEST = 40
_NS_PER_LAYER = 60_000


def is_of_keras(value: Any, name: str) -> bool:
    """True for an object of Keras' class of that name, or of a class derived from it."""
    return any(
        name_of(kind) == name and package_of(kind) in PACKAGES
        for kind in mro_of(type(value))
    )


def plain_list(value: Any) -> list[Any]:
    """The items of a list, and of the lists in whose place Keras and TensorFlow keep their own."""
    # TensorFlow's tracking replaces a list by a wrapper that is not a list inside.
    if type(value).__name__ == "ListWrapper":
        value = own_dict(value).get("_storage")
    if is_kind(value, list):
        return list(list.__iter__(value))
    return list(value) if type(value) is tuple else []


def plain_dict(value: Any) -> dict[Any, Any]:
    """The entries of a dict, of a subclass too, as a dict; empty for anything else."""
    return dict(dict.items(value)) if is_kind(value, dict) else {}


# Layers


def layers_of(held: Names) -> list[Any]:
    """The layers directly inside, in order, each once."""
    tracked = next((held[name] for name in _LAYER_LISTS if name in held), ())
    # By id: a layer that is used twice is one layer.
    found = {
        id(layer): layer
        for layer in _spread(tracked, 0)
        if is_of_keras(layer, "Layer")
    }
    return list(found.values())


def _spread(value: Any, depth: int) -> Iterator[Any]:
    """The ends of nested lists and dicts: attributes that hold several layers."""
    inner = plain_list(value) or list(plain_dict(value).values())
    if inner and depth < _DEEPEST and not is_of_keras(value, "Layer"):
        for item in inner:
            yield from _spread(item, depth + 1)
    else:
        yield value


def walk(value: Any, look: Any, met: dict[int, Any]) -> Iterator[Any]:
    """The layer and all inside it, each once, as far as the budget goes."""
    # A model may hold itself.
    if id(value) in met or not look.affords(_NS_PER_LAYER):
        return
    met[id(value)] = value
    yield value
    for inner in layers_of(own_dict(value)):
        yield from walk(inner, look, met)


# Weights


def counts(layers: list[Any]) -> dict[str, int]:
    """How many numbers the weights hold, and how many of them are trained."""
    n_all = n_trained = 0
    for layer in layers:
        held = own_dict(layer)
        trained, others = (
            sum(map(size_of, variables(held, group)))
            for group in _VARIABLE_LISTS
        )
        n_all += trained + others
        n_trained += trained if held.get("_trainable", True) else 0
    return {
        "n_parameters": n_all,
        **({"n_trainable_parameters": n_trained} if n_trained != n_all else {}),
    }


def variables(held: Names, group: str) -> list[Any]:
    """The layer's own variables of the group `trainable` or `other`."""
    return next(
        (
            plain_list(held[name])
            for name in _VARIABLE_LISTS[group]
            if name in held
        ),
        [],
    )


def size_of(variable: Any) -> int:
    """How many numbers a variable holds; 0 where a size is open."""
    size = 1
    for length in shape_of(variable) or ():
        # An open size counts as 0: the number of weights is not known then.
        size *= length or 0
    return size


def shape_of(value: Any) -> Any:
    """The shape of a variable or symbolic tensor as a list; None if it has none."""
    held = own_dict(value)
    # Symbolic tensors of Keras 2 keep their shape in a type specification.
    if "_type_spec" in held:
        held = instance_dict(held["_type_spec"])
    return dims(held.get("_shape"))


def dtype_of(value: Any) -> str | None:
    """The name of the dtype of a variable or symbolic tensor; None if it has none."""
    held = own_dict(value)
    dtype: Any = held.get(
        "_dtype", instance_dict(held.get("_type_spec")).get("_dtype")
    )
    # A dtype is TensorFlow's object or, in Keras 3, a text.
    name = dtype.name if package_of(type(dtype)) == "tensorflow" else dtype
    return name if type(name) is str else None


# Calls


def tensors_in(structure: Any) -> list[Any]:
    """The symbolic tensors at the ends of a structure of lists and dicts."""
    return [
        end
        for end in _spread(structure, 0)
        if end is not None and shape_of(end) is not None
    ]


def shapes_in(structure: Any) -> Any:
    """The shape of a single tensor; of several a list, or a dict by their names."""
    if is_kind(structure, dict):
        return {
            str(name): shapes_in(part)
            for name, part in plain_dict(structure).items()
        }
    ends = tensors_in(structure)
    shapes = [shape_of(end) for end in ends]
    return shapes[0] if len(shapes) == 1 else shapes


def call_of(held: Names, nodes: Mapping[int, Any] | None = None) -> Facts:
    """{"takes", "gives"} of the layer's last symbolic call, of those among `nodes` where they are given."""
    # A layer has a node for each call; the last is what the model uses.
    calls = plain_list(
        held.get("_inbound_nodes", held.get("_inbound_nodes_value"))
    )
    among = [
        node for node in calls if nodes is None or id(node) in nodes
    ] or calls
    if not among:
        return {}
    node = own_dict(among[-1])
    taken = own_dict(node.get("arguments")).get(
        "keras_tensors", node.get("_keras_inputs")
    )
    facts = {"takes": shapes_in(taken), "gives": shapes_in(node.get("outputs"))}
    # A call without tensors (a layer that only makes values) has none to tell.
    return {name: shape for name, shape in facts.items() if shape != []}


def built_of(held: Mapping[str, Any]) -> Facts:
    """Whether an object of Keras has made its variables, where it says so."""
    return {"built": held["built"]} if type(held.get("built")) is bool else {}
