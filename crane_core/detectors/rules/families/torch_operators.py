"""Operators and products of tensors of torch: broadcasting, inner lengths, one dtype, one device.

Knows shapes and dtypes, and what torch refuses. Refuses tensors of other classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.families.torch_things import (
    default_dtype,
    dtype_of,
    is_float,
    is_tensor,
    misfits,
    promoted,
    scalar_dtype,
    shape_of,
    short,
    tensor,
    told,
    words_of,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.shapes import MisfitError, Shape
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("torch operators")

_NUMBERS: Final = ("int", "float", "bool")


_ARITHMETIC: Final = ("+", "-", "*", "/", "//", "%", "**", "+=", "-=", "*=", "/=")
_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
_BITS: Final = ("&", "|", "^")


@RULES.operator("torch.Tensor", *_ARITHMETIC, *_COMPARISONS, *_BITS)
@RULES.operator("torch.Parameter", *_ARITHMETIC, *_COMPARISONS)
def elementwise(site: Site) -> Thing | None:
    """Broadcasting, and the dtype that two tensors have in common."""
    if not site.arguments.positional:
        return None
    left, right = site.receiver or Thing(), site.first
    pair = [_operand(left), _operand(right)]
    if any(one is None for one in pair):
        return None
    operands = [one for one in pair if one is not None]
    _one_device(site, left, right)
    shape = _met(site, left, right, [one[0] for one in operands])
    dtype = promoted(*((kind, bool(one)) if one is not None else (None, True) for one, kind in operands))
    if site.name in _COMPARISONS:
        dtype = "torch.bool"
    elif site.name in ("/", "/=") and dtype is not None and not is_float(dtype):
        dtype = default_dtype(site)
    elif site.name in _BITS and is_float(dtype):
        _no_bits(site, left, right)
    return tensor(shape, dtype, _device(left, right))


def _operand(thing: Thing) -> tuple[Shape | None, str | None] | None:
    if is_tensor(thing):
        return shape_of(thing), dtype_of(thing)
    return ((), scalar_dtype(thing)) if thing.type in _NUMBERS else None


def _met(site: Site, left: Thing, right: Thing, pair: Sequence[Shape | None]) -> Shape | None:
    one, other = pair
    if one is None or other is None:
        return None
    fact = f"{told(left, 'the left side')}, {told(right, 'the right side')}"
    with misfits("RuntimeError", fact=fact, remedy="make the shapes match (unsqueeze, view, transpose)"):
        if site.name.endswith("=") and site.name not in _COMPARISONS and is_tensor(left):
            shapes.broadcast_to(other, one)
            return one
        return shapes.broadcast(one, other)


def _one_device(site: Site, left: Thing, right: Thing) -> None:
    devices = [thing.fact("device") for thing in (left, right)]
    has_dimensions = all(is_tensor(thing) and shape_of(thing) for thing in (left, right))
    are_known = all(isinstance(device, str) for device in devices)
    if has_dimensions and are_known and len(set(devices)) > 1 and "cpu" in devices:
        site.crash(
            "RuntimeError",
            "Expected all tensors to be on the same device",
            fact=f"{words_of(left, 'one')} is on {devices[0]}, {words_of(right, 'the other')} on {devices[1]}",
            remedy="move both to the same device: .to(device)",
        )


def _device(left: Thing, right: Thing) -> str | None:
    devices = {thing.fact("device") for thing in (left, right) if is_tensor(thing)}
    return devices.pop() if len(devices) == 1 else None


def _no_bits(site: Site, left: Thing, right: Thing) -> None:
    site.crash(
        "NotImplementedError",
        f"{site.name} is not implemented for floats, only for booleans and integers",
        fact=f"{told(left, 'the left side')}, {told(right, 'the right side')}",
        remedy="compare first: (x > 0) & (y > 0)",
    )


@RULES.operator("torch.Tensor", "-x", "+x", "~x")
def unary(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    return tensor(shape_of(thing), dtype_of(thing), thing.fact("device"))


@RULES.operator("torch.Tensor", "@")
def matmul_operator(site: Site) -> Thing | None:
    return product(site, site.receiver or Thing(), site.first)


def product(site: Site, left: Thing, right: Thing, multiply: Callable[..., Shape] = shapes.matmul) -> Thing | None:
    """left @ right: the inner lengths, and one dtype."""
    if not (is_tensor(left) and is_tensor(right)):
        _tensors_only(site, left, right)
        return None
    one, other = shape_of(left), shape_of(right)
    fact = f"{told(left, 'the left side')}, {told(right, 'the right side')}"
    shape: Shape | None = None
    _one_device(site, left, right)
    if one is not None and other is not None:
        with misfits("RuntimeError", fact=fact, remedy="transpose one of them, or change the layer's size"):
            shape = multiply(one, other)
    dtypes = [dtype_of(left), dtype_of(right)]
    is_half = any(dtype in ("torch.float16", "torch.bfloat16") for dtype in dtypes)
    if None not in dtypes and dtypes[0] != dtypes[1] and not is_half:
        site.crash(
            "RuntimeError",
            f"expected m1 and m2 to have the same dtype, not {short(dtypes[0] or '')} and {short(dtypes[1] or '')}",
            fact=fact,
            remedy="convert one of them: .float()",
        )
    return tensor(shape, dtypes[0] if None not in dtypes else None, _device(left, right))


def _tensors_only(site: Site, left: Thing, right: Thing) -> None:
    for thing, other in ((left, right), (right, left)):
        if thing.is_a("numpy", "ndarray") and is_tensor(other) and site.name != "@":
            site.crash(
                "TypeError",
                f"matmul: argument must be Tensor, not {thing.type}",
                fact=f"{words_of(thing, 'it')} is of type {thing.type}",
                remedy="convert it to a tensor: torch.from_numpy(...)",
            )


def _two_dimensional(left: Shape, right: Shape) -> Shape:
    for shape in (left, right):
        if len(shape) != 2:
            raise MisfitError(f"mm takes 2D tensors, not {shapes.shown(shape)}")
    return shapes.matmul(left, right)


def _batched(left: Shape, right: Shape) -> Shape:
    for shape in (left, right):
        if len(shape) != 3:
            raise MisfitError(f"bmm takes 3D tensors (batches of matrices), not {shapes.shown(shape)}")
    if None not in (left[0], right[0]) and left[0] != right[0]:
        raise MisfitError(f"the batches of {shapes.shown(left)} and {shapes.shown(right)} differ")
    return shapes.matmul(left, right)


def _inner(left: Shape, right: Shape) -> Shape:
    for shape in (left, right):
        if len(shape) != 1:
            raise MisfitError(f"dot takes 1D tensors, not {shapes.shown(shape)}")
    return shapes.matmul(left, right)


_PRODUCTS: Final = {
    "matmul": shapes.matmul,
    "mm": _two_dimensional,
    "bmm": _batched,
    "dot": _inner,
}


def _multiplier(multiply: Callable[..., Shape]) -> tuple[Rule, Rule]:
    def function(site: Site) -> Thing | None:
        given = site.arguments.positional
        return product(site, given[0], given[1], multiply) if len(given) == 2 else None

    def method(site: Site) -> Thing | None:
        return product(site, site.receiver or Thing(), site.first, multiply)

    return function, method


for _name, _multiply in _PRODUCTS.items():
    _function, _method = _multiplier(_multiply)
    RULES.function(f"torch.{_name}")(_function)
    RULES.method("torch.Tensor", _name)(_method)
