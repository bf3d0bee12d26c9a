"""Operators and products of tensors of torch: broadcasting, inner lengths, one dtype, one device.

Knows shapes and dtypes, and what torch refuses. Refuses tensors of other classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_tensors import (
    crash_on_shape_mismatch,
    default_dtype,
    describe,
    dtype_of,
    is_float,
    is_tensor,
    promoted,
    scalar_dtype,
    tensor,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape

RULES = Family("torch operators")

_NUMBERS: Final = ("int", "float", "bool")


_ARITHMETIC: Final = ("+", "-", "*", "/", "//", "%", "**", "+=", "-=", "*=", "/=")
_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
_BITS: Final = ("&", "|", "^")


@RULES.operator("torch.Tensor", *_ARITHMETIC, *_COMPARISONS, *_BITS)
@RULES.operator("torch.Parameter", *_ARITHMETIC, *_COMPARISONS)
def elementwise(operation: Operation) -> Answer:
    """Broadcasting, and the dtype that two tensors have in common."""
    if not operation.arguments.positional:
        return UNKNOWN
    left, right = operation.receiver, operation.first
    operands = [one for one in (_operand(left), _operand(right)) if one is not None]
    if len(operands) < 2:
        return UNKNOWN
    _one_device(operation, left, right)
    shape = _met(operation, left, right, [one[0] for one in operands])
    dtype = promoted(*((None if one is None else kind, one != ()) for one, kind in operands))
    if operation.name in _COMPARISONS:
        dtype = "torch.bool"
    elif operation.name in ("/", "/=") and dtype is not None and not is_float(dtype):
        dtype = default_dtype(operation)
    return tensor(shape, dtype, _device(left, right))


def _operand(value: AbstractValue) -> tuple[Shape | None, str | None] | None:
    if is_tensor(value):
        return value.shape, dtype_of(value)
    return ((), scalar_dtype(value)) if value.type in _NUMBERS else None


def _met(operation: Operation, left: AbstractValue, right: AbstractValue, pair: Sequence[Shape | None]) -> Shape | None:
    one, other = pair
    if one is None or other is None:
        return None
    fact = f"{describe(left, 'the left side')}, {describe(right, 'the right side')}"
    with crash_on_shape_mismatch(
        "RuntimeError", fact=fact, remedy="make the shapes match (unsqueeze, view, transpose)"
    ):
        if operation.name.endswith("=") and operation.name not in _COMPARISONS and is_tensor(left):
            shapes.broadcast_to(other, one)
            return one
        return shapes.broadcast(one, other)


def _one_device(operation: Operation, left: AbstractValue, right: AbstractValue) -> None:
    devices = [value.fact("device") for value in (left, right)]
    has_dimensions = all(is_tensor(value) and value.shape for value in (left, right))
    are_known = all(isinstance(device, str) for device in devices)
    if has_dimensions and are_known and len(set(devices)) > 1 and "cpu" in devices:
        operation.crash(
            "RuntimeError",
            "Expected all tensors to be on the same device",
            fact=f"{left.named('one')} is on {devices[0]}, {right.named('the other')} on {devices[1]}",
            remedy="move both to the same device: .to(device)",
        )


def _device(left: AbstractValue, right: AbstractValue) -> str | None:
    devices = {value.fact("device") for value in (left, right) if is_tensor(value)}
    return devices.pop() if len(devices) == 1 else None


@RULES.operator("torch.Tensor", "-x", "+x", "~x")
def unary(operation: Operation) -> Answer:
    value = operation.receiver
    return tensor(value.shape, dtype_of(value), value.fact("device"))


@RULES.operator("torch.Tensor", "@")
def product(operation: Operation) -> Answer:
    """The inner lengths; one dtype is torch's own matter."""
    left, right = operation.receiver, operation.first
    one, other = left.shape, right.shape
    if not (is_tensor(left) and is_tensor(right)) or one is None or other is None:
        return UNKNOWN
    _one_device(operation, left, right)
    fact = f"{describe(left, 'the left side')}, {describe(right, 'the right side')}"
    remedy = "transpose one of them, or change the layer's size"
    with crash_on_shape_mismatch("RuntimeError", fact=fact, remedy=remedy):
        return tensor(shapes.matmul(one, other), device=_device(left, right))
