"""Tensors of torch as abstract values: shape, dtype, device and gradient as facts, and how dtypes are promoted.

Pure. Knows `torch.Tensor` and `Parameter` by their exact types; subclasses may compute as they like.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue, integer, known_facts
from crane_core.detectors.rules.finding import Crash
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Length, Shape, ShapeMismatchError, shown

TENSOR: Final = "torch.Tensor"
FLOATS: Final = ("torch.bfloat16", "torch.float16", "torch.float32", "torch.float64")
INTEGERS: Final = ("torch.uint8", "torch.int8", "torch.int16", "torch.int32", "torch.int64")
KNOWN_DTYPES: Final = ("torch.bool", *INTEGERS, *FLOATS)
"""Those whose promotion is written here; complex and unsigned long ones are left out."""
_ALIASES: Final = {
    "torch.float": "torch.float32",
    "torch.double": "torch.float64",
    "torch.half": "torch.float16",
    "torch.long": "torch.int64",
    "torch.int": "torch.int32",
    "torch.short": "torch.int16",
}
_OF_NUMPY: Final = {
    "bool": "torch.bool",
    "uint8": "torch.uint8",
    **{f"int{bits}": f"torch.int{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"torch.float{bits}" for bits in (16, 32, 64)},
}
_SHORT: Final = {"torch.float32": "Float", "torch.float64": "Double", "torch.int64": "Long", "torch.int32": "Int"}
VALUES: Final = ("value_range", "has_nan", "value_info", "value", "sample_values")
"""Facts about the elements, which most operations change."""


def is_tensor(value: AbstractValue) -> bool:
    return value.is_a("torch", "Tensor", "Parameter")


def tensor(
    shape: Shape | None, dtype: str | None = None, device: str | None = None, words: str = "", **facts: Any
) -> AbstractValue:
    """A tensor of which so much is known; None is not known."""
    known = known_facts(shape=shape, dtype=dtype, device=device, **facts)
    return AbstractValue(TENSOR, known, words=words)


def dtype_of(value: AbstractValue) -> str | None:
    """ "torch.float32" and the like; None if it is not known, or not one that is known here."""
    dtype = value.fact("dtype")
    return dtype if dtype in KNOWN_DTYPES else None


def dtype_meant(value: AbstractValue) -> str | None:
    """The dtype that an argument names: torch.long, x.dtype."""
    said = value.path or value.fact("value") or ""
    return _ALIASES.get(said, said) if _ALIASES.get(said, said) in KNOWN_DTYPES else None


def dtype_of_array(value: AbstractValue) -> str | None:
    """The dtype that torch gives to an array of numpy."""
    dtype = value.fact("dtype")
    return _OF_NUMPY.get(dtype) if isinstance(dtype, str) else None


def is_float(dtype: str | None) -> bool:
    return dtype in FLOATS


def short(dtype: str) -> str:
    """As torch's messages name it."""
    return _SHORT.get(dtype, dtype.removeprefix("torch."))


def promoted(*operands: tuple[str | None, bool]) -> str | None:
    """The dtype of a result; of each operand the dtype and whether it has dimensions (those without count less)."""
    known = [(dtype, has_dimensions) for dtype, has_dimensions in operands if dtype in KNOWN_DTYPES and dtype]
    if not known or len(known) < len(operands):
        return None
    strongest = _joined([dtype for dtype, has_dimensions in known if has_dimensions])
    other = _joined([dtype for dtype, has_dimensions in known if not has_dimensions])
    if strongest is None or other is None:
        return strongest or other
    return max(strongest, other, key=_category)


def _category(dtype: str) -> int:
    return 0 if dtype == "torch.bool" else 1 if dtype in INTEGERS else 2


def _joined(dtypes: Sequence[str]) -> str | None:
    return reduce(_two, dtypes) if dtypes else None


def _two(left: str, right: str) -> str:
    if _category(left) != _category(right):
        return max(left, right, key=_category)
    if left == right:
        return left
    pair = {left, right}
    if "torch.uint8" in pair:
        other = (pair - {"torch.uint8"}).pop()
        return "torch.int16" if other == "torch.int8" else other
    if pair == {"torch.bfloat16", "torch.float16"}:
        return "torch.float32"
    return max(left, right, key=KNOWN_DTYPES.index)


def default_dtype(operation: Operation) -> str | None:
    """What torch makes of floats that name no dtype, unless a cell sets another default."""
    return None if operation.mentions("set_default") else "torch.float32"


def scalar_dtype(value: AbstractValue) -> str | None:
    """The dtype that a Python number brings along: of a float it only tells that there is one."""
    kinds = {"bool": "torch.bool", "int": "torch.int64", "float": "torch.float32"}
    return kinds.get(value.type)


# Arguments


def whole(value: AbstractValue | None) -> int | None:
    """The integer that an argument is known to be."""
    if value is None or value.type != "int" or type(value.literal) is not int:
        return None
    return value.literal


def known(value: AbstractValue | None, default: Any = None) -> Any:
    """The value of an argument that is known, the default where it was not given; NOT_KNOWN else."""
    if value is None:
        return default
    return value.literal


def lengths(values: Sequence[AbstractValue]) -> tuple[Length, ...] | None:
    """Sizes given one by one or as one tuple or list; None for a size that is not known."""
    if len(values) == 1 and values[0].type in ("tuple", "list", "torch.Size"):
        if values[0].items is None:
            return None
        values = values[0].items
    if any(value.type not in ("int", "") for value in values):
        return None
    if len(values) == 1 and not values[0].type:
        return None
    return tuple(whole(value) for value in values)


def as_literal(shape: Shape) -> AbstractValue:
    """`x.shape`, `x.size()`: a torch.Size."""
    sizes = [integer(length) for length in shape]
    return AbstractValue("torch.Size", literal=tuple(shape) if None not in shape else NOT_KNOWN, items=sizes)


def describe(value: AbstractValue, otherwise: str = "the tensor") -> str:
    """What is known of a tensor, for evidence."""
    shape, dtype = value.shape, value.fact("dtype")
    parts = [f"the shape {shown(shape)}"] if shape is not None else []
    parts += [f"the dtype {str(dtype).removeprefix('torch.')}"] if dtype else []
    return f"{value.named(otherwise)} has {' and '.join(parts)}" if parts else value.named(otherwise)


@contextmanager
def crash_on_shape_mismatch(exception: str, *, fact: str, remedy: str) -> Iterator[None]:
    """What does not fit within is a crash."""
    try:
        yield
    except ShapeMismatchError as mismatch:
        raise Crash(exception, mismatch.why, fact=fact, remedy=remedy) from None


# Steps


def same_elements(value: AbstractValue, shape: Shape | None) -> AbstractValue:
    """Another shape of the same elements."""
    made = tensor(shape, dtype_of(value), value.fact("device"), words=f"{value.words}, reshaped" if value.words else "")
    if "value_range" in value.facts:
        made.facts["value_range"] = value.facts["value_range"]
    return made


def as_method(operation: Operation) -> Operation:
    """torch.squeeze(x, 1) as x.squeeze(1)."""
    given = operation.arguments.positional
    keyword = operation.arguments.keywords.get("input")
    receiver = given[0] if given else keyword or AbstractValue()
    rest = {name: value for name, value in operation.arguments.keywords.items() if name != "input"}
    arguments = replace(operation.arguments, positional=tuple(given[1:]), keywords=rest)
    name = operation.receiver.path.rpartition(".")[2]
    return replace(operation, name=name, receiver=receiver, arguments=arguments)
