"""One layer of Keras: settings, what it takes and returns, what it expects before it is called, its weights.

Knows layers by their attribute dicts. Refuses to build one.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Mapping

from ...anatomy import Names, own_dict, package_of, type_name
from ...bounds import Facts, merged, stated
from ...brief import attributes_of, is_plain, plain
from ...callables.functions import signature_of_method
from ...kinds import ROWS
from ..tensorflow.tensors import dims
from .parts import (
    PACKAGES,
    built_of,
    call_of,
    counts,
    dtype_of,
    layers_of,
    plain_dict,
    plain_list,
    shape_of,
    variables,
    walk,
)

_MOST_NAMES = 60
_RANKS = ("ndim", "min_ndim", "max_ndim")
_SETTINGS = (
    "units filters kernel_size strides dilation_rate groups padding pool_size rate input_dim output_dim input_length"
    " return_sequences return_state axis target_shape n dims num_heads key_dim num_groups size cropping merge_mode"
    " max_tokens output_mode output_sequence_length vocabulary_size mask_zero stateful interpolation height width scale"
    " offset data_format batch_size"
)
_USUAL: Facts = {
    "padding": "valid",
    "dilation_rate": 1,
    "groups": 1,
    "strides": 1,
    "scale": True,
    "return_sequences": False,
    "return_state": False,
    "mask_zero": False,
    "stateful": False,
    "data_format": "channels_last",
    "activation": "linear",
    "axis": -1,
}
"""What is not worth a word."""


def layer(value: Any, look: Any) -> Facts:
    """A layer by itself: settings, shapes, weights, whether it is built."""
    held = own_dict(value)
    facts = about_layer(value, look)
    facts.pop("type")
    inside = list(walk(value, look, {}))
    names = {
        "layers": [
            f"{name_of_layer(one)} ({type(one).__qualname__})"
            for one in layers_of(held)[:_MOST_NAMES]
        ]
    }
    # A layer that is not built has no weights to count yet.
    n_weights = counts(inside) if held.get("built") is not False else {}
    structure = {**facts, **n_weights, **(names if names["layers"] else {})}
    plus = {
        "structure": structure,
        "representation": signature_of_method(value, "call", PACKAGES),
        "values": built_of(held),
    }
    return {"plus": merged(plus, attributes(value, held, look))}


def name_of_layer(layer: Any) -> str:
    """The layer's name; empty where it has none yet."""
    held = own_dict(layer)
    # Keras 3 keeps `name`, Keras 2 `_name`.
    name = held.get("name", held.get("_name"))
    return name if type(name) is str else ""


def about_layer(
    layer: Any, look: Any, nodes: Mapping[int, Any] | None = None
) -> Facts:
    """Type, settings, what it takes and returns; before it is called, what it expects."""
    held = own_dict(layer)
    kind = type(layer)
    facts: Facts = {
        "type": kind.__qualname__
        if package_of(kind) in PACKAGES
        else type_name(kind)
    }
    facts.update(settings_of(held, look))
    called = call_of(held, nodes) or built_with(held)
    if not called or held.get("built") is False:
        # Before a first call only the specification tells what a layer wants.
        called = dict(called, **expected_of(held))
    # Where a call tells what it takes, weights follow from it.
    weights = {} if called.get("takes") or layers_of(held) else _weights(held)
    frozen = {"trainable": False} if held.get("_trainable") is False else {}
    return {**facts, **called, **weights, **frozen}


def _weights(held: Names) -> Facts:
    """The shapes of the layer's own weights, where no call tells what it takes."""
    own = [*variables(held, "trainable"), *variables(held, "other")]
    return stated(weights=[shape_of(one) for one in own])


def expected_of(held: Names) -> Facts:
    """What the layer's input specification demands: {"expects": {"ndim", "min_ndim", "axes", "shape"}}."""
    # A layer with several inputs has a list of specifications.
    specs = plain_list(held.get("_input_spec")) or [held.get("_input_spec")]
    told = [_spec(own_dict(spec)) for spec in specs if spec is not None]
    return {"expects": told[0] if len(told) == 1 else told} if any(told) else {}


def _spec(spec: Mapping[str, Any]) -> Facts:
    known: Facts = {
        name: spec[name] for name in _RANKS if type(spec.get(name)) is int
    }
    axes: dict[Any, Any] = plain_dict(spec.get("axes"))
    shape = dims(spec.get("shape"))
    if axes:
        known["axes"] = dict(zip(map(str, axes), axes.values()))
    return dict(known, shape=shape) if shape is not None else known


def settings_of(held: Names, look: Any) -> Facts:
    """The settings that decide on shapes, and the activation."""
    # An RNN keeps units and activation in its cell.
    cell = own_dict(held.get("cell"))
    inner: Facts = {
        name: cell[name] for name in ("units", "activation") if name in cell
    }
    inner.update(held)
    known = {
        name: inner[name]
        for name in _SETTINGS.split()
        if name in inner and is_plain(inner[name])
    }
    activation = inner.get("activation")
    # An activation may be a layer or a class: only a function has a name.
    if type(activation) is FunctionType:
        known["activation"] = activation.__name__
    return {
        name: plain(item, look)
        for name, item in known.items()
        if item is not None and not _is_usual(name, item)
    }


def _is_usual(name: str, item: Any) -> bool:
    if name not in _USUAL:
        return False
    return (
        all(part == _USUAL[name] for part in item)
        if type(item) in ROWS
        else bool(item == _USUAL[name])
    )


def built_with(held: Names) -> Facts:
    """The shapes, size of the batch included, that a layer was built for."""
    shapes = plain_dict(held.get("_build_shapes_dict"))
    found = {str(name): dims(shape) for name, shape in shapes.items()}
    # Keras 2 keeps one shape, Keras 3 a dict by argument.
    legacy = dims(held.get("_build_input_shape"))
    found = found or ({"input_shape": legacy} if legacy is not None else {})
    return stated(built_with=found)


def attributes(value: Any, held: Names, look: Any) -> Facts:
    """What a class outside Keras keeps beside its layers."""
    if package_of(type(value)) in PACKAGES:
        return {}
    return attributes_of(held, look, left_out=_OF_EVERY_LAYER.split())


_OF_EVERY_LAYER = (
    "build quantize compiled loss optimizer name built autocast supports_jit activity_regularizer stop_training"
    " steps_per_execution unrolled_steps_per_execution train_function test_function predict_function history inputs"
    " outputs input_names output_names compiled_loss compiled_metrics train_tf_function call_signature_parameters"
    " metrics_names"
)


def symbolic(value: Any, look: Any) -> Facts:
    """A symbolic tensor, or a variable's shape and dtype."""
    dtype = dtype_of(value)
    name = look.scalar(own_dict(value).get("name"))
    facts = {
        "structure": {"shape": shape_of(value)},
        "representation": stated(dtype=dtype),
    }
    return {"plus": dict(facts, values=stated(name=name))}
