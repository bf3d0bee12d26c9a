"""The same elements of a tensor of torch in another shape, and parts of it by index.

Knows shapes and dtypes, and what torch refuses. Refuses tensors of other classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.families import torch_sizes
from crane_core.detectors.rules.families.torch_things import (
    as_method,
    dtype_meant,
    dtype_of,
    is_tensor,
    lengths,
    misfits,
    same_elements,
    shape_of,
    tensor,
    told,
    whole,
    words_of,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.shapes import About, MisfitError, Numbers, Part, Shape, Some
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing, literal

RULES = Family("torch reshaping")


# The same elements in another shape


def _reshaped(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    shape, given = shape_of(thing), site.arguments.positional
    if len(given) == 1 and dtype_meant(given[0]) is not None:
        return tensor(None, dtype_meant(given[0]))
    wanted = lengths(given) if not site.arguments.keywords and site.arguments.is_complete else None
    floats = [one for one in given if one.type == "float"]
    if floats:
        site.crash(
            "TypeError",
            "sizes must be integers, but one is a float",
            fact=f"{words_of(floats[0], 'a size')} is of type float",
            remedy="divide with //",
        )
    if wanted is None:
        return tensor(None, dtype_of(thing), thing.fact("device"))
    if shape is None:
        return tensor(tuple(None if n == -1 else n for n in wanted), dtype_of(thing), thing.fact("device"))
    with misfits("RuntimeError", fact=told(thing), remedy="check the sizes: the number of elements must stay the same"):
        return same_elements(thing, shapes.reshape(shape, wanted))


def _dims(site: Site, start: int = 0) -> list[int] | None:
    """Dimensions given one by one or as one tuple."""
    given = list(site.arguments.positional[start:])
    found = lengths(given) if given and not site.arguments.keywords else None
    return None if found is None or None in found else [size for size in found if size is not None]


def _permute(site: Site, thing: Thing, shape: Shape) -> Shape | None:
    dims = _dims(site)
    return None if dims is None else shapes.transpose(shape, dims)


def _transpose(site: Site, thing: Thing, shape: Shape) -> Shape | None:
    dims = _dims(site)
    return None if dims is None or len(dims) != 2 else _swapped(shape, *dims)


def _swapped(shape: Shape, first: int, second: int) -> Shape:
    return shapes.swapaxes(shape, first, second) if shape else shape


def _t(site: Site, thing: Thing, shape: Shape) -> Shape | None:
    if len(shape) > 2:
        raise MisfitError(f"t() takes at most 2 dimensions, not {len(shape)}")
    return shape[::-1]


def _unsqueeze(site: Site, thing: Thing, shape: Shape) -> Shape | None:
    at = _one_dim(site)
    return None if at is None else shapes.expand_dims(shape, at)


def _one_dim(site: Site) -> int | None:
    bound = site.arguments.bound("dim")
    return whole(bound.get("dim")) if bound else None


def _squeeze(site: Site, thing: Thing, shape: Shape) -> Shape | None:
    if not site.arguments.positional and not site.arguments.keywords:
        return shapes.squeeze(shape)
    at = _one_dim(site)
    if at is None or not shape:
        return None
    place = shapes.axis_of(at, len(shape))
    if shape[place] is None:
        return None
    return shape if shape[place] != 1 else (*shape[:place], *shape[place + 1 :])


def _flatten(site: Site, thing: Thing, shape: Shape) -> Shape | None:
    bound = site.arguments.bound("start_dim=0, end_dim=-1")
    if bound is None:
        return None
    start, end = (whole(bound.get(name, literal(usual))) for name, usual in (("start_dim", 0), ("end_dim", -1)))
    if start is None or end is None:
        return None
    try:
        return torch_sizes.flattened(shape, start, end)
    except torch_sizes.Refusal as refusal:
        about = About.AXIS if refusal.exception == "IndexError" else About.LENGTHS
        raise MisfitError(refusal.why, about) from None


def _expand(site: Site, thing: Thing, shape: Shape) -> Shape | None:
    dims = _dims(site)
    if dims is None:
        return None
    if len(dims) < len(shape):
        raise MisfitError(f"{len(dims)} sizes are given for {len(shape)} dimensions")
    extra = len(dims) - len(shape)
    if any(size == -1 for size in dims[:extra]):
        return None
    wanted = [shape[at - extra] if size == -1 else size for at, size in enumerate(dims)]
    return shapes.broadcast_to(shape, tuple(wanted))


def _repeat(site: Site, thing: Thing, shape: Shape) -> Shape | None:
    dims = _dims(site)
    if dims is None:
        return None
    if len(dims) < len(shape):
        raise MisfitError(f"{len(dims)} repetitions are given for {len(shape)} dimensions")
    padded = (1,) * (len(dims) - len(shape)) + shape
    return tuple(None if size is None else size * n for size, n in zip(padded, dims, strict=True))


Reshape = Callable[[Site, Thing, Shape], Shape | None]
_RESHAPES: Final[dict[str, Reshape]] = {
    "permute": _permute,
    "transpose": _transpose,
    "swapaxes": _transpose,
    "t": _t,
    "unsqueeze": _unsqueeze,
    "squeeze": _squeeze,
    "flatten": _flatten,
    "expand": _expand,
    "repeat": _repeat,
}


def _reshaper(change: Reshape, *, is_function: bool) -> Rule:
    def reshaped(site: Site) -> Thing | None:
        if is_function:
            site = as_method(site)
        thing = site.receiver or Thing()
        if not is_tensor(thing):
            return None
        shape = shape_of(thing)
        if shape is None or not site.arguments.is_complete:
            return same_elements(thing, None)
        try:
            return same_elements(thing, change(site, thing, shape))
        except MisfitError as misfit:
            site.crash(
                "IndexError" if misfit.about is About.AXIS else "RuntimeError",
                misfit.why,
                fact=told(thing),
                remedy="check the shape: " + ", ".join(f"{at}: {size}" for at, size in enumerate(shape)),
            )

    return reshaped


for _name, _change in _RESHAPES.items():
    RULES.method("torch.Tensor", _name)(_reshaper(_change, is_function=False))
    if _name not in ("expand", "repeat"):
        RULES.function(f"torch.{_name}")(_reshaper(_change, is_function=True))


@RULES.method("torch.Tensor", "view", "reshape")
def reshaped(site: Site) -> Thing | None:
    return _reshaped(site)


@RULES.function("torch.reshape")
def reshape_function(site: Site) -> Thing | None:
    method = as_method(site)
    return _reshaped(method) if method.receiver is not None and is_tensor(method.receiver) else None


# Reading parts


@RULES.item("torch.Tensor")
def item(site: Site) -> Thing | None:
    """x[i, :, mask]."""
    thing = site.receiver or Thing()
    shape, parts = shape_of(thing), _parts(site.first)
    if shape is None or parts is None:
        return tensor(None, dtype_of(thing), thing.fact("device"))
    try:
        return tensor(shapes.index(shape, *parts), dtype_of(thing), thing.fact("device"))
    except MisfitError as misfit:
        site.crash(
            "IndexError",
            misfit.why,
            fact=told(thing),
            remedy="check the shape before indexing",
        )


def _parts(index: Thing) -> list[Part] | None:
    """The parts of an index; None if one is not known well enough."""
    given = index.items if index.type == "tuple" else [index]
    if given is None:
        return None
    parts = [_part(one) for one in given]
    return None if any(part is _UNKNOWN for part in parts) else parts  # type: ignore[return-value]


_UNKNOWN: Final = object()


def _part(thing: Thing) -> Part | object:
    if thing.type == "NoneType":
        return None
    if thing.type == "ellipsis":
        return Ellipsis
    if thing.type == "slice":
        ends = [each.literal if each.is_literal else _UNKNOWN for each in thing.items or []]
        is_plain = len(ends) == 3 and all(end is None or type(end) is int for end in ends)
        return slice(*ends) if is_plain else Some.SLICE
    if thing.type == "int":
        number = whole(thing)
        return number if number is not None else Some.INTEGER
    if is_tensor(thing) and dtype_of(thing) == "torch.int64" and (shape := shape_of(thing)):
        ends = thing.fact("value_range")
        known = isinstance(ends, (list, tuple)) and all(type(end) is int for end in ends)
        return Numbers(shape, *ends) if known and ends is not None else Numbers(shape)
    return _UNKNOWN


@RULES.element("torch.Tensor")
def element(site: Site) -> Thing | None:
    """The first row; a tensor without dimensions cannot be iterated."""
    thing = site.receiver or Thing()
    shape = shape_of(thing)
    if shape == ():
        site.crash(
            "TypeError",
            "iteration over a 0-d tensor",
            fact=told(thing),
            remedy="get its value with .item()",
        )
    return tensor(shape[1:], dtype_of(thing), thing.fact("device")) if shape and shape[0] else None


@RULES.set_item("torch.Tensor")
def item_set(site: Site) -> Thing | None:
    """x[i] = value: the value must fill the part."""
    thing = site.receiver or Thing()
    index, value = site.arguments.positional
    shape, parts, given = shape_of(thing), _parts(index), shape_of(value) if is_tensor(value) else None
    if shape is None or parts is None:
        return None
    try:
        part = shapes.index(shape, *parts)
    except MisfitError as misfit:
        site.crash("IndexError", misfit.why, fact=told(thing), remedy="check the shape before indexing")
    if given is not None:
        remedy = "give the value the shape of the indexed part"
        with misfits("RuntimeError", fact=f"{told(thing)}, {told(value, 'the value')}", remedy=remedy):
            shapes.broadcast_to(given, part)
    return None
