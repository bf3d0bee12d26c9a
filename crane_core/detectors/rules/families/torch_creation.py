"""Tensors of torch that are made: of sizes, of arrays, of numbers and lists; joined from others.

Knows shapes and dtypes, and what torch refuses. Refuses tensors of other classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_tensors import (
    default_dtype,
    dtype_meant,
    dtype_of,
    dtype_of_array,
    is_tensor,
    lengths,
    promoted,
    tensor,
    whole,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import About, Shape, ShapeMismatchError

RULES = Family("torch creation")

_NUMBERS: Final = ("int", "float", "bool")


# Making


def _sized(*, is_whole: bool = False) -> Rule:
    """zeros(2, 3), zeros((2, 3)), rand(size=(2, 3)), randint(0, 9, (2, 3))."""

    def made(operation: Operation) -> Answer:
        if not operation.arguments.is_complete:
            return UNKNOWN
        keywords = operation.arguments.keywords
        sizes = [keywords["size"]] if "size" in keywords else list(operation.arguments.positional)
        dtype = dtype_meant(keywords["dtype"]) if "dtype" in keywords else None
        usual = "torch.int64" if is_whole else default_dtype(operation)
        return tensor(lengths(sizes), dtype if "dtype" in keywords else usual)

    return made


for _name in ("zeros", "ones", "empty", "rand", "randn"):
    RULES.function(f"torch.{_name}")(_sized())


@RULES.function("torch.randint")
def randint(operation: Operation) -> Answer:
    given = [value for value in operation.arguments.positional if value.type != "int"]
    sizes = operation.arguments.keywords.get("size", given[0] if len(given) == 1 else AbstractValue())
    dtype = operation.arguments.keywords.get("dtype")
    return tensor(lengths([sizes]), "torch.int64" if dtype is None else dtype_meant(dtype))


@RULES.function("torch.full")
def full(operation: Operation) -> Answer:
    bound = operation.arguments.bound("size, fill_value, *, dtype=None, device=None, requires_grad=False, **more")
    if bound is None:
        return UNKNOWN
    dtype = dtype_meant(bound["dtype"]) if "dtype" in bound else None
    return tensor(lengths([bound["size"]]), dtype)


@RULES.function(*(f"torch.{name}_like" for name in ("zeros", "ones", "empty", "rand", "randn", "full")))
def alike(operation: Operation) -> Answer:
    if not is_tensor(operation.first):
        return UNKNOWN
    named = operation.arguments.keywords.get("dtype")
    return tensor(operation.first.shape, dtype_of(operation.first) if named is None else dtype_meant(named))


@RULES.function("torch.arange")
def arange(operation: Operation) -> Answer:
    given = [whole(value) for value in operation.arguments.positional]
    named = operation.arguments.keywords.get("dtype")
    if None in given or not 1 <= len(given) <= 3 or {"start", "end", "step"} & operation.arguments.keywords.keys():
        return tensor(None, None)
    numbers = [number for number in given if number is not None]
    is_empty_step = len(numbers) == 3 and not numbers[2]
    n = None if is_empty_step else len(range(*numbers))
    return tensor((n,), "torch.int64" if named is None else dtype_meant(named))


@RULES.function("torch.linspace")
def linspace(operation: Operation) -> Answer:
    bound = operation.arguments.bound("start, end, steps, *, dtype=None, device=None, requires_grad=False")
    if bound is None:
        return UNKNOWN
    named = bound.get("dtype")
    steps = whole(bound.get("steps"))
    return tensor((steps,), default_dtype(operation) if named is None else dtype_meant(named))


@RULES.function("torch.eye")
def eye(operation: Operation) -> Answer:
    given = [whole(value) for value in operation.arguments.positional]
    return tensor((given[0], given[-1]), None) if 1 <= len(given) <= 2 else UNKNOWN


@RULES.function("torch.from_numpy")
def from_numpy(operation: Operation) -> Answer:
    given = operation.first
    if given.is_a("pandas", "DataFrame", "Series") or given.type in ("list", "tuple", *_NUMBERS) or is_tensor(given):
        operation.crash(
            "TypeError",
            f"expected np.ndarray (got {given.type})",
            fact=f"{given.named('the argument')} is of type {given.type}",
            remedy="pass its array: .to_numpy()" if given.package == "pandas" else "use torch.tensor(...)",
        )
    if not given.is_a("numpy", "ndarray"):
        return UNKNOWN
    _refuse_objects(operation, given)
    return tensor(given.shape, dtype_of_array(given), "cpu", words=given.words)


def _refuse_objects(operation: Operation, given: AbstractValue) -> None:
    dtype = given.fact("dtype")
    if isinstance(dtype, str) and (dtype == "object" or dtype.startswith(("<U", ">U", "|S", "datetime64"))):
        operation.crash(
            "TypeError",
            f"can't convert np.ndarray of type numpy.{dtype}",
            fact=f"{given.named('the array')} has dtype {dtype}",
            remedy="convert it first: .astype('float32')",
        )


@RULES.function("torch.tensor", "torch.as_tensor", "torch.asarray")
def from_data(operation: Operation) -> Answer:
    """Of arrays, tensors, numbers, and nested lists of them."""
    bound = operation.arguments.bound("data, dtype=None, device=None, requires_grad=False, pin_memory=False, copy=None")
    if bound is None:
        return UNKNOWN
    data = bound["data"]
    shape, dtype = _of_data(operation, data)
    if "dtype" in bound:
        dtype = dtype_meant(bound["dtype"])
    made = tensor(shape, dtype, words=data.words)
    if dtype == "torch.int64" and data.is_literal and (numbers := list(_leaves(data.literal))):
        made.facts["value_range"] = [min(numbers), max(numbers)]
    return made


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _of_data(operation: Operation, data: AbstractValue) -> tuple[Shape | None, str | None]:
    if data.is_a("numpy", "ndarray"):
        _refuse_objects(operation, data)
        return data.shape, dtype_of_array(data)
    if is_tensor(data):
        return data.shape, dtype_of(data)
    if data.is_a("pandas", "DataFrame"):
        _refuse_frame(operation, data)
        return None, None
    if data.is_a("pandas", "Series"):
        return None, None
    if data.is_literal:
        return _of_literal(operation, data)
    return None, None


def _refuse_frame(operation: Operation, data: AbstractValue) -> None:
    """torch.tensor(frame) takes the frame for a sequence and asks it for element 0, which is a column."""
    columns, shape = data.fact("columns"), data.shape
    has_names = isinstance(columns, tuple) and columns and all(isinstance(label, str) for label in columns)
    if has_names and shape is not None and shape[0]:
        operation.crash(
            "ValueError",
            "torch treats a DataFrame as a sequence, and it has no element 0",
            fact=f"{data.named('the data')} is a DataFrame with named columns",
            remedy="pass its values: .to_numpy()",
        )


def _of_literal(operation: Operation, data: AbstractValue) -> tuple[Shape | None, str | None]:
    """Shape and dtype of numbers and lists; ragged lists and texts are refused."""
    value = data.literal
    kinds: set[type] = set()
    try:
        shape = _literal_shape(value, kinds)
    except ShapeMismatchError as mismatch:
        operation.crash(
            "ValueError",
            mismatch.why,
            fact=f"{data.named('the list')} holds lists of different lengths",
            remedy="pad the lists to the same length (pad_sequence)",
        )
    if shape is None:
        return None, None
    if kinds <= {bool} and kinds:
        return shape, "torch.bool"
    return shape, "torch.int64" if kinds <= {int, bool} and kinds else default_dtype(operation) if kinds else None


def _literal_shape(value: Any, kinds: set[type]) -> Shape | None:
    if type(value) in (int, float, bool):
        kinds.add(type(value))
        return ()
    if type(value) not in (list, tuple):
        return None
    inner = {_literal_shape(item, kinds) for item in value}
    if not inner:
        return (0,)
    ndims = {None if shape is None else len(shape) for shape in inner}
    if None in ndims or len(ndims) > 1:
        return None
    if len(inner) > 1:
        raise ShapeMismatchError("expected sequences of equal length")
    return (len(value), *(inner.pop() or ()))


# Joining


@RULES.function("torch.cat", "torch.concat", "torch.concatenate")
def cat(operation: Operation) -> Answer:
    return _joined(operation, _cat)


@RULES.function("torch.stack")
def stack(operation: Operation) -> Answer:
    return _joined(operation, shapes.stack)


@RULES.function("torch.vstack", "torch.row_stack")
def vstack(operation: Operation) -> Answer:
    return _joined(operation, lambda given, _: shapes.vstack(given))


@RULES.function("torch.hstack")
def hstack(operation: Operation) -> Answer:
    return _joined(operation, lambda given, _: shapes.hstack(given))


def _cat(given: Sequence[Shape], axis: int) -> Shape | None:
    """torch leaves out what has the shape (0,); what may have is not judged."""
    left = [shape for shape in given if shape != (0,)]
    if any(shape == (None,) for shape in left) or not left:
        return None
    return shapes.concatenate(left, axis)


def _joined(operation: Operation, join: Callable[[Sequence[Shape], int], Shape | None]) -> Answer:
    bound = operation.arguments.bound("tensors, dim=0, *, axis=None, out=None")
    if bound is None or "out" in bound:
        return UNKNOWN
    given, axis = bound["tensors"], bound.get("dim", bound.get("axis", literal(0)))
    if given.items is None:
        _refuse_one(operation, given)
        return tensor(None)
    _refuse_parts(operation, given.items)
    known = [one.shape for one in given.items if one.shape is not None]
    dtype = promoted(*((dtype_of(one), True) for one in given.items))
    at = whole(axis)
    if len(known) < len(given.items) or at is None or not known:
        return tensor(None, dtype)
    parts = list(zip(given.items, known, strict=True))[:4]
    fact = ", ".join(f"{one.named('one')} {shapes.shown(shape)}" for one, shape in parts)
    try:
        return tensor(join(known, at), dtype)
    except ShapeMismatchError as mismatch:
        operation.crash(
            "IndexError" if mismatch.about is About.AXIS else "RuntimeError",
            mismatch.why,
            fact=f"the shapes are {fact}",
            remedy="make them the same size (pad, crop, transpose), or join along another dimension",
        )


def _refuse_one(operation: Operation, given: AbstractValue) -> None:
    if is_tensor(given):
        operation.crash(
            "TypeError",
            "argument 'tensors' must be tuple of Tensors, not Tensor",
            fact=f"{given.named('the argument')} is a tensor",
            remedy="put them in a list: [a, b]",
        )


def _refuse_parts(operation: Operation, parts: Sequence[AbstractValue]) -> None:
    for place, one in enumerate(parts):
        if one.type in ("list", "tuple", "str", "NoneType", "numpy.ndarray", *_NUMBERS):
            operation.crash(
                "TypeError",
                f"expected Tensor as element {place}, but got {one.type}",
                fact=f"{one.named('it')} is of type {one.type}",
                remedy="convert all elements to tensors first",
            )
