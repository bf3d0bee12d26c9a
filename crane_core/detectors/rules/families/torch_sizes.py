"""What the layers of `torch.nn` take and give: shapes by each layer's own settings.

Pure: the settings in the form of a state, torch's usual values left out, NOT_KNOWN in the place of a setting that is
not known; shapes with None for open lengths. A layer that is not listed gives nothing that is known. Raises Refusal
only where torch refuses every input of that shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN
from crane_core.detectors.rules.shapes import Length, Shape, shown, size

Settings = Mapping[str, Any]
ShapeRule = Callable[[Settings, Shape], Shape | None]


class Refusal(Exception):  # noqa: N818 - it is an answer, not an error
    """What a layer raises, why, and how it gets what it wants."""

    def __init__(self, exception: str, why: str, remedy: str) -> None:
        super().__init__(why)
        self.exception = exception
        self.why = why
        self.remedy = remedy


def given(kind: str, settings: Settings, shape: Shape) -> Shape | None:
    """The shape that a layer makes of an input of this shape; None if it is not known."""
    if kind in SAME_SHAPE:
        return shape
    return SHAPE_RULES[kind](settings, shape) if kind in SHAPE_RULES else None


def is_known(kind: str) -> bool:
    return kind in SHAPE_RULES or kind in SAME_SHAPE


_SAME = (
    "ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh LogSigmoid Softplus Softsign Hardtanh Hardswish"
    " Hardsigmoid Hardshrink Softshrink Tanhshrink Threshold Identity Dropout AlphaDropout"
)
SAME_SHAPE: Final = frozenset(_SAME.split())


ONE_DTYPE: Final = frozenset(
    ("Linear", "Conv1d", "Conv2d", "Conv3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LSTM", "GRU", "RNN")
)
"""Layers of which the weights and the input must be of one dtype."""


# Linear layers and normalizations


def _linear(settings: Settings, shape: Shape) -> Shape | None:
    wanted = settings.get("in_features")
    if not shape:
        raise Refusal("RuntimeError", "a linear layer needs at least one dimension", "add a dimension")
    _last(shape, wanted, f"a linear layer of {wanted} inputs", "RuntimeError")
    return (*shape[:-1], _length(settings.get("out_features")))


def _last(shape: Shape, wanted: Any, what: str, exception: str) -> None:
    if type(wanted) is int and shape[-1] not in (None, wanted):
        raise Refusal(
            exception,
            f"{what} gets {shape[-1]} values in the last dimension of {shown(shape)}",
            f"create the layer with {shape[-1]} inputs, or change the last dimension to {wanted}",
        )


def _length(value: Any) -> Length:
    return value if type(value) is int else None


def is_set(settings: Settings, name: str, *, usual: bool = False) -> bool | None:
    """A setting that is on or off; None if it is not known."""
    value = settings.get(name, usual)
    return None if value is NOT_KNOWN else bool(value)


def _batch_norm(*ranks: int) -> ShapeRule:
    def takes(settings: Settings, shape: Shape) -> Shape | None:
        if len(shape) not in ranks:
            raise Refusal(
                "ValueError",
                f"expected {' or '.join(f'{rank}D' for rank in ranks)} input (got {len(shape)}D input)",
                f"pass {ranks[0]} dimensions, or use the batch normalization for {len(shape)}",
            )
        if is_set(settings, "affine", usual=True) or is_set(settings, "track_running_stats", usual=True):
            _channels(shape[1], settings.get("num_features"), "the normalization", shape)
        return shape

    return takes


def _channels(there: Length, wanted: Any, what: str, shape: Shape) -> None:
    if type(wanted) is int and there not in (None, wanted):
        raise Refusal(
            "RuntimeError",
            f"{what} expects {wanted} channels, but the input of shape {shown(shape)} has {there}",
            f"move the {wanted} channels to their place (permute), or create the layer with {there} channels",
        )


def values_per_channel(shape: Shape) -> Length:
    """How many numbers each channel of a batch has."""
    return size(shape[:1] + shape[2:])


def _layer_norm(settings: Settings, shape: Shape) -> Shape | None:
    normalized = settings.get("normalized_shape")
    wanted = [normalized] if type(normalized) is int else normalized
    if not isinstance(wanted, (list, tuple)) or any(type(one) is not int for one in wanted):
        return shape
    there = shape[-len(wanted) :]
    fits = len(shape) >= len(wanted) and all(a is None or a == b for a, b in zip(there, wanted, strict=True))
    if not fits:
        raise Refusal(
            "RuntimeError",
            f"Given normalized_shape={list(wanted)}, expected input ending in it, but got input of size {shown(shape)}",
            f"create it with {list(there)}",
        )
    return shape


def _group_norm(settings: Settings, shape: Shape) -> Shape | None:
    if len(shape) < 2:
        return None
    _channels(shape[1], settings.get("num_channels"), "the normalization", shape)
    return shape


def _embedding(settings: Settings, shape: Shape) -> Shape | None:
    return (*shape, _length(settings.get("embedding_dim")))


# Convolutions and poolings


def _convolution(n_axes: int, *, is_transposed: bool = False) -> ShapeRule:
    def takes(settings: Settings, shape: Shape) -> Shape | None:
        _with_or_without_batch(shape, n_axes, "convolution")
        _channels(shape[-n_axes - 1], settings.get("in_channels"), "the convolution", shape)
        sizes = (
            _transposed_sizes(settings, shape[-n_axes:])
            if is_transposed
            else _conv_output_shape(settings, shape[-n_axes:])
        )
        return (*shape[: -n_axes - 1], _length(settings.get("out_channels")), *sizes)

    return takes


def _with_or_without_batch(shape: Shape, n_axes: int, what: str, exception: str = "RuntimeError") -> None:
    if len(shape) not in (n_axes + 1, n_axes + 2):
        raise Refusal(
            exception,
            f"the {what} expects {n_axes + 2} dimensions, or {n_axes + 1} without a batch, not {shown(shape)}",
            "reshape the input to (batch, channels, sizes)",
        )


def _per_axis(value: Any, n_axes: int, default: Any = None) -> list[Any]:
    if value is None:
        value = default
    return list(value) if isinstance(value, (list, tuple)) else [value] * n_axes


def _conv_output_shape(settings: Settings, sizes: Shape, *, is_pooling: bool = False) -> list[Length]:
    """Sizes after a kernel has slid over them."""
    n = len(sizes)
    kernel = _per_axis(settings.get("kernel_size"), n)
    stride = _per_axis(settings.get("stride"), n, settings.get("kernel_size") if is_pooling else 1)
    dilation, padding = _per_axis(settings.get("dilation"), n, 1), settings.get("padding", 0)
    if padding == "same":
        return list(sizes)
    padded = _per_axis(0 if padding == "valid" else padding, n)
    if is_set(settings, "ceil_mode") is not False or padding is NOT_KNOWN:
        return [None] * n
    return [_one_slid(*each, shape=sizes) for each in zip(sizes, kernel, stride, padded, dilation, strict=True)]


def _one_slid(length: Length, kernel: Any, stride: Any, padding: Any, dilation: Any, *, shape: Shape) -> Length:
    if length is None or any(type(part) is not int for part in (kernel, stride, padding, dilation)) or stride < 1:
        return None
    reach = dilation * (kernel - 1) + 1
    if length + 2 * padding < reach:
        raise Refusal(
            "RuntimeError",
            f"Kernel size can't be greater than actual input size: {reach} > {length + 2 * padding} in {shown(shape)}",
            "use a smaller kernel, less pooling before it, or larger images",
        )
    return int((length + 2 * padding - reach) // stride + 1)


def _transposed_sizes(settings: Settings, sizes: Shape) -> list[Length]:
    n = len(sizes)
    named = [_per_axis(settings.get(name), n, usual) for name, usual in _TRANSPOSED]
    found: list[Length] = []
    for length, kernel, stride, padding, dilation, extra in zip(sizes, *named, strict=True):
        is_open = length is None or any(type(part) is not int for part in (kernel, stride, padding, dilation, extra))
        grown = None if is_open or length is None else (length - 1) * stride - 2 * padding + dilation * (kernel - 1)
        found.append(None if grown is None or grown + extra + 1 < 1 else grown + extra + 1)
    return found


_TRANSPOSED: Final = (("kernel_size", None), ("stride", 1), ("padding", 0), ("dilation", 1), ("output_padding", 0))


def _pooling(n_axes: int) -> ShapeRule:
    def takes(settings: Settings, shape: Shape) -> Shape | None:
        _with_or_without_batch(shape, n_axes, "pooling")
        if is_set(settings, "return_indices") is not False:
            return None
        return (*shape[:-n_axes], *_conv_output_shape(settings, shape[-n_axes:], is_pooling=True))

    return takes


def _adaptive(n_axes: int) -> ShapeRule:
    def takes(settings: Settings, shape: Shape) -> Shape | None:
        if len(shape) not in (n_axes + 1, n_axes + 2):
            return None
        wanted = _per_axis(settings.get("output_size"), n_axes)
        pairs = zip(wanted, shape[-n_axes:], strict=True)
        kept = [there if one is None and "output_size" in settings else _length(one) for one, there in pairs]
        return (*shape[:-n_axes], *kept) if is_set(settings, "return_indices") is False else None

    return takes


# Shapes


def _flatten(settings: Settings, shape: Shape) -> Shape | None:
    start, end = settings.get("start_dim", 1), settings.get("end_dim", -1)
    return None if NOT_KNOWN in (start, end) else flattened(shape, start, end)


def flattened(shape: Shape, start: int, end: int) -> Shape:
    """x.flatten(start, end)."""
    n = max(len(shape), 1)
    for dim in (start, end):
        if not -n <= dim < n:
            raise Refusal(
                "IndexError",
                f"Dimension out of range: {dim}, but {shown(shape)} has only {len(shape)}",
                "pass a batch of tensors, or another start_dim",
            )
    if not shape:
        return (1,)
    first, last = start % n, end % n
    if first > last:
        raise Refusal("RuntimeError", f"start_dim {start} comes after end_dim {end}", "swap the two")
    return (*shape[:first], size(shape[first : last + 1]), *shape[last + 1 :])


def _upsample(settings: Settings, shape: Shape) -> Shape | None:
    if len(shape) < 3:
        return None
    wanted, factor = settings.get("size"), settings.get("scale_factor")
    n = len(shape) - 2
    if wanted is not None:
        return (*shape[:2], *map(_length, _per_axis(wanted, n))) if len(_per_axis(wanted, n)) == n else None
    factors = _per_axis(factor, n)
    if len(factors) != n or any(type(one) not in (int, float) for one in factors):
        return None
    return (*shape[:2], *(None if a is None else int(a * b) for a, b in zip(shape[2:], factors, strict=True)))


# Recurrent layers


def _recurrent(settings: Settings, shape: Shape) -> Shape | None:
    """The shape of the sequence that it gives, the first of the two results."""
    if len(shape) not in (2, 3):
        raise Refusal(
            "ValueError",
            f"the input must have 3 dimensions, or 2 without a batch, not {shown(shape)}",
            "reshape the input to (batch, steps, values)",
        )
    wanted = settings.get("input_size")
    _last(shape, wanted, f"a recurrent layer of input_size {wanted}", "RuntimeError")
    return (*shape[:-1], _recurrent_width(settings))


def _directions(settings: Settings) -> Length:
    is_both = is_set(settings, "bidirectional")
    return None if is_both is None else 2 if is_both else 1


def _one_width(settings: Settings) -> Length:
    projected = settings.get("proj_size", 0)
    return _length(projected if projected is NOT_KNOWN or projected else settings.get("hidden_size"))


def _recurrent_width(settings: Settings) -> Length:
    return _times(_one_width(settings), _directions(settings))


def _times(left: Length, right: Length) -> Length:
    return None if left is None or right is None else left * right


def hidden(settings: Settings, shape: Shape) -> Shape:
    """The shape of the hidden state that a recurrent layer gives beside its sequence."""
    count = _times(_length(settings.get("num_layers", 1)), _directions(settings))
    is_batch_first = is_set(settings, "batch_first")
    batch: Shape = (None,) if is_batch_first is None else shape[:1] if is_batch_first else shape[1:2]
    return (count, *(batch if len(shape) == 3 else ()), _one_width(settings))


RECURRENT: Final = frozenset(("LSTM", "GRU", "RNN"))
SHAPE_RULES: Final[dict[str, ShapeRule]] = {
    "Linear": _linear,
    "LayerNorm": _layer_norm,
    "GroupNorm": _group_norm,
    "Embedding": _embedding,
    "Flatten": _flatten,
    "Upsample": _upsample,
    "BatchNorm1d": _batch_norm(2, 3),
    "BatchNorm2d": _batch_norm(4),
    "BatchNorm3d": _batch_norm(5),
    **{f"Conv{n}d": _convolution(n) for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": _convolution(n, is_transposed=True) for n in (1, 2, 3)},
    **{f"{kind}Pool{n}d": _pooling(n) for kind in ("Max", "Avg") for n in (1, 2, 3)},
    **{f"Adaptive{kind}Pool{n}d": _adaptive(n) for kind in ("Max", "Avg") for n in (1, 2, 3)},
    **{f"Dropout{n}d": lambda _, shape: shape for n in (2, 3)},
    **dict.fromkeys(("Softmax", "LogSoftmax", "PReLU"), lambda _, shape: shape),
    **dict.fromkeys(RECURRENT, _recurrent),
}
