"""torch: which of its classes is looked at by which file, and what attributes and items of its objects are.

Knows how modules and tensors store what a chain asks for.
"""

from __future__ import annotations

from typing import Any

from ..anatomy import (
    is_kind,
    module_of,
    mro_of,
    overriders,
    package_of,
    static_attribute,
    type_name,
)
from ..bounds import Facts
from ..chains.following import (
    Missing,
    Resolution,
    attribute_names,
    fault_of_index,
    lacking,
    similar,
    value_text,
)
from ..kinds import BOUNDS
from ..syntax.asked import ATTRIBUTE, ITEM, ChainStep, Steps
from .torch import data, modules, tensors, training
from .torch.tensors import torch

_READABLE = (
    "shape",
    "dtype",
    "device",
    "ndim",
    "requires_grad",
    "is_leaf",
    "layout",
)


def has_attribute(value: Any, name: str) -> bool | None:
    """Of a module: whether it is a parameter, a buffer or a module inside."""
    # A module of the notebook with its own __getattr__ may have any attribute.
    if not modules.is_module(value) or not modules.is_answered_by_torch(value):
        return None
    return name in modules.held_parts(value)


def follow(value: Any, steps: Steps) -> Resolution | None:
    """Parts of modules by name and place; what tensors store, and their views."""
    if modules.is_module(value):
        return _in_module(value, steps[0])
    if is_kind(value, torch().Tensor) and package_of(type(value)) == "torch":
        return _in_tensor(value, steps[0])
    return None


def _in_module(value: Any, step: ChainStep) -> Resolution | None:
    if step.kind == ITEM:
        return _item(value, step.value)
    if step.kind != ATTRIBUTE:
        return Resolution()
    # torch keeps parameters and submodules in its own dicts, where only __getattr__ finds them.
    if static_attribute(
        value, step.value
    ) is not None or not modules.is_answered_by_torch(value):
        return None
    parts = modules.held_parts(value)
    if step.value in parts:
        return Resolution(parts[step.value])
    names = [*attribute_names(value), *parts]
    fact = {
        "type": type_name(type(value)),
        "attribute": step.value,
        "similar": similar(step.value, names),
    }
    # forward() of the notebook's class may set attributes; torch's own classes set none.
    may_come = any(
        module_of(kind) == "__main__" for kind in mro_of(type(value))
    )
    return Resolution(missing=(Missing("attributes", fact, may_come=may_come),))


def _item(value: Any, item: Any) -> Resolution | None:
    """An item of torch's own containers; None for a module that has none."""
    owner = next(overriders(value, "__getitem__"), None)
    # A class of the notebook with __getitem__ is its code.
    if owner is None or package_of(owner) != "torch":
        return None if owner is None else Resolution()
    parts = modules.held_parts(value)
    if type(item) is str and owner.__name__ in ("ModuleDict", "ParameterDict"):
        return (
            Resolution(parts[item])
            if item in parts
            else _no_key(value, key=item, similar=similar(item, parts))
        )
    # Slices of these are new containers, which only code of torch can make.
    if type(item) is int and owner.__name__ in ("Sequential", "ModuleList"):
        inside = modules.children(value)
        is_there = -len(inside) <= item < len(inside)
        return (
            Resolution(inside[item])
            if is_there
            else _no_key(value, index=item, length=len(inside))
        )
    return Resolution()


def _no_key(value: Any, **fact: Any) -> Resolution:
    return lacking("keys", type=type_name(type(value)), **fact)


def _in_tensor(value: Any, step: ChainStep) -> Resolution | None:
    kind = torch().Tensor
    if tensors.is_uninitialized(value):
        return Resolution()
    # Without it a subclass's __torch_function__, code of the notebook, would run.
    with torch()._C.DisableTorchFunction():
        if step.kind == ATTRIBUTE:
            return (
                Resolution(getattr(kind, step.value).__get__(value))
                if step.value in _READABLE
                else None
            )
        # A view shares the tensor's memory: nothing is copied.
        if step.kind == ITEM and type(value) is kind:
            return _view(value, step.value)
    return Resolution()


def _view(value: Any, index: Any) -> Resolution:
    """A view by numbers and slices; what is beyond the shape is missing."""
    parts = index if type(index) is tuple else (index,)
    shape = tensors.shape_of(value)
    # Masks and index tensors copy, and may live on a GPU.
    if not all(
        part is None or type(part) is int or _is_plain_slice(part)
        for part in parts
    ):
        return Resolution()
    fault = fault_of_index(parts, shape)
    if fault:
        return _no_key(value, index=_spelled(index), shape=shape, why=fault)
    return Resolution(torch().Tensor.__getitem__(value, index))


def _is_plain_slice(part: Any) -> bool:
    """A slice that torch takes: it refuses steps below 1."""
    if type(part) is not slice:
        return False
    is_plain = BOUNDS.hold_all((part.start, part.stop, part.step))
    return is_plain and (part.step is None or part.step > 0)


def _spelled(index: Any) -> Any:
    return index if type(index) is int else value_text(index)


def constant(value: Any, look: Any) -> Facts:
    """A dtype, a device, a memory format: its text, which torch writes itself."""
    return {"plus": {"values": {"value": look.text(str(value))}}}


def shape(value: Any) -> tuple[int, ...] | None:
    """Of a tensor with dimensions; None for what counts as a single value."""
    if not is_kind(value, torch().Tensor) or tensors.is_uninitialized(value):
        return None
    with torch()._C.DisableTorchFunction():
        # The shape of a nested tensor raises.
        is_nested = torch().Tensor.is_nested.__get__(value)
        return None if is_nested else tuple(tensors.shape_of(value)) or None


FOLLOW = follow
HAS_ATTRIBUTE = has_attribute
SHAPE = shape
SCALAR = tensors.plain_scalar
SUMMARIZERS = {
    "torch.Tensor": tensors.tensor,
    "torch.nn.modules.module.Module": modules.module,
    "torch.nn.modules.loss._Loss": training.loss,
    "torch.optim.optimizer.Optimizer": training.optimizer,
    "torch.utils.data.dataset.Dataset": data.dataset,
    "torch.utils.data.dataset.Subset": data.subset,
    "torch.utils.data.dataset.ConcatDataset": data.concatenated,
    "torch.utils.data.dataset.IterableDataset": data.iterable_dataset,
    "torch.utils.data.dataloader.DataLoader": data.loader,
    **dict.fromkeys(
        ("LRScheduler", "_LRScheduler", "ReduceLROnPlateau"), training.scheduler
    ),
    **dict.fromkeys(("dtype", "device", "layout", "memory_format"), constant),
}
