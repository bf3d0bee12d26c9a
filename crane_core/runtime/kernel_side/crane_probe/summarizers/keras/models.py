"""Models of Keras: input and output shapes, layer by layer, weights, whether built and compiled, and with what.

Knows them by their attribute dicts. All of it is beyond the published extractor, which states the type alone.
"""

from __future__ import annotations

from typing import Any, Mapping

from ...anatomy import Names, own_dict
from ...bounds import Facts, merged, stated
from ...callables.functions import signature_of_method
from . import layers, training
from .parts import (
    PACKAGES,
    built_of,
    counts,
    dtype_of,
    layers_of,
    plain_dict,
    shapes_in,
    tensors_in,
    walk,
)

_MOST_LAYERS = 60


def model(value: Any, look: Any) -> Facts:
    """What goes in and comes out, layer by layer; whether it is built and compiled, and with what."""
    held = own_dict(value)
    network = _network(held)
    inside = list(walk(value, look, {}))
    # As for layers: what is not built has no weights.
    n_weights = counts(inside) if held.get("built") is not False else {}
    structure = {
        **_ends(held, network),
        **n_weights,
        **_layers(held, network, look),
    }
    representation = {
        **_input_dtypes(network),
        **signature_of_method(value, "call", PACKAGES),
    }
    plus = {
        "structure": structure,
        "representation": representation,
        "values": _state(held, inside, look),
    }
    return {"plus": merged(plus, layers.attributes(value, held, look))}


def _network(held: Names) -> Mapping[str, Any]:
    """Where the graph of layers is kept: a Sequential of Keras 3 keeps one inside, once it is built."""
    # On torch, layers inside are kept as torch keeps modules.
    inner = held.get(
        "_functional", plain_dict(held.get("_modules")).get("_functional")
    )
    return own_dict(inner) if inner is not None else held


# Shapes


def input_of(held: Names) -> Any:
    """The symbolic inputs of a model, nested as it takes them; None for one that has none (yet)."""
    network = _network(held)
    # Keras 3 and Keras 2 name it in two ways.
    return network.get("_inputs_struct", network.get("_nested_inputs"))


def output_of(held: Names) -> Any:
    """The symbolic outputs of a model, nested as it returns them; None for one without a graph."""
    network = _network(held)
    return network.get("_outputs_struct", network.get("_nested_outputs"))


def _ends(held: Names, network: Mapping[str, Any]) -> Facts:
    """input_shape and output_shape; of a model without a graph the shapes with which it was first called."""
    ends = {"input_shape": input_of(held), "output_shape": output_of(held)}
    facts = {
        name: shapes_in(end) for name, end in ends.items() if end is not None
    }
    return facts or layers.built_with(held)


def _layers(held: Names, network: Mapping[str, Any], look: Any) -> Facts:
    """{"layers": {name: {"type", settings, "takes", "gives"}}} in order; the middle of very many is counted."""
    own = layers_of(held)
    # A layer that is shared by models has nodes of all: only this model's count.
    nodes = {
        id(node): node
        for node in network.get("_nodes", network.get("_network_nodes", ()))
        if node is not None
    }
    half = _MOST_LAYERS // 2
    # The ends of a deep model say what goes in and comes out.
    kept = own if len(own) <= _MOST_LAYERS else [*own[:half], *own[-half:]]
    shown = {
        look.text(layers.name_of_layer(one)): layers.about_layer(
            one, look, nodes
        )
        for one in kept
    }
    return stated(layers=shown, layers_not_shown=len(own) - len(kept))


# State


def _state(held: Names, inside: list[Any], look: Any) -> Facts:
    frozen = [
        layers.name_of_layer(layer)
        for layer in inside
        if own_dict(layer).get("_trainable") is False
    ]
    return {
        **built_of(held),
        **_compiled(held, look),
        **stated(not_trainable=frozen[:10]),
    }


def _compiled(held: Names, look: Any) -> Facts:
    """compiled, and loss, metrics and optimizer as they were given."""
    # Keras 2 keeps both with an underscore.
    is_compiled = held.get("compiled", held.get("_is_compiled"))
    if is_compiled is not True:
        return {"compiled": False} if is_compiled is False else {}
    optimizer = held.get("optimizer", held.get("_optimizer"))
    facts: Facts = {
        "compiled": True,
        "loss": training.named(held.get("loss"), look),
    }
    metrics = training.named(_metrics(held), look)
    facts.update(stated(metrics=metrics))
    rate = training.rate(own_dict(optimizer), look)
    return dict(
        facts, optimizer=dict({"type": type(optimizer).__qualname__}, **rate)
    )


def _metrics(held: Names) -> Any:
    # Only what was given to compile(): Keras 2 makes metrics of it later.
    given = held.get("_compile_metrics", held.get("compiled_metrics"))
    return own_dict(given).get("_user_metrics") if given is not None else None


def _input_dtypes(network: Mapping[str, Any]) -> Facts:
    ends = tensors_in(input_of(network))
    dtypes = [dtype_of(end) for end in ends]
    return (
        {"input_dtype": dtypes[0] if len(dtypes) == 1 else dtypes}
        if dtypes
        else {}
    )
