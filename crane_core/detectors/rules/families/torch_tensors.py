"""Tensors of torch as abstract values: shape, dtype and device as facts.

Pure. Knows `torch.Tensor` and `Parameter` by their exact types; subclasses may compute as they like.
"""

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.shapes import Shape

_FLOATS: Final = (
    "torch.bfloat16",
    "torch.float16",
    "torch.float32",
    "torch.float64",
)
_ALIASES: Final = {
    "torch.float": "torch.float32",
    "torch.double": "torch.float64",
    "torch.half": "torch.float16",
}


def is_tensor(value: AbstractValue) -> bool:
    """Whether it is a tensor or parameter of torch by its exact class."""
    return value.is_a("torch", "Tensor", "Parameter")


def tensor(
    shape: Shape | None,
    dtype: str | None = None,
    device: str | None = None,
    words: str = "",
) -> AbstractValue:
    """A tensor of which so much is known; None is not known, nor how it lies in memory."""
    return AbstractValue(
        "torch.Tensor",
        known_facts(shape=shape, dtype=dtype, device=device),
        words=words,
    )


def float_meant(value: AbstractValue) -> str | None:
    """The floating dtype that an argument names: torch.float64, x.dtype."""
    said = value.path or value.fact("value") or ""
    return (
        _ALIASES.get(said, said)
        if _ALIASES.get(said, said) in _FLOATS
        else None
    )


def is_device(value: AbstractValue) -> bool:
    """Whether an argument of `to` names a device, or is a flag beside one."""
    # non_blocking and copy are booleans beside the device.
    return value.type in ("str", "torch.device", "bool")
