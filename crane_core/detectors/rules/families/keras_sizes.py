"""What the layers of Keras take and give: shapes with the batch first, by each layer's own settings.

Pure: the settings in the form of a state, Keras' usual values left out; lengths that are open or not known as None.
`takes` among the settings is the shape that a layer was built for: some of its lengths are fixed since. Raises Refusal
only where Keras refuses every input of that shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, all_known
from crane_core.detectors.rules.shapes import (
    Length,
    Shape,
    ShapeMismatchError,
    broadcast,
    differ,
    is_beyond,
    shown,
    size,
)

Settings = Mapping[str, Any]
ShapeRule = Callable[[Settings, Shape], Shape | None]


class Refusal(Exception):  # noqa: N818 - it is an answer, not an error
    """Why a layer raises ValueError, and how it gets what it wants."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.why = why
        self.remedy = remedy


def given(kind: str, settings: Settings, shape: Shape) -> Shape | None:
    """The shape that a layer makes of an input of this shape; None if it is not known."""
    if kind in SAME_SHAPE:
        return shape
    return SHAPE_RULES[kind](settings, shape) if kind in SHAPE_RULES else None


_SAME = (
    "Dropout SpatialDropout1D SpatialDropout2D GaussianNoise GaussianDropout AlphaDropout Activation ReLU LeakyReLU"
    " ELU PReLU Softmax LayerNormalization UnitNormalization Rescaling Normalization RandomFlip RandomRotation"
    " RandomContrast RandomBrightness ActivityRegularization"
)
SAME_SHAPE: Final = frozenset(_SAME.split())


def _rank(shape: Shape, n: int, what: str) -> None:
    if len(shape) != n:
        raise Refusal(
            f"{what}: expected ndim={n}, found ndim={len(shape)}, full shape {shown(shape)}",
            "add the missing axis to the data (reshape, np.expand_dims)"
            if len(shape) < n
            else "remove an axis (reshape)",
        )


def _at_least(shape: Shape, n: int, what: str) -> None:
    if len(shape) < n:
        raise Refusal(
            f"{what}: expected min_ndim={n}, found ndim={len(shape)}, full shape {shown(shape)}",
            "add a batch axis to the data: (samples, values)",
        )


def _last(settings: Settings, shape: Shape, what: str) -> None:
    """The last length is fixed by the weights of a layer that is built."""
    built = settings.get("takes")
    wanted = built[-1] if isinstance(built, (list, tuple)) and built else None
    if type(wanted) is int and shape[-1] not in (None, wanted):
        raise Refusal(
            f"{what}: expected axis -1 of the input shape to have value {wanted}, got shape {shown(shape)}",
            f"reshape the data to {wanted} in the last axis, or build the model for {shape[-1]}",
        )


def _length(value: Any) -> Length:
    return value if type(value) is int else None


def _dense(settings: Settings, shape: Shape) -> Shape | None:
    _at_least(shape, 2, "Dense")
    _last(settings, shape, "Dense")
    return (*shape[:-1], _length(settings.get("units")))


def _recurrent(settings: Settings, shape: Shape) -> Shape | None:
    _rank(shape, 3, "a recurrent layer")
    _last(settings, shape, "a recurrent layer")
    units, whole = _length(settings.get("units")), settings.get("return_sequences", False)
    if whole is NOT_KNOWN or settings.get("return_state", False) is not False:
        return None
    return (*shape[:2], units) if whole else (shape[0], units)


def _bidirectional(settings: Settings, shape: Shape) -> Shape | None:
    _rank(shape, 3, "a recurrent layer")
    return None


def _embedding(settings: Settings, shape: Shape) -> Shape | None:
    return (*shape, _length(settings.get("output_dim")))


def _flatten(settings: Settings, shape: Shape) -> Shape | None:
    return (shape[0], size(shape[1:])) if shape else None


def _reshape(settings: Settings, shape: Shape) -> Shape | None:
    target, n = settings.get("target_shape"), size(shape[1:])
    if not isinstance(target, (list, tuple)) or any(type(one) is not int for one in target):
        return None
    fixed, has_open = math.prod(one for one in target if one != -1), -1 in target
    if n is not None and (n % fixed if has_open and fixed else n != fixed):
        raise Refusal(f"{n} values cannot be reshaped to {list(target)}", "check the number of values of one sample")
    return (shape[0], *(None if one == -1 else one for one in target))


# Convolutions and poolings


def _convolution(n_axes: int, *, is_transposed: bool = False) -> ShapeRule:
    def takes(settings: Settings, shape: Shape) -> Shape | None:
        _rank(shape, n_axes + 2, f"a convolution over {n_axes} axes")
        if settings.get("data_format", "channels_last") != "channels_last":
            return None
        _last(settings, shape, "the convolution")
        filters = _length(settings.get("filters"))
        if is_transposed:
            return (shape[0], *(None for _ in range(n_axes)), filters)
        return (shape[0], *_conv_output_shape(settings, shape[1:-1], "kernel_size"), filters)

    return takes


def _pooling(n_axes: int) -> ShapeRule:
    def takes(settings: Settings, shape: Shape) -> Shape | None:
        _rank(shape, n_axes + 2, f"a pooling over {n_axes} axes")
        if settings.get("data_format", "channels_last") != "channels_last":
            return None
        return (shape[0], *_conv_output_shape(settings, shape[1:-1], "pool_size"), shape[-1])

    return takes


def _global_pooling(n_axes: int) -> ShapeRule:
    def takes(settings: Settings, shape: Shape) -> Shape | None:
        _rank(shape, n_axes + 2, f"a global pooling over {n_axes} axes")
        is_plain = settings.get("data_format", "channels_last") == "channels_last" and not settings.get("keepdims")
        return (shape[0], shape[-1]) if is_plain else None

    return takes


def _conv_output_shape(settings: Settings, sizes: Shape, reach: str) -> list[Length]:
    """Sizes after a kernel or pool has slid over them."""
    n = len(sizes)
    kernel = _per_axis(settings.get(reach, 2), n)
    stride = _per_axis(settings.get("strides", 1), n)
    dilation, padding = _per_axis(settings.get("dilation_rate", 1), n), settings.get("padding", "valid")
    if padding not in ("valid", "same"):
        return [None] * n
    return [_one_slid(*each, padding, sizes) for each in zip(sizes, kernel, stride, dilation, strict=True)]


def _one_slid(length: Length, kernel: Any, stride: Any, dilation: Any, padding: str, shape: Shape) -> Length:
    if length is None or any(type(part) is not int for part in (kernel, stride, dilation)) or stride < 1:
        return None
    if padding == "same":
        return int(-(-length // stride))
    reach = dilation * (kernel - 1) + 1
    if length < reach:
        raise Refusal(
            f"a kernel of size {reach} does not fit into the input shape {shown(shape)}",
            "use a smaller kernel, padding='same', fewer pooling layers, or larger images",
        )
    return int((length - reach) // stride + 1)


def _per_axis(value: Any, n: int) -> list[Any]:
    if value is None:
        return [NOT_KNOWN] * n
    if isinstance(value, (list, tuple)):
        return list(value) if len(value) == n else [NOT_KNOWN] * n
    return [value] * n


def _upsampled(n_axes: int) -> ShapeRule:
    def takes(settings: Settings, shape: Shape) -> Shape | None:
        _rank(shape, n_axes + 2, f"an upsampling over {n_axes} axes")
        factors = _per_axis(settings.get("size", 2), n_axes)
        return (shape[0], *(_times(*pair) for pair in zip(shape[1:-1], factors, strict=True)), shape[-1])

    return takes


def _times(length: Length, factor: Any) -> Length:
    return length * factor if length is not None and type(factor) is int else None


def _batch_norm(settings: Settings, shape: Shape) -> Shape | None:
    if settings.get("axis", -1) == -1 and shape:
        _last(settings, shape, "BatchNormalization")
    return shape


def _repeat_vector(settings: Settings, shape: Shape) -> Shape | None:
    _rank(shape, 2, "RepeatVector")
    return (shape[0], _length(settings.get("n")), shape[1])


SHAPE_RULES: Final[dict[str, ShapeRule]] = {
    "Dense": _dense,
    "LSTM": _recurrent,
    "GRU": _recurrent,
    "SimpleRNN": _recurrent,
    "Bidirectional": _bidirectional,
    "Embedding": _embedding,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "BatchNormalization": _batch_norm,
    "RepeatVector": _repeat_vector,
    **{f"Conv{n}D": _convolution(n) for n in (1, 2, 3)},
    **{f"Conv{n}DTranspose": _convolution(n, is_transposed=True) for n in (1, 2, 3)},
    **{f"{kind}Pooling{n}D": _pooling(n) for kind in ("Max", "Average") for n in (1, 2, 3)},
    **{f"Global{kind}Pooling{n}D": _global_pooling(n) for kind in ("Max", "Average") for n in (1, 2, 3)},
    **{f"UpSampling{n}D": _upsampled(n) for n in (1, 2)},
}


# Several inputs


def concatenated(shapes: Sequence[Shape], axis: int) -> Shape | None:
    """What Concatenate makes; all lengths but that of the axis must be equal."""
    n = len(shapes[0])
    if len(set(map(len, shapes))) > 1:
        _refuse_ranks(shapes, axis)
        return None
    if is_beyond(axis, n):
        return None
    at = axis % n
    for shape in shapes:
        if any(differ(shapes[0][place], shape[place]) for place in range(1, n) if place != at):
            raise Refusal(
                f"{' and '.join(map(shown, shapes))} differ beyond axis {axis}",
                "make the branches the same size, or concatenate along another axis",
            )
    known = all_known(shape[at] for shape in shapes)
    total = None if known is None else sum(known)
    return (*shapes[0][:at], total, *shapes[0][at + 1 :])


def _refuse_ranks(shapes: Sequence[Shape], axis: int) -> None:
    """Branches of different numbers of dimensions; Keras leaves out those of length 1 before it compares."""
    shortest = min(len(shape) for shape in shapes)
    if not -shortest <= axis < shortest or any(length == 1 for shape in shapes for length in shape[1:]):
        return
    raise Refusal(
        f"{' and '.join(map(shown, shapes))} have different numbers of dimensions",
        "make the branches the same shape first (Flatten, GlobalAveragePooling2D)",
    )


def merged(shapes: Sequence[Shape]) -> Shape | None:
    """What Add, Multiply, Average make: broadcast, but for the batch."""
    try:
        after = broadcast(*(shape[1:] for shape in shapes))
        return (shapes[0][0], *after) if len({len(shape) for shape in shapes}) == 1 else None
    except ShapeMismatchError as mismatch:
        raise Refusal(
            mismatch.why, "make the branches the same size (a Dense layer or a 1x1 convolution before)"
        ) from None


# Data that a model is given


def fitted(model: Shape, data: Shape) -> Shape | None:
    """The data as a model of Keras 3 with this input takes it: a last axis of 1 may be missing or too much."""
    if len(data) == len(model):
        return data
    if len(data) == len(model) + 1 and data[-1] in (1, None):
        return data[:-1]
    if len(data) == len(model) - 1 and model[-1] in (1, None):
        return (*data, 1)
    raise Refusal(
        f"the model expects inputs of shape {shown(model)}, but gets {shown(data)}",
        f"reshape the data to {shown(model)} (np.expand_dims), or build the model for {shown((None, *data[1:]))}",
    )
