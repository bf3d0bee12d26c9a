"""What tensors of torch give away: numbers, arrays, gradients; other dtypes and places; sizes; fewer elements.

Knows shapes and dtypes, and what torch refuses. Refuses tensors of other classes.
"""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue, integer, known_facts, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_tensors import (
    INTEGERS,
    as_literal,
    as_method,
    describe,
    dtype_meant,
    dtype_of,
    is_float,
    is_tensor,
    same_elements,
    tensor,
    whole,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape

RULES = Family("torch values")


# Values


@RULES.method("torch.Tensor", "numpy")
def as_array(operation: Operation) -> Answer:
    """An array of the same shape; not of a tensor on a GPU."""
    value = operation.receiver
    device = value.fact("device")
    if isinstance(device, str) and device.startswith(("cuda", "mps")) and not operation.arguments.keywords:
        operation.crash(
            "TypeError",
            f"can't convert {device} device type tensor to numpy",
            fact=f"{value.named('the tensor')} is on {device}",
            remedy="copy it to host memory first: .cpu().numpy()",
        )
    has_gradient = value.fact("requires_grad") is True and not operation.arguments.keywords
    if has_gradient and not _may_be_without_gradient(operation):
        operation.crash(
            "RuntimeError",
            "Can't call numpy() on Tensor that requires grad",
            fact=f"{value.named('the tensor')} has requires_grad=True",
            remedy="detach it first: .detach().numpy()",
        )
    dtype = (dtype_of(value) or "").removeprefix("torch.")
    return AbstractValue("numpy.ndarray", known_facts(shape=value.shape, dtype=dtype or None))


def _may_be_without_gradient(operation: Operation) -> bool:
    return any(operation.mentions(text) for text in ("no_grad", "inference_mode", "set_grad_enabled"))


_CASTS: Final = {
    "float": "torch.float32",
    "double": "torch.float64",
    "half": "torch.float16",
    "bfloat16": "torch.bfloat16",
    "long": "torch.int64",
    "int": "torch.int32",
    "short": "torch.int16",
    "bool": "torch.bool",
}


@RULES.method("torch.Tensor", *_CASTS)
def cast(operation: Operation) -> Answer:
    value = operation.receiver
    return _cast(value, _CASTS[operation.name])


def _cast(value: AbstractValue, dtype: str | None) -> AbstractValue:
    ends = value.fact("value_range")
    made = tensor(value.shape, dtype, value.fact("device"), words=value.words)
    if isinstance(ends, (list, tuple)) and len(ends) == 2 and all(type(end) in (int, float) for end in ends):
        is_whole = dtype in INTEGERS
        made.facts["value_range"] = [int(end) for end in ends] if is_whole else list(ends)
    return made


@RULES.method("torch.Tensor", "to", "type", "cuda", "cpu", "type_as")
def moved(operation: Operation) -> Answer:
    """To another dtype, another device."""
    value = operation.receiver
    given = [*operation.arguments.positional, *operation.arguments.keywords.values()]
    dtype = next((found for found in map(dtype_meant, given) if found is not None), None)
    others = [one for one in given if dtype_meant(one) is None]
    is_device = {"str", "torch.device", "bool", "int"}.issuperset(one.type for one in others)
    named = dtype or (dtype_of(value) if is_device and operation.name != "type" else None)
    made = _cast(value, named)
    to_cpu = operation.name == "cpu" or any(one.literal == "cpu" for one in others)
    stays = not others and operation.name != "cuda"
    device = "cpu" if to_cpu else value.fact("device") if stays else None
    made.drop({"device"})
    made.facts |= known_facts(device=device)
    return made


@RULES.method("torch.Tensor", "requires_grad_")
def switched(operation: Operation) -> Answer:
    """The tensor itself, which requires a gradient from now on, or no longer."""
    abstract, bound = operation.receiver, operation.arguments.bound("requires_grad=True")
    abstract.facts.pop("requires_grad", None)
    value = bound.get("requires_grad", literal(True)).literal if bound is not None else None
    if type(value) is bool:
        abstract.facts["requires_grad"] = value
    return abstract


@RULES.method("torch.Tensor", "detach", "clone", "contiguous", "cpu")
def same(operation: Operation) -> Answer:
    value = operation.receiver
    return same_elements(value, value.shape)


@RULES.method("torch.Tensor", "backward")
def backward(operation: Operation) -> Answer:
    """Only of a single number, unless a gradient is given."""
    value = operation.receiver
    shape = value.shape
    n = shapes.size(shape) if shape is not None else None
    is_plain = not operation.arguments.positional and "gradient" not in operation.arguments.keywords
    if is_plain and n is not None and n > 1:
        operation.crash(
            "RuntimeError",
            "grad can be implicitly created only for scalar outputs",
            fact=describe(value),
            remedy="reduce it first: loss.mean().backward()",
        )
    if value.fact("requires_grad") is False and value.fact("grad_fn") is None:
        operation.crash(
            "RuntimeError",
            "element 0 of tensors does not require grad and does not have a grad_fn",
            fact=f"{value.named('the tensor')} has requires_grad=False",
            remedy="compute it from parameters that require grad, outside of no_grad()",
        )
    return AbstractValue("NoneType", literal=None)


@RULES.attribute("torch.Tensor")
def attribute(operation: Operation) -> Answer:
    value = operation.receiver
    shape = value.shape
    match operation.name:
        case "shape":
            return as_literal(shape) if shape is not None else AbstractValue("torch.Size")
        case "ndim":
            return literal(len(shape)) if shape is not None else AbstractValue("int")
        case "dtype":
            return AbstractValue("torch.dtype", known_facts(value=dtype_of(value) or None))
        case "T" | "mT" if shape is not None:
            is_batch = operation.name == "mT" and len(shape) > 2
            return same_elements(value, (*shape[:-2], *shape[:-3:-1]) if is_batch else shape[::-1])
        case "data":
            return same_elements(value, shape)
        case "device":
            return AbstractValue("torch.device", known_facts(value=value.fact("device") or None))
    return UNKNOWN


@RULES.method("torch.Tensor", "size", "dim", "numel", "nelement", "__len__")
def measured(operation: Operation) -> Answer:
    value = operation.receiver
    shape = value.shape
    if shape is None:
        return UNCHANGED
    if operation.name == "dim":
        return literal(len(shape))
    if operation.name in ("numel", "nelement"):
        n = shapes.size(shape)
        return integer(n)
    if operation.name == "__len__":
        return literal(shape[0]) if shape and shape[0] is not None else AbstractValue("int")
    return _size(operation, value, shape)


def _size(operation: Operation, value: AbstractValue, shape: Shape) -> AbstractValue:
    bound = operation.arguments.bound("dim=None")
    if bound is None:
        return AbstractValue()
    if "dim" not in bound or bound["dim"].literal is None:
        return as_literal(shape)
    at = whole(bound["dim"])
    if at is None:
        return AbstractValue("int")
    if not -len(shape) <= at < len(shape):
        operation.crash(
            "IndexError",
            f"dimension {at} is requested",
            fact=describe(value),
            remedy=f"the dimensions are 0 to {len(shape) - 1}",
        )
    size = shape[at]
    return integer(size)


# Element by element

_METHODS: Final = ("abs", "neg", "clamp", "relu", "exp", "log", "sqrt", "tanh", "sigmoid", "softmax", "log_softmax")
_FUNCTIONS: Final = (
    "relu",
    "leaky_relu",
    "elu",
    "gelu",
    "silu",
    "sigmoid",
    "tanh",
    "softmax",
    "log_softmax",
    "dropout",
)


def _by_element(operation: Operation) -> Answer:
    value = operation.receiver
    if not is_tensor(value):
        return UNKNOWN
    dtype = dtype_of(value)
    return tensor(value.shape, dtype if is_float(dtype) else None, value.fact("device"))


RULES.method("torch.Tensor", *_METHODS)(_by_element)
RULES.function(*(f"torch.{name}" for name in _METHODS), *(f"torch.nn.functional.{name}" for name in _FUNCTIONS))(
    lambda operation: _by_element(as_method(operation))
)


@RULES.method("torch.Tensor")
def looked_at(operation: Operation) -> Answer:
    """Every method that ends in no "_" only looks."""
    is_change = operation.name.endswith("_") or operation.name in ("register_hook", "backward")
    return UNKNOWN if is_change else UNCHANGED
