"""Eager tensors of TensorFlow: operators and functions by shape and dtype, and what they have not got.

Knows that TensorFlow converts Python's numbers and NumPy's arrays to the other side's dtype, and tensors never. Refuses
to judge where NumPy's behaviour was switched on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import About, Part, Shape, ShapeMismatchError, shown

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


def is_eager(value: AbstractValue) -> bool:
    return value.is_a("tensorflow", "EagerTensor")


def is_operand(value: AbstractValue) -> bool:
    """A tensor, or a variable, which computes as its tensor does."""
    return is_eager(value) or value.is_a("tensorflow", "ResourceVariable")


def _tensor(shape: Shape | None, dtype: object = None) -> AbstractValue:
    facts = {"shape": shape, "dtype": dtype if isinstance(dtype, str) else None}
    return AbstractValue(EAGER, {name: fact for name, fact in facts.items() if fact is not None})


def _describe(value: AbstractValue) -> str:
    shape, dtype = value.shape, value.fact("dtype")
    return f"{value.named('a tensor')} has shape {shown(shape) if shape is not None else '?'} and dtype {dtype}"


def _fitting(
    operation: Operation, parts: Sequence[AbstractValue], combine: Callable[..., Shape | None]
) -> Shape | None:
    """The result of the shapes; a mismatch is a crash."""
    found = [part.shape for part in parts]
    if any(shape is None for shape in found):
        return None
    try:
        return combine(*found)
    except ShapeMismatchError as mismatch:
        is_of_axis = mismatch.about is About.AXIS and operation.receiver.path == "tensorflow.stack"
        operation.crash(
            "ValueError" if is_of_axis else "InvalidArgumentError",  # tf.stack looks at its axis itself
            mismatch.why,
            fact=", ".join(map(_describe, parts)),
            remedy="change the shapes so that they match (tf.transpose, tf.reshape, tf.expand_dims)",
        )


def _one_dtype(operation: Operation, parts: Sequence[AbstractValue]) -> None:
    """TensorFlow promotes nothing among tensors."""
    dtypes = [part.fact("dtype") for part in parts]
    if (
        any(not isinstance(dtype, str) for dtype in dtypes)
        or len(set(dtypes)) < 2
        or operation.mentions("numpy_behavior")
    ):
        return
    operation.crash(
        "InvalidArgumentError",
        f"TensorFlow does not convert dtypes: {' and '.join(sorted(set(dtypes)))}",
        fact=", ".join(map(_describe, parts)),
        remedy=f"convert one: tf.cast(x, tf.{dtypes[0]})",
    )


@RULES.operator("tensorflow.EagerTensor", *_ARITHMETIC, *_ORDER)
@RULES.operator("tensorflow.ResourceVariable", *_ARITHMETIC, *_ORDER)
def elementwise(operation: Operation) -> Answer:
    if not operation.arguments.positional:
        return UNKNOWN
    left, right = operation.receiver, operation.first
    if not (is_operand(left) and is_operand(right)):
        return UNCHANGED
    _one_dtype(operation, (left, right))
    shape = _fitting(operation, (left, right), shapes.broadcast)
    return _tensor(
        shape, "bool" if operation.name in _ORDER else left.fact("dtype") if operation.name in "+-*" else None
    )


@RULES.operator("tensorflow.EagerTensor", "@")
@RULES.operator("tensorflow.ResourceVariable", "@")
def product(operation: Operation) -> Answer:
    return _product(operation, operation.receiver, operation.first)


@RULES.function("tensorflow.matmul", "tensorflow.linalg.matmul")
def matmul(operation: Operation) -> Answer:
    given = operation.arguments.positional
    return _product(operation, *given) if len(given) == 2 and not operation.arguments.keywords else UNCHANGED


def _product(operation: Operation, left: AbstractValue, right: AbstractValue) -> AbstractValue:
    if not (is_operand(left) and is_operand(right)):
        return AbstractValue()
    _one_dtype(operation, (left, right))
    return _tensor(_fitting(operation, (left, right), _matrices), left.fact("dtype"))


def _matrices(left: Shape, right: Shape) -> Shape:
    for shape in (left, right):
        if len(shape) < 2:
            raise ShapeMismatchError(
                f"matmul needs tensors of at least 2 dimensions, but {shown(shape)} has {len(shape)}"
            )
    return shapes.matmul(left, right)


@RULES.function("tensorflow.concat", "tensorflow.stack")
def joined(operation: Operation) -> Answer:
    bound = operation.arguments.bound("values, axis=0, name='join'")
    parts = bound["values"].items if bound is not None else None
    axis = bound["axis"].literal if bound is not None and "axis" in bound else 0
    if not parts or type(axis) is not int or not all(map(is_operand, parts)):
        return UNCHANGED
    is_stack = operation.receiver.path.endswith("stack")
    join = shapes.stack if is_stack else shapes.concatenate
    _one_dtype(operation, parts)
    return _tensor(_fitting(operation, parts, lambda *found: join(found, axis)), parts[0].fact("dtype"))


@RULES.function("tensorflow.reshape")
def reshaped(operation: Operation) -> Answer:
    bound = operation.arguments.bound("tensor, shape, name=None")
    if (
        bound is None
        or not is_eager(bound.get("tensor", AbstractValue()))
        or bound.get("shape", AbstractValue()).items is None
    ):
        return UNCHANGED
    sizes = [item.literal if type(item.literal) is int else None for item in bound["shape"].items or ()]
    value = bound["tensor"]
    return _tensor(_fitting(operation, (value,), lambda shape: shapes.reshape(shape, sizes)), value.fact("dtype"))


@RULES.function("tensorflow.cast")
def cast(operation: Operation) -> Answer:
    bound = operation.arguments.bound("x, dtype, name=None")
    if bound is None:
        return UNKNOWN
    said = bound.get("dtype", AbstractValue())
    dtype = said.literal if isinstance(said.literal, str) else said.path.removeprefix("tensorflow.") or None
    return _tensor(bound["x"].shape, dtype) if is_eager(bound["x"]) else UNCHANGED


@RULES.item("tensorflow.EagerTensor")
def item(operation: Operation) -> Answer:
    value, index = operation.receiver, operation.first
    given = index.items if index.type == "tuple" else [index]
    if given is None or any(type(part.literal) is not int for part in given):
        return AbstractValue(EAGER)
    parts: list[Part] = [part.literal for part in given]
    return _tensor(_fitting(operation, (value,), lambda shape: shapes.index(shape, *parts)), value.fact("dtype"))


@RULES.set_item("tensorflow.EagerTensor")
@RULES.set_item("tensorflow.ResourceVariable")
def item_set(operation: Operation) -> Answer:
    """x[0] = 1."""
    value = operation.receiver
    operation.crash(
        "TypeError",
        f"'{value.class_name}' object does not support item assignment",
        fact=f"{value.named('it')} is of type {value.class_name}",
        remedy="use tf.tensor_scatter_nd_update, a variable's [...].assign(...), or an array of numpy",
    )


@RULES.attribute("tensorflow.EagerTensor", *_NUMPY_ONLY)
def no_such_attribute(operation: Operation) -> Answer:
    """What arrays have, and eager tensors have not."""
    if operation.mentions("numpy_behavior"):
        return UNKNOWN
    value = operation.receiver
    operation.crash(
        "AttributeError",
        f"EagerTensor object has no attribute '{operation.name}'",
        fact=f"{value.named('it')} is an EagerTensor",
        remedy=_NUMPY_ONLY[operation.name],
    )


@RULES.method("tensorflow.ResourceVariable", "assign", "assign_add", "assign_sub")
def assigned(operation: Operation) -> Answer:
    """Other values in a variable of the same shape and dtype."""
    variable, value = operation.receiver, operation.first
    before, after = variable.shape, value.shape if is_operand(value) else None
    if before is not None and after is not None and None not in (*before, *after) and before != after:
        operation.crash(
            "ValueError" if operation.name == "assign" else "InvalidArgumentError",
            f"Cannot assign value to variable: shape mismatch, {shown(before)} and {shown(after)}",
            fact=", ".join(map(_describe, (variable, value))),
            remedy="assign values of the same shape",
        )
    variable.facts = {name: fact for name, fact in variable.facts.items() if name in ("shape", "dtype", "trainable")}
    return variable


@RULES.method("tensorflow.EagerTensor", "numpy")
@RULES.method("tensorflow.ResourceVariable", "numpy")
def as_array(operation: Operation) -> Answer:
    value = operation.receiver
    facts = {name: value.fact(name) for name in ("shape", "dtype") if value.fact(name) is not None}
    return AbstractValue("numpy.ndarray", facts) if value.shape else UNCHANGED


@RULES.method("tensorflow.EagerTensor")
def quiet(operation: Operation) -> Answer:
    """An eager tensor cannot be changed."""
    return UNCHANGED
