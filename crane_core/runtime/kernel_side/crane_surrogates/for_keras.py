"""Surrogates of Keras' symbolic tensors and single layers. A layer gets its weights only where Keras runs for real."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Mapping

import keras

from .asked.places import words
from .made import NotMadeError, no_name, seen

PACKAGE = keras
named = no_name
_SYMBOLIC = "keras.src.backend.common.keras_tensor.KerasTensor"
# What a layer is made with; any other fact would be one that it is not made again with.
_SETTINGS = words(
    "units filters kernel_size strides dilation_rate groups padding pool_size rate input_dim output_dim activation"
    " return_sequences return_state axis target_shape n dims size cropping mask_zero stateful interpolation data_format"
    " num_groups scale offset"
)
_OF_CALLS = words(
    "type takes gives expects weights built_with trainable built "
    "n_parameters n_trainable_parameters stated_input"
)
_NAMES = "object_name_uids"


@contextlib.contextmanager
def mode(_fill: int) -> Iterator[None]:
    """Weights have shapes alone."""
    # StatelessScope exists since Keras 3; in Keras 2 layers have weights in any case.
    if not hasattr(keras, "StatelessScope"):  # Keras 2
        yield
        return
    from keras.src.backend.common import global_state

    given_names = global_state.get_global_attribute(_NAMES)
    global_state.set_global_attribute(
        _NAMES, None
    )  # a layer has the same name with each fill
    try:
        with keras.StatelessScope():
            yield
            global_state.set_global_attribute(
                "uninitialized_variables", []
            )  # else they are made at the end
    finally:
        global_state.set_global_attribute(_NAMES, given_names)


def make(facts: Mapping[str, Any], fill: int) -> Any:
    """A symbolic tensor, a loss as usual, or a layer with its `config` or settings; raises NotMadeError for others."""
    if facts["type"] == _SYMBOLIC:
        return keras.KerasTensor(
            tuple(facts["shape"]), facts["dtype"], name="input"
        )
    name = facts["type"].rpartition(".")[2]
    if facts["type"] == f"keras.losses.{name}":
        return getattr(keras.losses, name)(
            reduction="none"
        )  # the mean is that of a batch, whose length is open
    kind = getattr(keras.layers, name, None)
    if (
        not facts["type"].startswith(("keras.layers.", "keras.src.layers."))
        or kind is None
    ):
        raise NotMadeError(facts["type"])
    # An RNN or a merging layer is built for several shapes, which one list does not tell.
    taken = facts.get("takes")
    if taken is not None and any(type(length) is list for length in taken):
        raise NotMadeError("built for several inputs")
    with mode(fill):
        layer = (
            kind.from_config(facts["config"])
            if "config" in facts
            else _with_settings(kind, facts)
        )
        if taken is not None:
            layer.build(tuple(taken))
    return layer


def _with_settings(kind: Any, facts: Mapping[str, Any]) -> Any:
    """A layer as a state tells it: where its settings are all that it was made with."""
    told = {name: fact for name, fact in facts.items() if name not in _OF_CALLS}
    if told.keys() - _SETTINGS:
        raise NotMadeError("a layer with more facts than it is made with")
    # Keras sets strides to the pool size where none are given: 1 is what a state leaves out.
    stepping = (
        {"strides": 1}
        if "Pooling" in kind.__name__ and "pool_size" in told
        else {}
    )
    layer = kind(**{**stepping, **told})
    # What the layer says of itself must be what was stated: else it is another layer.
    if {
        name: fact for name, fact in seen(layer).items() if name in _SETTINGS
    } != told:
        raise NotMadeError("a layer with other settings")
    return layer


def read(value: Any) -> dict[str, Any]:
    """The schema of a symbolic tensor; of a layer how it is made again. Empty for others."""
    kind = type(value)
    if f"{kind.__module__}.{kind.__qualname__}" == _SYMBOLIC:
        return {
            "type": _SYMBOLIC,
            "shape": list(value.shape),
            "dtype": value.dtype,
        }
    if (
        kind.__module__.startswith("keras.src.layers.")
        and getattr(keras.layers, kind.__name__, None) is kind
    ):
        told = {
            "type": f"keras.layers.{kind.__name__}",
            # A name is given once per process, so that of the notebook's layer may be taken.
            "config": {**value.get_config(), "name": None},
        }
        shape = getattr(value, "_input_shape_arg", None)
        return (
            told if shape is None else {**told, "stated_input": [None, *shape]}
        )
    return {}
