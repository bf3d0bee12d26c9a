"""What tensors of torch give away: numbers, arrays, gradients; other dtypes and places; sizes; fewer elements.

Knows shapes and dtypes, and what torch refuses. Refuses tensors of other classes.
"""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue, integer, known_facts, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import literal_of
from crane_core.detectors.rules.families.torch_tensors import (
    FLOATS,
    INTEGERS,
    as_literal,
    as_method,
    describe,
    dtype_meant,
    dtype_of,
    is_float,
    is_tensor,
    same_elements,
    short,
    tensor,
    whole,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape

RULES = Family("torch values")


# Values


@RULES.method("torch.Tensor", "item", "tolist", "__float__", "__int__")
def taken_out(operation: Operation) -> Answer:
    """item() of exactly one element."""
    value = operation.receiver
    shape = value.shape
    n = shapes.size(shape) if shape is not None else None
    if operation.name == "item" and n is not None and n != 1:
        operation.crash(
            "RuntimeError",
            f"a Tensor with {n} elements cannot be converted to Scalar",
            fact=describe(value),
            remedy="reduce it first (mean, sum, argmax), or use tolist()",
        )
    if operation.name != "item":
        return UNCHANGED
    dtype = dtype_of(value)
    return AbstractValue(
        "bool" if dtype == "torch.bool" else "float" if is_float(dtype) else "int" if dtype in INTEGERS else ""
    )


@RULES.truth("torch.Tensor")
def truth(operation: Operation) -> Answer:
    value = operation.receiver
    shape = value.shape
    n = shapes.size(shape) if shape is not None else None
    if n is not None and n > 1:
        operation.crash(
            "RuntimeError",
            "Boolean value of Tensor with more than one value is ambiguous",
            fact=describe(value),
            remedy="use .any() or .all()",
        )
    return UNKNOWN


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


# Element by element, and less of them


_SAME_DTYPE: Final = (
    "abs",
    "neg",
    "clamp",
    "clip",
    "relu",
    "round",
    "floor",
    "ceil",
    "clone",
    "flip",
    "roll",
    "cumsum",
)
_TO_FLOAT: Final = ("exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "softmax", "log_softmax", "log1p", "rsqrt")
_TO_BOOL: Final = ("isnan", "isinf", "isfinite", "eq", "ne", "gt", "ge", "lt", "le")
_REDUCED: Final = (
    "sum",
    "mean",
    "std",
    "var",
    "prod",
    "amax",
    "amin",
    "any",
    "all",
    "norm",
    "argmax",
    "argmin",
    "max",
    "min",
)
_PAIRED: Final = ("max", "min", "median", "mode", "sort", "topk")


def _by_element(operation: Operation) -> Answer:
    value = operation.receiver
    if not is_tensor(value):
        return UNKNOWN
    dtype = dtype_of(value)
    if operation.name in _TO_FLOAT and not is_float(dtype):
        dtype = None
    if operation.name in _TO_BOOL:
        return tensor(None, "torch.bool")
    shape, dim = value.shape, _softmax_dim(operation)
    if shape is not None and dim is not None:
        _without(operation, value, shape, dim)
    return tensor(value.shape, dtype, value.fact("device"))


def _softmax_dim(operation: Operation) -> int | None:
    if operation.name not in ("softmax", "log_softmax"):
        return None
    given = operation.arguments.positional
    return whole(operation.arguments.keywords.get("dim", given[0] if given else None))


def _reduced(operation: Operation) -> Answer:
    value = operation.receiver
    if not is_tensor(value):
        return UNKNOWN
    bound = operation.arguments.bound("dim=None, keepdim=False, *, dtype=None, axis=None")
    if operation.name == "mean":
        _mean_of_floats(operation, value)
    given = {"dim": AbstractValue()} if bound is None else bound
    dim = given.get("dim", given.get("axis"))
    if dim is None or dim.literal is None:
        return tensor((), _reduced_dtype(operation.name, value))
    shape, at = value.shape, whole(dim)
    if shape is None or at is None or operation.name in ("norm", "std", "var"):
        return tensor(None) if operation.name not in _PAIRED else UNCHANGED
    reduced = _without(operation, value, shape, at)
    after = reduced if literal_of(given.get("keepdim"), False) is False else None
    made = tensor(after, _reduced_dtype(operation.name, value))
    if operation.name in ("max", "min"):
        return AbstractValue("torch.return_types." + operation.name, items=[made, tensor(after, "torch.int64")])
    return made


def _reduced_dtype(name: str, value: AbstractValue) -> str | None:
    dtype = dtype_of(value)
    if name in ("argmax", "argmin"):
        return "torch.int64"
    if name in ("any", "all"):
        return "torch.bool" if dtype not in (None, "torch.uint8") else None
    if name in ("sum", "prod"):
        return dtype if is_float(dtype) or dtype is None else "torch.int64"
    return dtype


def _mean_of_floats(operation: Operation, value: AbstractValue) -> None:
    dtype = dtype_of(value)
    if dtype is not None and dtype not in FLOATS and "dtype" not in operation.arguments.keywords:
        operation.crash(
            "RuntimeError",
            f"mean(): could not infer output dtype: input must be floating point, not {short(dtype)}",
            fact=describe(value),
            remedy="convert it first: .float().mean()",
        )


def _without(operation: Operation, value: AbstractValue, shape: Shape, at: int) -> Shape:
    if not -max(len(shape), 1) <= at < max(len(shape), 1):
        operation.crash(
            "IndexError",
            f"dimension {at} is requested",
            fact=describe(value),
            remedy=f"the dimensions are 0 to {len(shape) - 1}",
        )
    return shapes.reduce(shape, at) if shape else ()


def _function_of(rule: Rule) -> Rule:
    return lambda operation: rule(as_method(operation))


for _name in (*_SAME_DTYPE, *_TO_FLOAT, *_TO_BOOL):
    RULES.method("torch.Tensor", _name)(_by_element)
    RULES.function(f"torch.{_name}")(_function_of(_by_element))
for _name in _REDUCED:
    RULES.method("torch.Tensor", _name)(_reduced)
    RULES.function(f"torch.{_name}")(_function_of(_reduced))
for _name in (
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
    "softplus",
):
    RULES.function(f"torch.nn.functional.{_name}")(_function_of(_by_element))


@RULES.method("torch.Tensor")
def no_such_method(operation: Operation) -> Answer:
    """What tensors have not got, and numpy or Keras has; every other method that ends in no "_" only looks."""
    if operation.name in _NOT_THERE:
        operation.crash(
            "AttributeError",
            f"'Tensor' object has no attribute '{operation.name}'",
            fact=f"{operation.receiver.named('it')} is a torch.Tensor",
            remedy=_NOT_THERE[operation.name],
        )
    if operation.name.endswith("_") or operation.name in ("register_hook", "backward", "__setitem__", "apply_", "map_"):
        return UNKNOWN
    return UNCHANGED


_NOT_THERE: Final = {
    "astype": "use .to(torch.float32) or .float()",
    "append": "use torch.cat",
    "copy": "use .clone()",
    "value_counts": "use torch.unique(x, return_counts=True)",
    "to_numpy": "use .numpy()",
    "fillna": "use torch.nan_to_num",
    "fit": "fit the model, not the data",
}
