"""What tensors of torch give away: numbers, arrays, gradients; other dtypes and places; sizes; fewer elements.

Knows shapes and dtypes, and what torch refuses. Refuses tensors of other classes.
"""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.families.torch_things import (
    FLOATS,
    INTEGERS,
    as_literal,
    as_method,
    dtype_meant,
    dtype_of,
    is_float,
    is_tensor,
    same_elements,
    shape_of,
    short,
    tensor,
    told,
    whole,
    words_of,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.shapes import Shape
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing, literal

RULES = Family("torch values")


# Values


@RULES.method("torch.Tensor", "item", "tolist", "__float__", "__int__")
def taken_out(site: Site) -> Thing | None:
    """item() of exactly one element."""
    thing = site.receiver or Thing()
    shape = shape_of(thing)
    n = shapes.size(shape) if shape is not None else None
    if site.name == "item" and n is not None and n != 1:
        site.crash(
            "RuntimeError",
            f"a Tensor with {n} elements cannot be converted to Scalar",
            fact=told(thing),
            remedy="reduce it first (mean, sum, argmax), or use tolist()",
        )
    if site.name != "item":
        return Thing()
    dtype = dtype_of(thing)
    return Thing(
        "bool" if dtype == "torch.bool" else "float" if is_float(dtype) else "int" if dtype in INTEGERS else ""
    )


@RULES.truth("torch.Tensor")
def truth(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    shape = shape_of(thing)
    n = shapes.size(shape) if shape is not None else None
    if n is not None and n > 1:
        site.crash(
            "RuntimeError",
            "Boolean value of Tensor with more than one value is ambiguous",
            fact=told(thing),
            remedy="use .any() or .all()",
        )
    return None


@RULES.method("torch.Tensor", "numpy")
def as_array(site: Site) -> Thing | None:
    """An array of the same shape; not of a tensor on a GPU."""
    thing = site.receiver or Thing()
    device = thing.fact("device")
    if isinstance(device, str) and device.startswith(("cuda", "mps")) and not site.arguments.keywords:
        site.crash(
            "TypeError",
            f"can't convert {device} device type tensor to numpy",
            fact=f"{words_of(thing, 'the tensor')} is on {device}",
            remedy="copy it to host memory first: .cpu().numpy()",
        )
    if thing.fact("requires_grad") is True and not site.arguments.keywords and not _may_be_without_gradient(site):
        site.crash(
            "RuntimeError",
            "Can't call numpy() on Tensor that requires grad",
            fact=f"{words_of(thing, 'the tensor')} has requires_grad=True",
            remedy="detach it first: .detach().numpy()",
        )
    facts = {"shape": shape_of(thing), "dtype": (dtype_of(thing) or "").removeprefix("torch.")}
    return Thing("numpy.ndarray", {name: fact for name, fact in facts.items() if fact or fact == ()})


def _may_be_without_gradient(site: Site) -> bool:
    return any(site.mentions(text) for text in ("no_grad", "inference_mode", "set_grad_enabled"))


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
def cast(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    return _cast(thing, _CASTS[site.name])


def _cast(thing: Thing, dtype: str | None) -> Thing:
    ends = thing.fact("value_range")
    made = tensor(shape_of(thing), dtype, thing.fact("device"), words=thing.words)
    if isinstance(ends, (list, tuple)) and len(ends) == 2 and all(type(end) in (int, float) for end in ends):
        is_whole = dtype in INTEGERS
        made.facts["value_range"] = [int(end) for end in ends] if is_whole else list(ends)
    return made


@RULES.method("torch.Tensor", "to", "type", "cuda", "cpu", "type_as")
def moved(site: Site) -> Thing | None:
    """To another dtype, another device."""
    thing = site.receiver or Thing()
    given = [*site.arguments.positional, *site.arguments.keywords.values()]
    dtype = next((found for found in map(dtype_meant, given) if found is not None), None)
    others = [one for one in given if dtype_meant(one) is None]
    is_device = all(one.type in ("str", "torch.device", "bool", "int") for one in others)
    named = dtype if dtype is not None else dtype_of(thing) if is_device and site.name != "type" else None
    made = _cast(thing, named)
    to_cpu = site.name == "cpu" or any(one.literal == "cpu" for one in others)
    made.facts.pop("device", None)
    if to_cpu or (not others and site.name != "cuda"):
        made.facts["device"] = "cpu" if to_cpu else thing.fact("device")
        if made.facts["device"] is None:
            del made.facts["device"]
    return made


@RULES.method("torch.Tensor", "requires_grad_")
def switched(site: Site) -> Thing | None:
    """The tensor itself, which requires a gradient from now on, or no longer."""
    thing, bound = site.receiver or Thing(), site.arguments.bound("requires_grad=True")
    thing.facts.pop("requires_grad", None)
    value = bound.get("requires_grad", literal(True)).literal if bound is not None else None
    if type(value) is bool:
        thing.facts["requires_grad"] = value
    return thing


@RULES.method("torch.Tensor", "detach", "clone", "contiguous", "cpu")
def same(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    return same_elements(thing, shape_of(thing))


@RULES.method("torch.Tensor", "backward")
def backward(site: Site) -> Thing | None:
    """Only of a single number, unless a gradient is given."""
    thing = site.receiver or Thing()
    shape = shape_of(thing)
    n = shapes.size(shape) if shape is not None else None
    is_plain = not site.arguments.positional and "gradient" not in site.arguments.keywords
    if is_plain and n is not None and n > 1:
        site.crash(
            "RuntimeError",
            "grad can be implicitly created only for scalar outputs",
            fact=told(thing),
            remedy="reduce it first: loss.mean().backward()",
        )
    if thing.fact("requires_grad") is False and thing.fact("grad_fn") is None:
        site.crash(
            "RuntimeError",
            "element 0 of tensors does not require grad and does not have a grad_fn",
            fact=f"{words_of(thing, 'the tensor')} has requires_grad=False",
            remedy="compute it from parameters that require grad, outside of no_grad()",
        )
    return Thing("NoneType", literal=None)


@RULES.attribute("torch.Tensor")
def attribute(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    shape = shape_of(thing)
    if site.name == "shape":
        return as_literal(shape) if shape is not None else Thing("torch.Size")
    if site.name == "ndim":
        return literal(len(shape)) if shape is not None else Thing("int")
    if site.name == "dtype":
        return Thing("torch.dtype", {"value": dtype_of(thing)} if dtype_of(thing) else {})
    if site.name in ("T", "mT") and shape is not None:
        is_matrix = len(shape) <= 2 or site.name == "mT"
        return same_elements(
            thing, shape[::-1] if len(shape) <= 2 else (*shape[:-2], *shape[:-3:-1]) if is_matrix else shape[::-1]
        )
    if site.name == "data":
        return same_elements(thing, shape)
    if site.name == "device":
        return Thing("torch.device", {"value": thing.fact("device")} if thing.fact("device") else {})
    return None


@RULES.method("torch.Tensor", "size", "dim", "numel", "nelement", "__len__")
def measured(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    shape = shape_of(thing)
    if shape is None:
        return Thing()
    if site.name == "dim":
        return literal(len(shape))
    if site.name in ("numel", "nelement"):
        n = shapes.size(shape)
        return Thing("int") if n is None else literal(n)
    if site.name == "__len__":
        return literal(shape[0]) if shape and shape[0] is not None else Thing("int")
    return _size(site, thing, shape)


def _size(site: Site, thing: Thing, shape: Shape) -> Thing:
    bound = site.arguments.bound("dim=None")
    if bound is None:
        return Thing()
    if "dim" not in bound or bound["dim"].literal is None:
        return as_literal(shape)
    at = whole(bound["dim"])
    if at is None:
        return Thing("int")
    if not -len(shape) <= at < len(shape):
        site.crash(
            "IndexError",
            f"dimension {at} is requested",
            fact=told(thing),
            remedy=f"the dimensions are 0 to {len(shape) - 1}",
        )
    size = shape[at]
    return Thing("int") if size is None else literal(size)


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


def _by_element(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    if not is_tensor(thing):
        return None
    dtype = dtype_of(thing)
    if site.name in _TO_FLOAT and not is_float(dtype):
        dtype = None
    if site.name in _TO_BOOL:
        return tensor(None, "torch.bool")
    shape, dim = shape_of(thing), _softmax_dim(site)
    if shape is not None and dim is not None:
        _without(site, thing, shape, dim)
    return tensor(shape_of(thing), dtype, thing.fact("device"))


def _softmax_dim(site: Site) -> int | None:
    if site.name not in ("softmax", "log_softmax"):
        return None
    given = site.arguments.positional
    return whole(site.arguments.keywords.get("dim", given[0] if given else None))


def _reduced(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    if not is_tensor(thing):
        return None
    bound = site.arguments.bound("dim=None, keepdim=False, *, dtype=None, axis=None")
    if site.name == "mean":
        _mean_of_floats(site, thing)
    dim = bound.get("dim", bound.get("axis")) if bound is not None else Thing()
    if dim is None or dim.literal is None:
        return tensor((), _reduced_dtype(site.name, thing))
    shape, at = shape_of(thing), whole(dim)
    if is_tensor(dim) or shape is None or at is None or site.name in ("norm", "std", "var"):
        return tensor(None) if site.name not in _PAIRED else Thing()
    keeps = bound.get("keepdim") if bound is not None else None
    is_kept = False if keeps is None else keeps.literal
    reduced = _without(site, thing, shape, at)
    after = reduced if is_kept is False else None
    made = tensor(after, _reduced_dtype(site.name, thing))
    if site.name in ("max", "min"):
        return Thing("torch.return_types." + site.name, items=[made, tensor(after, "torch.int64")])
    return made


def _reduced_dtype(name: str, thing: Thing) -> str | None:
    dtype = dtype_of(thing)
    if name in ("argmax", "argmin"):
        return "torch.int64"
    if name in ("any", "all"):
        return "torch.bool" if dtype not in (None, "torch.uint8") else None
    if name in ("sum", "prod"):
        return dtype if is_float(dtype) or dtype is None else "torch.int64"
    return dtype


def _mean_of_floats(site: Site, thing: Thing) -> None:
    dtype = dtype_of(thing)
    if dtype is not None and dtype not in FLOATS and "dtype" not in site.arguments.keywords:
        site.crash(
            "RuntimeError",
            f"mean(): could not infer output dtype: input must be floating point, not {short(dtype)}",
            fact=told(thing),
            remedy="convert it first: .float().mean()",
        )


def _without(site: Site, thing: Thing, shape: Shape, at: int) -> Shape:
    if not -max(len(shape), 1) <= at < max(len(shape), 1):
        site.crash(
            "IndexError",
            f"dimension {at} is requested",
            fact=told(thing),
            remedy=f"the dimensions are 0 to {len(shape) - 1}",
        )
    return shapes.reduce(shape, at) if shape else ()


def _function_of(rule: Rule) -> Rule:
    return lambda site: rule(as_method(site))


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
def no_such_method(site: Site) -> Thing | None:
    """What tensors have not got, and numpy or Keras has; every other method that ends in no "_" only looks."""
    if site.name in _NOT_THERE:
        site.crash(
            "AttributeError",
            f"'Tensor' object has no attribute '{site.name}'",
            fact=f"{words_of(site.receiver or Thing(), 'it')} is a torch.Tensor",
            remedy=_NOT_THERE[site.name],
        )
    if site.name.endswith("_") or site.name in ("register_hook", "backward", "__setitem__", "apply_", "map_"):
        return None
    return Thing()


_NOT_THERE: Final = {
    "astype": "use .to(torch.float32) or .float()",
    "append": "use torch.cat",
    "copy": "use .clone()",
    "value_counts": "use torch.unique(x, return_counts=True)",
    "to_numpy": "use .numpy()",
    "fillna": "use torch.nan_to_num",
    "fit": "fit the model, not the data",
}
