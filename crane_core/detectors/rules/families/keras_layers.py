"""The usual layers of Keras: their settings, what they make of a shape, and refuse. Of others Keras itself is asked.

Settings are in the form of a state, Keras' usual values left out. A layer that was called holds the shape that it was
built for in the fact "takes".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import whole
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Length, Shape, shown, size

RULES = Family("keras layers")

SYMBOLIC: Final = "keras.src.backend.common.keras_tensor.KerasTensor"
Settings = Mapping[str, Any]
_CONV = "filters, kernel_size, strides=1, padding='valid', data_format='channels_last', dilation_rate=1, **more"
_POOL = "pool_size=2, strides=None, padding='valid', data_format='channels_last', **more"
_KINDS: Final = ("Max", "Average")
_SAME: Final = (
    *("Dropout", "Activation", "BatchNormalization", "LayerNormalization", "ReLU", "LeakyReLU", "ELU", "Softmax"),
    *("Rescaling", "RandomFlip", "RandomRotation", "RandomZoom"),
)
_MADE: Final = {
    "Dense": "units, activation=None, **more",
    **{f"Conv{n}D": _CONV for n in (1, 2, 3)},
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN"), "units, **more"),
    "Embedding": "input_dim, output_dim, **more",
    **{f"{kind}Pooling{n}D": _POOL for kind in _KINDS for n in (1, 2, 3)},
    **{f"Global{kind}Pooling{n}D": "**more" for kind in _KINDS for n in (1, 2, 3)},
    "Flatten": "data_format='channels_last', **more",
    **dict.fromkeys(_SAME, "*args, **more"),
}
_NO_SETTINGS: Final = ("name", "dtype", "trainable", "activation", "kernel_initializer", "seed", "use_bias")


class RefusalError(Exception):
    """Why a layer raises ValueError, and how it gets what it wants."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.why = why
        self.remedy = remedy


# Making and calling


def _maker(kind: str) -> Rule:
    def made(operation: Operation) -> Answer:
        bound = operation.arguments.bound(_MADE[kind])
        if bound is None or any(name.startswith("weights") for name in bound):
            return UNKNOWN
        settings = {name: _plain(abstract) for name, abstract in bound.items() if name not in _NO_SETTINGS}
        if _MADE[kind] is _POOL and settings.get("strides") is None:
            settings["strides"] = settings.get("pool_size", 2)
        stated = settings.pop("input_shape", None)
        if isinstance(stated, (list, tuple)):
            settings["stated_input"] = (None, *(length if type(length) is int else None for length in stated))
        facts = {name: value for name, value in settings.items() if value is not None and kind not in _SAME}
        return AbstractValue(f"keras.layers.{kind}", facts, words=operation.text)

    return made


def _plain(value: AbstractValue) -> Any:
    return value.literal if value.items is None else [item.literal for item in value.items]


for _kind in _MADE:
    RULES.function(f"keras.layers.{_kind}")(_maker(_kind))


@RULES.function("keras.Input", "keras.layers.Input")
def input_made(operation: Operation) -> Answer:
    """A symbolic tensor; the shape is given without the batch."""
    bound = operation.arguments.bound("shape, batch_size=None, dtype=None, **more")
    if bound is None or bound["shape"].items is None:
        return UNCHANGED
    return AbstractValue(SYMBOLIC, {"shape": (None, *map(whole, bound["shape"].items))})


@RULES.method("keras.*", "__call__")
def called(operation: Operation) -> Answer:
    """A layer on a symbolic tensor, or on data."""
    layer, given = operation.receiver, operation.first
    if layer.class_name not in SIZES or operation.arguments.positional[1:] or given.shape is None:
        return UNKNOWN
    try:
        after = SIZES[layer.class_name]({**layer.facts, **layer.mapping("config")}, given.shape)
    except RefusalError as refusal:
        fact = f"{given.named('the input')} has shape {shown(given.shape)}"
        operation.crash("ValueError", f"{layer.class_name}: {refusal.why}", fact=fact, remedy=refusal.remedy)
    layer.facts.setdefault("takes", (None, *given.shape[1:]))
    if given.type != SYMBOLIC:
        return AbstractValue()
    return AbstractValue(SYMBOLIC, known_facts(shape=after), words=f"the output of {layer.class_name}")


# Sizes


def _rank(shape: Shape, n: int) -> None:
    if len(shape) != n:
        remedy = "add the missing axis to the data (reshape, np.expand_dims)"
        raise RefusalError(
            f"expected ndim={n}, found ndim={len(shape)}, full shape {shown(shape)}",
            remedy if len(shape) < n else "remove an axis (reshape)",
        )


def _last(settings: Settings, shape: Shape) -> None:
    """The last length is fixed by the weights of a layer that is built."""
    built = settings.get("takes")
    wanted = built[-1] if isinstance(built, (list, tuple)) and built else None
    if type(wanted) is int and shape[-1] not in (None, wanted):
        raise RefusalError(
            f"expected axis -1 of the input shape to have value {wanted}, got shape {shown(shape)}",
            f"reshape the data to {wanted} in the last axis, or build the model for {shape[-1]}",
        )


def _length(value: Any) -> Length:
    return value if type(value) is int else None


def _dense(settings: Settings, shape: Shape) -> Shape:
    if len(shape) < 2:
        raise RefusalError(
            f"expected min_ndim=2, found ndim={len(shape)}, full shape {shown(shape)}",
            "add a batch axis to the data: (samples, values)",
        )
    _last(settings, shape)
    return (*shape[:-1], _length(settings.get("units")))


def _recurrent(settings: Settings, shape: Shape) -> Shape | None:
    _rank(shape, 3)
    _last(settings, shape)
    units, is_whole = _length(settings.get("units")), settings.get("return_sequences", False)
    if type(is_whole) is not bool or settings.get("return_state", False) is not False:
        return None
    return (*shape[:2], units) if is_whole else (shape[0], units)


def _sliding(n_axes: int, reach: str) -> Callable[[Settings, Shape], Shape | None]:
    """A convolution, or a pooling: sizes after a kernel or pool has slid over them."""

    def takes(settings: Settings, shape: Shape) -> Shape | None:
        _rank(shape, n_axes + 2)
        padding = settings.get("padding", "valid")
        if settings.get("data_format", "channels_last") != "channels_last" or padding not in ("valid", "same"):
            return None
        if reach == "kernel_size":
            _last(settings, shape)
        kernel, stride, dilation = (
            _per_axis(settings.get(name, usual), n_axes)
            for name, usual in ((reach, 2), ("strides", 1), ("dilation_rate", 1))
        )
        places = zip(shape[1:-1], kernel, stride, dilation, strict=True)
        after = [_one_slid(*each, padding, shape) for each in places]
        return (shape[0], *after, _length(settings.get("filters")) if reach == "kernel_size" else shape[-1])

    return takes


def _one_slid(length: Length, kernel: Any, stride: Any, dilation: Any, padding: str, shape: Shape) -> Length:
    if length is None or any(type(part) is not int for part in (kernel, stride, dilation)) or stride < 1:
        return None
    if padding == "same":
        return -(-length // int(stride))
    reach = dilation * (kernel - 1) + 1
    if length < reach:
        raise RefusalError(
            f"a kernel of size {reach} does not fit into the input shape {shown(shape)}",
            "use a smaller kernel, padding='same', fewer pooling layers, or larger images",
        )
    return int((length - reach) // stride + 1)


def _per_axis(value: Any, n: int) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return list(value) if len(value) == n else [None] * n
    return [value] * n


def _global_pooling(n_axes: int) -> Callable[[Settings, Shape], Shape | None]:
    def takes(settings: Settings, shape: Shape) -> Shape | None:
        _rank(shape, n_axes + 2)
        is_plain = settings.get("data_format", "channels_last") == "channels_last" and not settings.get("keepdims")
        return (shape[0], shape[-1]) if is_plain else None

    return takes


SIZES: Final[dict[str, Callable[[Settings, Shape], Shape | None]]] = {
    "Dense": _dense,
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN"), _recurrent),
    "Embedding": lambda settings, shape: (*shape, _length(settings.get("output_dim"))),
    "Flatten": lambda _settings, shape: (shape[0], size(shape[1:])) if shape else None,
    **dict.fromkeys(_SAME, lambda _settings, shape: shape),
    **{f"Conv{n}D": _sliding(n, "kernel_size") for n in (1, 2, 3)},
    **{f"{kind}Pooling{n}D": _sliding(n, "pool_size") for kind in _KINDS for n in (1, 2, 3)},
    **{f"Global{kind}Pooling{n}D": _global_pooling(n) for kind in _KINDS for n in (1, 2, 3)},
}
"""The shape that a layer with such settings makes of an input of a shape, by class; None if it is not known."""
