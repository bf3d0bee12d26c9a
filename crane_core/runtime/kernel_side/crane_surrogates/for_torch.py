"""Surrogates of torch's tensors and single layers, on the processor: what is unknown is tried in more than one way."""

from __future__ import annotations

import contextlib
import inspect
import math
from typing import Any, Iterator, Mapping, Sequence

import torch

from .asked import of_torch
from .asked.places import words
from .made import MOST_ELEMENTS, NotMadeError, seen

PACKAGE = torch
_OF_TENSOR = (
    "shape",
    "dtype",
    "device",
    "requires_grad",
    "grad_fn",
    "is_contiguous",
    "strides",
)
META = "meta"
"""The device of tensors without elements, which torch uses to tell shapes alone: for what is too large."""
# Subclasses of Tensor may refuse by their own code.
_TENSORS = ("torch.Tensor", "torch.nn.parameter.Parameter")
_NAMED = words(
    "float float16 float32 float64 double half bfloat16 int int8 int16 int32 int64 long short uint8 bool complex64"
    " complex128 cfloat inf nan pi e Tensor FloatTensor LongTensor strided contiguous_format channels_last"
    " preserve_format"
)
_LAYERS = words(
    "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d MaxPool1d MaxPool2d"
    " MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d"
    " AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d Embedding EmbeddingBag RNN LSTM GRU RNNCell LSTMCell"
    " GRUCell BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm LayerNorm InstanceNorm1d InstanceNorm2d Flatten"
    " Unflatten PixelShuffle Dropout Dropout1d Dropout2d Dropout3d ReLU Sigmoid Tanh GELU LeakyReLU ELU SELU SiLU"
    " Softplus Softshrink Hardshrink Hardsigmoid Hardtanh Hardswish LogSigmoid Mish ReLU6 CELU Softsign Tanhshrink"
    " Threshold GLU Softmin Softmax2d ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d ZeroPad1d"
    " ZeroPad2d ConstantPad1d ConstantPad2d RMSNorm PixelUnshuffle Identity Softmax LogSoftmax Upsample AlphaDropout"
    " PReLU MultiheadAttention"
)

_OF_LAYER = words(
    "in_features in1_features in2_features out_features in_channels out_channels num_embeddings embedding_dim"
    " input_size hidden_size num_layers batch_first bidirectional proj_size num_features num_channels num_groups"
    " normalized_shape affine track_running_stats kernel_size stride padding output_padding dilation groups"
    " output_size return_indices ceil_mode start_dim end_dim unflattened_size scale_factor mode upscale_factor p dim"
    " negative_slope padding_idx padding_mode size embed_dim num_heads kdim vdim"
)
_OF_RECURRENT = words(
    "input_size hidden_size num_layers batch_first bidirectional"
)
_LOSSES = words(of_torch.LOSSES)
_OF_LOSS = words("reduction ignore_index label_smoothing margin beta delta")
# Losses keep these as buffers, of which only shape and dtype are told.
_WEIGHTS = ("weight", "pos_weight")
_STATE = words("dtype device training")
_COUNTED = words(
    "parameters n_parameters n_trainable_parameters expected_input output"
)
"""Facts that follow from the others."""
_WITHOUT: Sequence[Mapping[str, bool]] = (
    {},
    {"bias": False},
    {"elementwise_affine": False},
)
"""Settings that only the number of parameters tells: bias=False leaves fewer, and no other trace."""


def named(name: str) -> Any:
    """A dtype, constant or kind of tensor; raises NotMadeError for others."""
    if name not in _NAMED:
        raise NotMadeError(name)
    return getattr(torch, name)


@contextlib.contextmanager
def mode(fill: int, order: Mapping[str, Any]) -> Iterator[None]:
    """Where it is unknown whether gradients are recorded around a step, they are not with one of the fills.

    Weights that are made have no elements: it would take long to draw those of a large layer.
    """
    is_layer = (
        order["step"] == "call"
        and order["name"].startswith("nn.")
        and "functional" not in order["name"]
    )
    place = torch.device(META) if is_layer else contextlib.nullcontext()
    # With gradients and without: an in-place change of a leaf is refused only with them.
    with torch.set_grad_enabled(
        order.get("is_recording", False) or fill != 1
    ), place:
        yield


def make(facts: Mapping[str, Any], fill: int) -> Any:
    """A tensor, layer or loss with these facts; raises NotMadeError if they are of another device or layout."""
    # Other layouts and devices refuse other things, and a GPU is not there.
    if (
        facts.get("device", "cpu") not in ("cpu", META)
        or "layout" in facts
        or facts.get("is_nested")
    ):
        raise NotMadeError("a tensor that is not a plain one of the processor")
    if facts["type"] in _TENSORS:
        return _tensor(facts, fill)
    name = facts["type"].rpartition(".")[2]
    return _loss(name, facts) if name in _LOSSES else _layer(name, facts, fill)


def read(value: Any) -> dict[str, Any]:
    """The schema of a tensor, layer or loss, by the probe; empty for others."""
    if isinstance(value, torch.dtype):
        return {"type": "torch.dtype", "value": str(value)}
    if type(value) in (torch.Tensor, torch.nn.Parameter):
        is_plain = value.layout is torch.strided
        return _schema_of_tensor(value) if is_plain else {}
    name = type(value).__name__
    if not isinstance(value, torch.nn.Module):
        return {}
    if name in _LAYERS:
        names = _OF_LAYER | _STATE | {"n_parameters"}
    elif name in _LOSSES:
        names = _OF_LOSS | _of_weights()
    else:
        return {}
    told = seen(value)
    schema = {fact: told[fact] for fact in told if fact in names}
    # It was made on the device without memory.
    if "device" in schema:
        schema["device"] = "cpu"
    return {"type": told["type"], **schema}


def _schema_of_tensor(tensor: Any) -> dict[str, Any]:
    # The probe tells only what is not usual.
    told = {"is_contiguous": True, **seen(tensor)}
    # The name of the operation would differ where the operand's is unknown.
    if "grad_fn" in told:
        told["grad_fn"] = "Backward"
    return {name: told[name] for name in ("type", *_OF_TENSOR) if name in told}


def _tensor(facts: Mapping[str, Any], fill: int) -> Any:
    shape = tuple(facts["shape"])
    n_elements = math.prod(shape)
    # Elements are made only for the processor.
    if n_elements > MOST_ELEMENTS and facts.get("device") != META:
        raise NotMadeError("a tensor of so many elements")
    dtype = getattr(torch, facts["dtype"].partition(".")[2], None)
    if not isinstance(dtype, torch.dtype):
        raise NotMadeError(facts["dtype"])
    # Outside of the caller's mode, in which gradients may be off.
    with torch.set_grad_enabled(True):
        elements = _elements(facts, n_elements, dtype, fill)
        tensor = _laid(elements.reshape(shape), facts, fill)
        if facts["type"] == "torch.Tensor":
            return _with_gradient(tensor, facts, fill)
        requires_grad = facts.get("requires_grad", True)
        return torch.nn.Parameter(tensor, requires_grad=requires_grad)


def _with_gradient(tensor: Any, facts: Mapping[str, Any], fill: int) -> Any:
    """A tensor that requires a gradient or not; where it is unknown, one fill is a leaf and another one is not."""
    is_known = "requires_grad" in facts
    can_grad = tensor.dtype.is_floating_point or tensor.dtype.is_complex
    if not facts.get("requires_grad", can_grad and fill > 0):
        return tensor
    tensor.requires_grad_()
    is_leaf = "grad_fn" not in facts if is_known else fill == 1
    return (
        tensor if is_leaf else tensor.clone(memory_format=torch.preserve_format)
    )


def _elements(facts: Mapping[str, Any], n: int, dtype: Any, fill: int) -> Any:
    if facts.get("device") == META:
        return torch.empty(n, dtype=dtype, device=META)
    if "value_range" in facts and n:
        return _between(n, facts["value_range"], fill).to(dtype)
    if fill < 2:
        return torch.full(
            (n,), bool(fill) if dtype is torch.bool else fill, dtype=dtype
        )
    ramp = torch.arange(n) % (2 if dtype is torch.bool else 100)
    return (
        (ramp + 0.5).to(dtype)
        if dtype.is_floating_point or dtype.is_complex
        else ramp.to(dtype)
    )


def _between(n: int, ends: Any, fill: int) -> Any:
    """Integers of which the least and the largest are known, and certainly are there."""
    # Indices: the least and the largest decide whether one is out of bounds.
    least, largest = ends
    integers = torch.full((n,), (least, largest, least)[fill])
    # At another place with each fill.
    integers[(-1, 0, n // 2)[fill]] = (largest, least, largest)[fill]
    return integers


def _laid(tensor: Any, facts: Mapping[str, Any], fill: int) -> Any:
    """In memory as stated; in order, with its axes the other way round, or with gaps, where it is not stated."""
    # Strides as stated: view() depends on them.
    if "strides" in facts:
        return torch.empty_strided(
            tuple(tensor.shape),
            tuple(facts["strides"]),
            dtype=tensor.dtype,
            device=tensor.device,
        ).copy_(tensor)
    if facts.get("is_contiguous"):
        return tensor
    if fill == 1:
        axes = tuple(reversed(range(tensor.dim())))
        return tensor.permute(axes).contiguous().permute(axes)
    # Every second element of a larger tensor: not contiguous in any order.
    return torch.stack([tensor, tensor], -1)[..., 0] if fill == 2 else tensor


def _loss(name: str, facts: Mapping[str, Any]) -> Any:
    # More facts than a loss is made with are of a subclass or of another release.
    if not facts["type"].startswith("torch.nn.") or facts.keys() - (
        _OF_LOSS | _of_weights() | {"type", "device"}
    ):
        raise NotMadeError(facts["type"])
    stated = {key: fact for key, fact in facts.items() if key in _OF_LOSS}
    for each in _WEIGHTS:
        if f"{each}_shape" in facts:
            dtype = getattr(torch, facts[f"{each}_dtype"].partition(".")[2])
            stated[each] = torch.ones(
                tuple(facts[f"{each}_shape"]),
                dtype=dtype,
                device=facts.get("device", "cpu"),
            )
    return getattr(torch.nn, name)(**stated)


def _of_weights() -> frozenset[str]:
    return frozenset(
        f"{name}_{fact}" for name in _WEIGHTS for fact in ("shape", "dtype")
    )


def _layer(name: str, facts: Mapping[str, Any], fill: int) -> Any:
    """A layer as the probe tells it, alone or inside another module: there no parameters are counted."""
    known = _OF_LAYER | _STATE | _COUNTED | {"type"}
    is_of_torch = name in _LAYERS and facts["type"].startswith("torch.nn.")
    if not is_of_torch or facts.keys() - known:
        raise NotMadeError(facts["type"])
    layer = _without_elements(getattr(torch.nn, name), facts, fill)
    # A layer without parameters has no dtype.
    dtype = facts.get("dtype", None if _count(layer) else "torch.float32")
    if not isinstance(dtype, str):
        raise NotMadeError("a layer of an unknown dtype, or of several")
    layer = layer.to(getattr(torch, dtype.partition(".")[2])).to_empty(
        device=facts.get("device", "cpu")
    )
    with torch.no_grad():
        # Weights by the fill: with none of them may a refusal depend on their values.
        for held in (*layer.parameters(), *layer.buffers()):
            held.fill_(fill)
    # Which parameters are trained is not told one by one, only how many, and only if not all.
    if "n_trainable_parameters" in facts:
        layer.requires_grad_(fill != 1)
    return layer.train(facts.get("training", fill != 1))


def _without_elements(kind: Any, facts: Mapping[str, Any], fill: int) -> Any:
    """The layer whose parameters are as stated, on the device without memory: it may be of gigabytes."""
    taken = set(inspect.signature(kind.__init__).parameters)
    sizes = {
        key: tuple(facts[key]) if type(facts[key]) is list else facts[key]
        for key in facts.keys() & _OF_LAYER
    }
    # RNN, LSTM and GRU hand these on; `mode` is the name of their class.
    if issubclass(kind, torch.nn.RNNBase):
        sizes.pop("mode", None)
        taken |= _OF_RECURRENT
    if sizes.keys() - taken:
        raise NotMadeError("a layer of which more is told than it is made with")
    if "elementwise_affine" in taken and "n_parameters" not in facts:
        sizes["elementwise_affine"] = fill != 1
    for more in _WITHOUT:
        if taken.issuperset(more) and sizes.keys().isdisjoint(more):
            with torch.device(META):
                layer = kind(**sizes, **more)
            if _has_parameters(layer, facts):
                return layer
    raise NotMadeError("a layer with other weights than it was made with")


def _has_parameters(layer: Any, facts: Mapping[str, Any]) -> bool:
    shapes = {name: list(each.shape) for name, each in layer.named_parameters()}
    return bool(
        facts.get("n_parameters", _count(layer)) == _count(layer)
        and facts.get("parameters", shapes) == shapes
    )


def _count(layer: Any) -> int:
    return sum(parameter.numel() for parameter in layer.parameters())
