"""Tensors of torch that are made of sizes, numbers and lists, and what their values tell of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import shape_of
from crane_core.detectors.rules.families.torch_tensors import (
    default_dtype,
    dtype_meant,
    dtype_of_array,
    is_tensor,
    lengths,
    same_elements,
    tensor,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape

RULES = Family("torch creation")


@RULES.function(*(f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn")))
def made(operation: Operation) -> Answer:
    """zeros(2, 3), zeros((2, 3)), rand(size=(2, 3))."""
    if not operation.arguments.is_complete:
        return UNKNOWN
    keywords = operation.arguments.keywords
    sizes = [keywords["size"]] if "size" in keywords else list(operation.arguments.positional)
    dtype = dtype_meant(keywords["dtype"]) if "dtype" in keywords else default_dtype(operation)
    return tensor(lengths(sizes), dtype)


@RULES.function("torch.tensor", "torch.as_tensor", "torch.asarray", "torch.from_numpy")
def from_data(operation: Operation) -> Answer:
    """Of arrays, tensors, numbers, and nested lists of them."""
    bound = operation.arguments.bound("data, dtype=None, device=None, requires_grad=False, pin_memory=False, copy=None")
    if bound is None:
        return UNKNOWN
    data = bound["data"]
    if data.is_a("numpy", "ndarray"):
        _refuse_objects(operation, data)
        made = tensor(data.shape, dtype_of_array(data), words=data.words)
    elif is_tensor(data):
        made = same_elements(data, data.shape)
        made.drop({"device"})
    else:
        numbers = list(_leaves(data.literal)) if data.is_literal else []
        made = tensor(*_of_numbers(operation, data, numbers), words=data.words)
        if numbers and made.fact("dtype") == "torch.int64":
            made.facts["value_range"] = [min(numbers), max(numbers)]
    if "dtype" in bound:
        made.facts["dtype"] = dtype_meant(bound["dtype"])
    return made


def _refuse_objects(operation: Operation, given: AbstractValue) -> None:
    if given.fact("dtype") == "object":
        operation.crash(
            "TypeError",
            "can't convert np.ndarray of type numpy.object_",
            fact=f"{given.named('the array')} has dtype object",
            remedy="convert it first: .astype('float32')",
        )


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _of_numbers(operation: Operation, data: AbstractValue, numbers: list[Any]) -> tuple[Shape | None, str | None]:
    """Shape and dtype of a number, or of a list of numbers."""
    kinds = {type(number) for number in numbers}
    if not kinds or not kinds <= {int, float, bool}:
        return None, None
    dtype = "torch.bool" if kinds == {bool} else "torch.int64" if float not in kinds else default_dtype(operation)
    return shape_of(data), dtype
