"""The same elements of a tensor of torch in another shape, and parts of it by index.

Knows shapes and dtypes, and what torch refuses. Refuses tensors of other classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families import torch_sizes
from crane_core.detectors.rules.families.numpy_indexing import simple_part
from crane_core.detectors.rules.families.torch_tensors import (
    as_method,
    crash_on_shape_mismatch,
    describe,
    dtype_meant,
    dtype_of,
    is_tensor,
    lengths,
    same_elements,
    tensor,
    whole,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import About, Numbers, Part, Shape, ShapeMismatchError

RULES = Family("torch reshaping")


# The same elements in another shape


def _reshaped(operation: Operation) -> Answer:
    value = operation.receiver
    shape, given = value.shape, operation.arguments.positional
    if not given:
        return UNKNOWN  # torch then misses an argument, and raises a TypeError in its own words
    if len(given) == 1 and dtype_meant(given[0]) is not None:
        return tensor(None, dtype_meant(given[0]))
    wanted = lengths(given) if not operation.arguments.keywords and operation.arguments.is_complete else None
    if wanted is None:
        return tensor(None, dtype_of(value), value.fact("device"))
    if shape is None:
        return tensor(tuple(None if n == -1 else n for n in wanted), dtype_of(value), value.fact("device"))
    with crash_on_shape_mismatch(
        "RuntimeError", fact=describe(value), remedy="check the sizes: the number of elements must stay the same"
    ):
        return same_elements(value, shapes.reshape(shape, wanted))


def _dims(operation: Operation, start: int = 0) -> list[int] | None:
    """Dimensions given one by one or as one tuple."""
    given = list(operation.arguments.positional[start:])
    found = lengths(given) if given and not operation.arguments.keywords else None
    return None if found is None or None in found else [size for size in found if size is not None]


def _permute(operation: Operation, value: AbstractValue, shape: Shape) -> Shape | None:
    dims = _dims(operation)
    return None if dims is None else shapes.transpose(shape, dims)


def _transpose(operation: Operation, value: AbstractValue, shape: Shape) -> Shape | None:
    dims = _dims(operation)
    return None if dims is None or len(dims) != 2 or not shape else shapes.swapaxes(shape, *dims)


def _unsqueeze(operation: Operation, value: AbstractValue, shape: Shape) -> Shape | None:
    at = _one_dim(operation)
    return None if at is None else shapes.expand_dims(shape, at)


def _one_dim(operation: Operation) -> int | None:
    bound = operation.arguments.bound("dim")
    return whole(bound.get("dim")) if bound else None


def _squeeze(operation: Operation, value: AbstractValue, shape: Shape) -> Shape | None:
    if not operation.arguments.positional and not operation.arguments.keywords:
        return shapes.squeeze(shape)
    at = _one_dim(operation)
    if at is None or not shape:
        return None
    place = shapes.axis_of(at, len(shape))
    if shape[place] is None:
        return None
    return shape if shape[place] != 1 else (*shape[:place], *shape[place + 1 :])


def _flatten(operation: Operation, value: AbstractValue, shape: Shape) -> Shape | None:
    bound = operation.arguments.bound("start_dim=0, end_dim=-1")
    start, end = (whole((bound or {}).get(name, literal(usual))) for name, usual in (("start_dim", 0), ("end_dim", -1)))
    if bound is None or start is None or end is None:
        return None
    try:
        return torch_sizes.flattened(shape, start, end)
    except torch_sizes.Refusal as refusal:
        about = About.AXIS if refusal.exception == "IndexError" else About.LENGTHS
        raise ShapeMismatchError(refusal.why, about) from None


Reshape = Callable[[Operation, AbstractValue, Shape], Shape | None]
_RESHAPES: Final[dict[str, Reshape]] = {
    "permute": _permute,
    "transpose": _transpose,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "flatten": _flatten,
}


def _reshaper(change: Reshape, *, is_function: bool) -> Rule:
    def reshaped(operation: Operation) -> Answer:
        if is_function:
            operation = as_method(operation)
        value = operation.receiver
        if not is_tensor(value):
            return UNKNOWN
        shape = value.shape
        if shape is None or not operation.arguments.is_complete:
            return same_elements(value, None)
        try:
            return same_elements(value, change(operation, value, shape))
        except ShapeMismatchError as mismatch:
            operation.crash(
                "IndexError" if mismatch.about is About.AXIS else "RuntimeError",
                mismatch.why,
                fact=describe(value),
                remedy="check the shape: " + ", ".join(f"{at}: {size}" for at, size in enumerate(shape)),
            )

    return reshaped


for _name, _change in _RESHAPES.items():
    RULES.method("torch.Tensor", _name)(_reshaper(_change, is_function=False))
    RULES.function(f"torch.{_name}")(_reshaper(_change, is_function=True))


@RULES.method("torch.Tensor", "view", "reshape")
def reshaped(operation: Operation) -> Answer:
    return _reshaped(operation)


# Reading parts


@RULES.item("torch.Tensor")
def item(operation: Operation) -> Answer:
    """x[i, :, mask]."""
    value = operation.receiver
    shape, parts = value.shape, _parts(operation.first)
    if shape is None or parts is None:
        return tensor(None, dtype_of(value), value.fact("device"))
    try:
        return tensor(shapes.index(shape, *parts), dtype_of(value), value.fact("device"))
    except ShapeMismatchError as mismatch:
        operation.crash(
            "IndexError",
            mismatch.why,
            fact=describe(value),
            remedy="check the shape before indexing",
        )


def _parts(index: AbstractValue) -> list[Part] | None:
    """The parts of an index; None if one is not known well enough."""
    given = index.items if index.type == "tuple" else [index]
    if given is None:
        return None
    parts = [_part(one) for one in given]
    return None if any(part is _UNKNOWN for part in parts) else parts  # type: ignore[return-value]


_UNKNOWN: Final = object()


def _part(value: AbstractValue) -> Part | object:
    if value.type == "NoneType":
        return None
    if value.type in ("slice", "ellipsis", "int"):
        return simple_part(value)
    if is_tensor(value) and dtype_of(value) == "torch.int64" and (shape := value.shape):
        ends = value.fact("value_range")
        known = isinstance(ends, (list, tuple)) and all(type(end) is int for end in ends)
        return Numbers(shape, *ends) if known and ends is not None else Numbers(shape)
    return _UNKNOWN
