"""Layers of Keras that the target makes and calls: settings, shapes of symbolic tensors, what a layer refuses.

Knows layers by exact class. A layer that is built holds the shape it was built for in the fact "takes".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer, or_unknown
from crane_core.detectors.rules.families import keras_sizes
from crane_core.detectors.rules.families.keras_api import has_keras_2
from crane_core.detectors.rules.families.numpy_arrays import literal_of, whole
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape, shown

RULES = Family("keras layers")

SYMBOLIC: Final = "keras.src.backend.common.keras_tensor.KerasTensor"
_CONV = "filters, kernel_size, strides=1, padding='valid', data_format='channels_last', dilation_rate=1, **more"
_RECURRENT = "units, activation='tanh', recurrent_activation='sigmoid', use_bias=True, **more"
_POOL = "pool_size=2, strides=None, padding='valid', data_format='channels_last', **more"
_MADE: Final = {
    "Dense": "units, activation=None, **more",
    **{f"Conv{n}D": _CONV for n in (1, 2, 3)},
    **{f"Conv{n}DTranspose": _CONV for n in (1, 2)},
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT,
    "SimpleRNN": "units, activation='tanh', **more",
    "Embedding": "input_dim, output_dim, **more",
    **{f"{kind}Pooling{n}D": _POOL for kind in ("Max", "Average") for n in (1, 2, 3)},
    **{f"Global{kind}Pooling{n}D": "**more" for kind in ("Max", "Average") for n in (1, 2, 3)},
    "Flatten": "data_format='channels_last', **more",
    "Reshape": "target_shape, **more",
    "BatchNormalization": "axis=-1, **more",
    "Dropout": "rate, noise_shape=None, seed=None, **more",
    "SpatialDropout1D": "rate, seed=None, **more",
    "Activation": "activation, **more",
    **dict.fromkeys(("ReLU", "LeakyReLU", "ELU", "Softmax", "LayerNormalization"), "*args, **more"),
    "Rescaling": "scale, offset=0.0, **more",
    "RepeatVector": "n, **more",
    "UpSampling1D": "size=2, **more",
    "UpSampling2D": "size=2, data_format='channels_last', interpolation='nearest', **more",
}
_NO_SETTINGS: Final = ("name", "dtype", "trainable", "activation", "kernel_initializer", "seed", "use_bias")
_POOLINGS: Final = tuple(name for name in _MADE if "Pooling" in name and not name.startswith("Global"))


# Making


def _maker(kind: str) -> Rule:
    def made(operation: Operation) -> Answer:
        if not operation.arguments.is_complete:
            return UNKNOWN
        bound = operation.arguments.bound(_MADE[kind])
        if bound is None or any(name.startswith("weights") for name in bound):
            return UNCHANGED
        settings = {name: _plain(abstract) for name, abstract in bound.items() if name not in _NO_SETTINGS}
        if kind in _POOLINGS and settings.get("strides") is None:
            settings["strides"] = settings.get("pool_size", 2)
        shape = _stated_input(settings)
        facts = {name: value for name, value in settings.items() if value is not None}
        return AbstractValue(
            f"keras.layers.{kind}", facts | ({"stated_input": shape} if shape is not None else {}), words=operation.text
        )

    return made


def _plain(value: AbstractValue) -> Any:
    if value.items is not None:
        return [item.literal for item in value.items]
    return value.literal


def _stated_input(settings: dict[str, Any]) -> Shape | None:
    """input_shape=(9,), input_dim=9: the model's input that the first layer states."""
    shape = settings.pop("input_shape", None)
    if isinstance(shape, (list, tuple)):
        return (None, *(size if type(size) is int else None for size in shape))
    return None


for _kind in _MADE:
    RULES.function(f"keras.layers.{_kind}")(_maker(_kind))


@RULES.function("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")
def input_made(operation: Operation) -> Answer:
    """A symbolic tensor; the shape is given without the batch."""
    bound = operation.arguments.bound(
        "shape=None, batch_size=None, dtype=None, sparse=None, batch_shape=None, name=None, **more"
    )
    if bound is None or "shape" not in bound or "batch_shape" in bound:
        return UNCHANGED
    given = bound["shape"]
    if given.type == "int" and given.is_literal and not has_keras_2(operation):
        operation.crash(
            "ValueError",
            "the shape of an input must be a tuple, not a number",
            fact=f"shape is {given.literal}",
            remedy=f"write ({given.literal},)",
        )
    if given.items is None:
        return AbstractValue(SYMBOLIC)
    sizes = map(whole, given.items)
    is_layer = "InputLayer" in operation.text.partition("(")[0]
    return AbstractValue(
        "keras.layers.InputLayer" if is_layer else SYMBOLIC, {"shape": (None, *sizes), "is_input": True}
    )


# Calling


def is_layer(value: AbstractValue) -> bool:
    is_of_keras = value.package in ("keras", "tf_keras")
    return is_of_keras and (value.class_name in keras_sizes.SHAPE_RULES or value.class_name in keras_sizes.SAME_SHAPE)


def through(layer: AbstractValue, shape: Shape) -> Shape | None:
    """What a layer gives; it is built by its first call. Raises Refusal."""
    after = keras_sizes.given(layer.class_name, layer.facts, shape)
    if layer.class_name in keras_sizes.SHAPE_RULES:
        layer.facts.setdefault("takes", (None, *shape[1:]))
    return after


@RULES.method("keras.*", "__call__")
def called(operation: Operation) -> Answer:
    """A layer on a symbolic tensor, or on data."""
    layer = operation.receiver
    if not is_layer(layer):
        return UNKNOWN
    given, others = operation.first, operation.arguments.positional[1:]
    if others or not operation.arguments.is_complete:
        return UNKNOWN
    _refuse_lists(operation, layer, given)
    shape = given.shape
    if shape is None:
        return AbstractValue(given.type if given.type == SYMBOLIC else "")
    try:
        after = through(layer, shape)
    except keras_sizes.Refusal as refusal:
        operation.crash(
            "ValueError",
            refusal.why,
            fact=f"{given.named('the input')} has shape {shown(shape)}",
            remedy=refusal.remedy,
        )
    is_symbolic = given.class_name == "KerasTensor"
    kind = (
        SYMBOLIC
        if is_symbolic
        else "tensorflow.python.framework.ops.EagerTensor"
        if given.package == "tensorflow"
        else ""
    )
    return AbstractValue(kind, {"shape": after} if after is not None else {}, words=f"the output of {layer.class_name}")


def _refuse_lists(operation: Operation, layer: AbstractValue, given: AbstractValue) -> None:
    items = given.items or []
    are_symbolic = len(items) > 1 and all(item.class_name == "KerasTensor" for item in items)
    if given.type in ("list", "tuple") and are_symbolic and layer.class_name in ("Dense", "Flatten"):
        operation.crash(
            "ValueError",
            f"{layer.class_name} expects 1 input tensor, but {len(items)} are given",
            fact=f"{given.named('the input')} is a {given.type} of {len(items)} tensors",
            remedy="concatenate them first: layers.Concatenate()([...])",
        )


def _joiner(*, is_concatenation: bool) -> Rule:
    def joined(operation: Operation) -> Answer:
        given = operation.first
        if given.items is None or not operation.arguments.is_complete:
            return UNKNOWN
        receiver = operation.receiver
        axis = receiver.fact("axis", -1)
        return or_unknown(_join(operation, given.items, axis if is_concatenation else None))

    return joined


def _join(operation: Operation, parts: Sequence[AbstractValue], axis: Any) -> AbstractValue | None:
    shapes = [part.shape for part in parts if part.shape is not None and part.class_name == "KerasTensor"]
    if not parts or len(shapes) < len(parts):
        return AbstractValue()
    try:
        after = keras_sizes.merged(shapes) if axis is None else None
        if type(axis) is int:
            after = keras_sizes.concatenated(shapes, axis)
    except keras_sizes.Refusal as refusal:
        operation.crash("ValueError", refusal.why, fact=_describe(parts, shapes), remedy=refusal.remedy)
    return AbstractValue(SYMBOLIC, {"shape": after} if after is not None else {})


def _describe(parts: Sequence[AbstractValue], shapes: Sequence[Shape]) -> str:
    pairs = zip(parts, shapes, strict=True)
    return ", ".join(f"{part.named('one')} has {shown(shape)}" for part, shape in pairs)


_JOINING: Final[Mapping[str, bool]] = {"Concatenate": True, "Add": False, "Multiply": False, "Average": False}


def _joining_layer(kind: str) -> Rule:
    def made(operation: Operation) -> Answer:
        bound = operation.arguments.bound("axis=-1, **more" if kind == "Concatenate" else "**more")
        axis = literal_of((bound or {}).get("axis"), -1)
        return AbstractValue(f"keras.layers.{kind}", {"axis": axis} if axis is not NOT_KNOWN else {"axis": None})

    return made


for _kind, _is_concatenation in _JOINING.items():
    RULES.function(f"keras.layers.{_kind}")(_joining_layer(_kind))
    RULES.method(f"keras.{_kind}", "__call__")(_joiner(is_concatenation=_is_concatenation))


@RULES.function("keras.layers.concatenate")
def concatenate(operation: Operation) -> Answer:
    bound = operation.arguments.bound("inputs, axis=-1, **more")
    if bound is None or bound.get("inputs", AbstractValue()).items is None:
        return UNCHANGED
    axis = literal_of(bound.get("axis"), -1)
    return or_unknown(_join(operation, bound["inputs"].items or [], axis if type(axis) is int else NOT_KNOWN))


@RULES.function("keras.layers.add", "keras.layers.multiply", "keras.layers.average")
def merge(operation: Operation) -> Answer:
    return or_unknown(_join(operation, operation.first.items, None)) if operation.first.items is not None else UNCHANGED
