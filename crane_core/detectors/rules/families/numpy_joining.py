"""Arrays made of several others, and several made of one: concatenate, stack, append, split."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    array,
    axis_in,
    crash_on_shape_mismatch,
    describe,
    describe_all,
    dtype_of,
    given_to,
    is_array,
    is_whole_list,
    part_shapes,
    promoted,
    shape_of,
    taken_shape,
    whole,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape

RULES = Family("numpy: joining and splitting")
_REMEDY = "give the arrays matching shapes before joining them"


@RULES.function("numpy.concatenate", "numpy.concat")
def concatenate(operation: Operation) -> Answer:
    given = given_to(operation, 'arrays, axis=0, out=None, *, dtype=None, casting="same_kind"')
    if given is None or "out" in given:
        return UNKNOWN
    parts = given["arrays"]
    _is_list_of_arrays(operation)
    known, axis = axis_in(given.get("axis")) if "axis" in given else (True, 0)
    if not known or isinstance(axis, tuple):
        return UNCHANGED
    return _joined(operation, parts, lambda each: shapes.concatenate(each, axis))


def _is_list_of_arrays(operation: Operation) -> None:
    """np.concatenate(a, b): the second array is taken for the axis."""
    second = operation.arguments.positional[1:2]
    if second and (is_array(second[0]) or second[0].type == "list"):
        operation.crash(
            "TypeError",
            "the arrays must be passed in one list or tuple; the second argument is the axis",
            fact=describe(second[0]),
            remedy="put the arrays in parentheses: numpy.concatenate((a, b))",
        )


def _joined(operation: Operation, parts: AbstractValue, join: Callable[[Sequence[Shape]], Shape]) -> AbstractValue:
    """The result of joining the parts of a list. For a long list, only the kinds of parts may be known."""
    found = part_shapes(parts)
    if found is None:
        return AbstractValue()
    fact = (
        describe_all(parts.items)
        if parts.items
        else f"{parts.named('the list')} holds the shapes " + ", ".join(dict.fromkeys(map(shapes.shown, found)))
    )
    with crash_on_shape_mismatch(fact or f"{parts.named('the list')} is empty", _REMEDY):
        shape = join(found)
    if not is_whole_list(parts) or len(found) >= 1000:
        return AbstractValue(ARRAY)
    return array(shape, _common_dtype(parts))


def _common_dtype(parts: AbstractValue) -> str | None:
    if parts.items is None:
        return dtype_of(parts)
    dtypes = [dtype_of(item) for item in parts.items]
    known = [dtype for dtype in dtypes if dtype is not None]
    return promoted(*known) if known and len(known) == len(dtypes) else None


@RULES.function("numpy.stack")
def stack(operation: Operation) -> Answer:
    given = given_to(operation, 'arrays, axis=0, out=None, *, dtype=None, casting="same_kind"')
    if given is None or "out" in given:
        return UNKNOWN
    known, axis = axis_in(given["axis"]) if "axis" in given else (True, 0)
    if not known or type(axis) is not int:
        return UNCHANGED
    return _joined(operation, given["arrays"], lambda each: shapes.stack(each, axis))


def _stacking(join: Callable[[Sequence[Shape]], Shape]) -> Rule:
    def rule(operation: Operation) -> Answer:
        given = given_to(operation, 'tup, *, dtype=None, casting="same_kind"')
        if given is None and len(operation.arguments.positional) > 1 and not operation.arguments.keywords:
            operation.crash(
                "TypeError",
                "the arrays must be passed in one list or tuple",
                fact=f"{operation.text} passes {len(operation.arguments.positional)} arguments",
                remedy="put the arrays in parentheses: ((a, b))",
            )
        return _joined(operation, given["tup"], join) if given is not None and "tup" in given else UNCHANGED

    return rule


_STACKS: dict[str, Callable[[Sequence[Shape]], Shape]] = {
    "vstack": shapes.vstack,
    "row_stack": shapes.vstack,
    "hstack": shapes.hstack,
    "dstack": shapes.dstack,
    "column_stack": shapes.column_stack,
}
for _name, _join in _STACKS.items():
    RULES.function(f"numpy.{_name}")(_stacking(_join))


@RULES.function("numpy.append")
def append(operation: Operation) -> Answer:
    given = given_to(operation, "arr, values, axis=None")
    if given is None:
        return UNCHANGED
    pair = [given["arr"], given["values"]]
    found = [taken_shape(value) for value in pair]
    known, axis = axis_in(given.get("axis"))
    if not known or isinstance(axis, tuple) or found[0] is None or found[1] is None:
        return AbstractValue(ARRAY) if is_array(pair[0]) else UNCHANGED
    with crash_on_shape_mismatch(describe_all(pair), "give the values the same number of dimensions: values[None, :]"):
        shape = shapes.concatenate([shape for shape in found if shape is not None], axis)
    return array(shape, _of_two(*map(dtype_of, pair)))


def _of_two(left: str | None, right: str | None) -> str | None:
    return promoted(left, right) if left is not None and right is not None else None


@RULES.function("numpy.split")
def split(operation: Operation) -> Answer:
    given = given_to(operation, "ary, indices_or_sections, axis=0")
    if given is None:
        return UNCHANGED
    shape, n_parts = shape_of(given["ary"]), whole(given["indices_or_sections"])
    axis = whole(given["axis"]) if "axis" in given else 0
    if shape is None or n_parts is None or n_parts < 1 or axis is None:
        return AbstractValue("list")
    with crash_on_shape_mismatch(
        describe(given["ary"]), "use numpy.array_split, which returns parts of nearly equal length"
    ):
        parts = shapes.split(shape, n_parts, axis)
    dtype = dtype_of(given["ary"])
    return AbstractValue("list", items=[array(part, dtype) for part in parts])


@RULES.function("numpy.array_split")
def array_split(operation: Operation) -> Answer:
    given = given_to(operation, "ary, indices_or_sections, axis=0")
    n_parts = whole(given.get("indices_or_sections")) if given is not None else None
    if n_parts is None or n_parts < 1:
        return UNCHANGED
    return (
        AbstractValue("list", items=[AbstractValue(ARRAY) for _ in range(min(n_parts, 1000))])
        if n_parts < 1000
        else AbstractValue("list")
    )
