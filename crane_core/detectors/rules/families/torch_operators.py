"""Operators and products of tensors of torch: broadcasting, inner lengths, one dtype, one device.

Knows shapes and dtypes, and what torch refuses. Refuses tensors of other classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    short,
    tensor,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape, ShapeMismatchError, differ

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
    elif operation.name in _BITS and is_float(dtype):
        _no_bits(operation, left, right)
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


def _no_bits(operation: Operation, left: AbstractValue, right: AbstractValue) -> None:
    operation.crash(
        "NotImplementedError",
        f"{operation.name} is not implemented for floats, only for booleans and integers",
        fact=f"{describe(left, 'the left side')}, {describe(right, 'the right side')}",
        remedy="compare first: (x > 0) & (y > 0)",
    )


@RULES.operator("torch.Tensor", "-x", "+x", "~x")
def unary(operation: Operation) -> Answer:
    value = operation.receiver
    return tensor(value.shape, dtype_of(value), value.fact("device"))


@RULES.operator("torch.Tensor", "@")
def matmul_operator(operation: Operation) -> Answer:
    return product(operation, operation.receiver, operation.first)


def product(
    operation: Operation, left: AbstractValue, right: AbstractValue, multiply: Callable[..., Shape] = shapes.matmul
) -> Answer:
    """left @ right: the inner lengths, and one dtype."""
    if not (is_tensor(left) and is_tensor(right)):
        _tensors_only(operation, left, right)
        return UNKNOWN
    one, other = left.shape, right.shape
    fact = f"{describe(left, 'the left side')}, {describe(right, 'the right side')}"
    shape: Shape | None = None
    _one_device(operation, left, right)
    if one is not None and other is not None:
        with crash_on_shape_mismatch(
            "RuntimeError", fact=fact, remedy="transpose one of them, or change the layer's size"
        ):
            shape = multiply(one, other)
    dtypes = [dtype_of(left), dtype_of(right)]
    if differ(*dtypes) and {"torch.float16", "torch.bfloat16"}.isdisjoint(dtypes):
        operation.crash(
            "RuntimeError",
            f"expected m1 and m2 to have the same dtype, not {short(dtypes[0] or '')} and {short(dtypes[1] or '')}",
            fact=fact,
            remedy="convert one of them: .float()",
        )
    return tensor(shape, dtypes[0] if None not in dtypes else None, _device(left, right))


def _tensors_only(operation: Operation, left: AbstractValue, right: AbstractValue) -> None:
    for value, other in ((left, right), (right, left)):
        if value.is_a("numpy", "ndarray") and is_tensor(other) and operation.name != "@":
            operation.crash(
                "TypeError",
                f"matmul: argument must be Tensor, not {value.type}",
                fact=f"{value.named('it')} is of type {value.type}",
                remedy="convert it to a tensor: torch.from_numpy(...)",
            )


def _two_dimensional(left: Shape, right: Shape) -> Shape:
    for shape in (left, right):
        if len(shape) != 2:
            raise ShapeMismatchError(f"mm takes 2D tensors, not {shapes.shown(shape)}")
    return shapes.matmul(left, right)


def _batched(left: Shape, right: Shape) -> Shape:
    for shape in (left, right):
        if len(shape) != 3:
            raise ShapeMismatchError(f"bmm takes 3D tensors (batches of matrices), not {shapes.shown(shape)}")
    if differ(left[0], right[0]):
        raise ShapeMismatchError(f"the batches of {shapes.shown(left)} and {shapes.shown(right)} differ")
    return shapes.matmul(left, right)


def _inner(left: Shape, right: Shape) -> Shape:
    for shape in (left, right):
        if len(shape) != 1:
            raise ShapeMismatchError(f"dot takes 1D tensors, not {shapes.shown(shape)}")
    return shapes.matmul(left, right)


_PRODUCTS: Final = {
    "matmul": shapes.matmul,
    "mm": _two_dimensional,
    "bmm": _batched,
    "dot": _inner,
}


def _multiplier(multiply: Callable[..., Shape]) -> tuple[Rule, Rule]:
    def function(operation: Operation) -> Answer:
        given = operation.arguments.positional
        return product(operation, given[0], given[1], multiply) if len(given) == 2 else UNKNOWN

    def method(operation: Operation) -> Answer:
        return product(operation, operation.receiver, operation.first, multiply)

    return function, method


for _name, _multiply in _PRODUCTS.items():
    _function, _method = _multiplier(_multiply)
    RULES.function(f"torch.{_name}")(_function)
    RULES.method("torch.Tensor", _name)(_method)
