"""Eager tensors of TensorFlow: operators and functions by shape and dtype, and what they have not got.

Knows that TensorFlow converts Python's numbers and NumPy's arrays to the other side's dtype, and tensors never. Refuses
to judge where NumPy's behaviour was switched on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.shapes import MisfitError, Part, Shape, shown
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("tensorflow tensors")

EAGER: Final = "tensorflow.python.framework.ops.EagerTensor"
_ARITHMETIC: Final = ("+", "-", "*", "/", "//", "%")
_ORDER: Final = ("<", "<=", ">", ">=")
_NUMPY_ONLY: Final = {
    "reshape": "use tf.reshape(x, shape)",
    "astype": "use tf.cast(x, dtype)",
    "T": "use tf.transpose(x)",
    "size": "use tf.size(x)",
    "item": "use x.numpy().item()",
    "mean": "use tf.reduce_mean(x)",
    "sum": "use tf.reduce_sum(x)",
    "max": "use tf.reduce_max(x)",
    "min": "use tf.reduce_min(x)",
    "argmax": "use tf.argmax(x, axis=...)",
    "flatten": "use tf.reshape(x, [-1])",
    "squeeze": "use tf.squeeze(x)",
    "copy": "use tf.identity(x)",
    "tolist": "use x.numpy().tolist()",
    "transpose": "use tf.transpose(x)",
    "detach": "use x.numpy()",
    "append": "use tf.concat",
}


def is_eager(thing: Thing) -> bool:
    return thing.is_a("tensorflow", "EagerTensor")


def is_operand(thing: Thing) -> bool:
    """A tensor, or a variable, which computes as its tensor does."""
    return is_eager(thing) or thing.is_a("tensorflow", "ResourceVariable")


def shape_of(thing: Thing) -> Shape | None:
    shape = thing.fact("shape")
    return tuple(shape) if isinstance(shape, (tuple, list)) else None


def _tensor(shape: Shape | None, dtype: object = None) -> Thing:
    facts = {"shape": shape, "dtype": dtype if isinstance(dtype, str) else None}
    return Thing(EAGER, {name: fact for name, fact in facts.items() if fact is not None})


def _told(thing: Thing) -> str:
    shape, dtype = shape_of(thing), thing.fact("dtype")
    return f"{thing.words or 'a tensor'} has shape {shown(shape) if shape is not None else '?'} and dtype {dtype}"


def _fitting(site: Site, parts: Sequence[Thing], combine: Callable[..., Shape | None]) -> Shape | None:
    """The result of the shapes; a mismatch is a crash."""
    found = [shape_of(part) for part in parts]
    if any(shape is None for shape in found):
        return None
    try:
        return combine(*found)
    except MisfitError as misfit:
        site.crash(
            "InvalidArgumentError",
            misfit.why,
            fact=", ".join(map(_told, parts)),
            remedy="change the shapes so that they match (tf.transpose, tf.reshape, tf.expand_dims)",
        )


def _one_dtype(site: Site, parts: Sequence[Thing]) -> None:
    """TensorFlow promotes nothing among tensors."""
    dtypes = [part.fact("dtype") for part in parts]
    if any(not isinstance(dtype, str) for dtype in dtypes) or len(set(dtypes)) < 2 or site.mentions("numpy_behavior"):
        return
    site.crash(
        "InvalidArgumentError",
        f"TensorFlow does not convert dtypes: {' and '.join(sorted(set(dtypes)))}",
        fact=", ".join(map(_told, parts)),
        remedy=f"convert one: tf.cast(x, tf.{dtypes[0]})",
    )


@RULES.operator("tensorflow.EagerTensor", *_ARITHMETIC, *_ORDER)
@RULES.operator("tensorflow.ResourceVariable", *_ARITHMETIC, *_ORDER)
def elementwise(site: Site) -> Thing | None:
    if not site.arguments.positional:
        return None
    left, right = site.receiver or Thing(), site.first
    if not (is_operand(left) and is_operand(right)):
        return Thing()
    _one_dtype(site, (left, right))
    shape = _fitting(site, (left, right), shapes.broadcast)
    return _tensor(shape, "bool" if site.name in _ORDER else left.fact("dtype") if site.name in "+-*" else None)


@RULES.operator("tensorflow.EagerTensor", "@")
@RULES.operator("tensorflow.ResourceVariable", "@")
def product(site: Site) -> Thing | None:
    return _product(site, site.receiver or Thing(), site.first)


@RULES.function("tensorflow.matmul", "tensorflow.linalg.matmul")
def matmul(site: Site) -> Thing | None:
    given = site.arguments.positional
    return _product(site, *given) if len(given) == 2 and not site.arguments.keywords else Thing()


def _product(site: Site, left: Thing, right: Thing) -> Thing:
    if not (is_operand(left) and is_operand(right)):
        return Thing()
    _one_dtype(site, (left, right))
    return _tensor(_fitting(site, (left, right), _matrices), left.fact("dtype"))


def _matrices(left: Shape, right: Shape) -> Shape:
    for shape in (left, right):
        if len(shape) < 2:
            raise MisfitError(f"matmul needs tensors of at least 2 dimensions, but {shown(shape)} has {len(shape)}")
    return shapes.matmul(left, right)


@RULES.function("tensorflow.concat", "tensorflow.stack")
def joined(site: Site) -> Thing | None:
    bound = site.arguments.bound("values, axis=0, name='join'")
    parts = bound["values"].items if bound is not None and "values" in bound else None
    axis = bound["axis"].literal if bound is not None and "axis" in bound else 0
    if not parts or type(axis) is not int or not all(map(is_operand, parts)):
        return Thing()
    is_stack = site.receiver is not None and site.receiver.path.endswith("stack")
    join = shapes.stack if is_stack else shapes.concatenate
    _one_dtype(site, parts)
    return _tensor(_fitting(site, parts, lambda *found: join(found, axis)), parts[0].fact("dtype"))


@RULES.function("tensorflow.reshape")
def reshaped(site: Site) -> Thing | None:
    bound = site.arguments.bound("tensor, shape, name=None")
    if bound is None or not is_eager(bound.get("tensor", Thing())) or bound.get("shape", Thing()).items is None:
        return Thing()
    sizes = [item.literal if type(item.literal) is int else None for item in bound["shape"].items or ()]
    thing = bound["tensor"]
    return _tensor(_fitting(site, (thing,), lambda shape: shapes.reshape(shape, sizes)), thing.fact("dtype"))


@RULES.function("tensorflow.cast")
def cast(site: Site) -> Thing | None:
    bound = site.arguments.bound("x, dtype, name=None")
    if bound is None or "x" not in bound:
        return None
    said = bound.get("dtype", Thing())
    dtype = said.literal if isinstance(said.literal, str) else said.path.removeprefix("tensorflow.") or None
    return _tensor(shape_of(bound["x"]), dtype) if is_eager(bound["x"]) else Thing()


@RULES.item("tensorflow.EagerTensor")
def item(site: Site) -> Thing | None:
    thing, index = site.receiver or Thing(), site.first
    given = index.items if index.type == "tuple" else [index]
    if given is None or any(type(part.literal) is not int for part in given):
        return Thing(EAGER)
    parts: list[Part] = [part.literal for part in given]
    return _tensor(_fitting(site, (thing,), lambda shape: shapes.index(shape, *parts)), thing.fact("dtype"))


@RULES.set_item("tensorflow.EagerTensor")
@RULES.set_item("tensorflow.ResourceVariable")
def item_set(site: Site) -> Thing | None:
    """x[0] = 1."""
    thing = site.receiver or Thing()
    site.crash(
        "TypeError",
        "'{thing.class_name}' object does not support item assignment",
        fact=f"{thing.words or 'it'} is of type {thing.class_name}",
        remedy="use tf.tensor_scatter_nd_update, a variable's [...].assign(...), or an array of numpy",
    )


@RULES.attribute("tensorflow.EagerTensor", *_NUMPY_ONLY)
def no_such_attribute(site: Site) -> Thing | None:
    """What arrays have, and eager tensors have not."""
    if site.mentions("numpy_behavior"):
        return None
    thing = site.receiver or Thing()
    site.crash(
        "AttributeError",
        f"EagerTensor object has no attribute '{site.name}'",
        fact=f"{thing.words or 'it'} is an EagerTensor",
        remedy=_NUMPY_ONLY[site.name],
    )


@RULES.method("tensorflow.ResourceVariable", "assign", "assign_add", "assign_sub")
def assigned(site: Site) -> Thing | None:
    """Other values in a variable of the same shape and dtype."""
    variable, value = site.receiver or Thing(), site.first
    before, after = shape_of(variable), shape_of(value) if is_operand(value) else None
    if before is not None and after is not None and None not in (*before, *after) and before != after:
        site.crash(
            "ValueError" if site.name == "assign" else "InvalidArgumentError",
            f"Cannot assign value to variable: shape mismatch, {shown(before)} and {shown(after)}",
            fact=", ".join(map(_told, (variable, value))),
            remedy="assign values of the same shape",
        )
    variable.facts = {name: fact for name, fact in variable.facts.items() if name in ("shape", "dtype", "trainable")}
    return variable


@RULES.method("tensorflow.EagerTensor", "numpy")
@RULES.method("tensorflow.ResourceVariable", "numpy")
def as_array(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    facts = {name: thing.fact(name) for name in ("shape", "dtype") if thing.fact(name) is not None}
    return Thing("numpy.ndarray", facts) if shape_of(thing) else Thing()


@RULES.method("tensorflow.EagerTensor")
def quiet(site: Site) -> Thing | None:
    """An eager tensor cannot be changed."""
    return Thing()
