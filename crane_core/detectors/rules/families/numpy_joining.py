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
    given_to,
    is_array,
    is_whole_list,
    part_shapes,
)
from crane_core.detectors.rules.family import Family
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
    return array(shape)


@RULES.function("numpy.stack")
def stack(operation: Operation) -> Answer:
    given = given_to(operation, 'arrays, axis=0, out=None, *, dtype=None, casting="same_kind"')
    if given is None or "out" in given:
        return UNKNOWN
    known, axis = axis_in(given["axis"]) if "axis" in given else (True, 0)
    if not known or type(axis) is not int:
        return UNCHANGED
    return _joined(operation, given["arrays"], lambda each: shapes.stack(each, axis))
