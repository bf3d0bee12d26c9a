"""Arrays made of several others, and several made of one: concatenate, stack, append, split."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.families.numpy_things import (
    ARRAY,
    all_told,
    array,
    axis_in,
    dtype_of,
    given_to,
    is_array,
    is_whole_list,
    misfits,
    part_shapes,
    promoted,
    shape_of,
    taken_shape,
    told,
    whole,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.shapes import Shape
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("numpy: joining and splitting")
_REMEDY = "give the arrays matching shapes before joining them"


@RULES.function("numpy.concatenate", "numpy.concat")
def concatenate(site: Site) -> Thing | None:
    given = given_to(site, 'arrays, axis=0, out=None, *, dtype=None, casting="same_kind"')
    if given is None or "arrays" not in given or "out" in given:
        return None
    parts = given["arrays"]
    _is_list_of_arrays(site)
    known, axis = axis_in(given.get("axis")) if "axis" in given else (True, 0)
    if not known or isinstance(axis, tuple):
        return Thing()
    return _joined(site, parts, lambda each: shapes.concatenate(each, axis))


def _is_list_of_arrays(site: Site) -> None:
    """np.concatenate(a, b): the second array is taken for the axis."""
    second = site.arguments.positional[1:2]
    if second and (is_array(second[0]) or second[0].type == "list"):
        site.crash(
            "TypeError",
            "the arrays must be passed in one list or tuple; the second argument is the axis",
            fact=told(second[0]),
            remedy="put the arrays in parentheses: numpy.concatenate((a, b))",
        )


def _joined(site: Site, parts: Thing, join: Callable[[Sequence[Shape]], Shape]) -> Thing:
    """The result of joining the parts of a list. For a long list, only the kinds of parts may be known."""
    found = part_shapes(parts)
    if found is None:
        return Thing()
    fact = (
        all_told(parts.items)
        if parts.items
        else f"{parts.words or 'the list'} holds the shapes " + ", ".join(dict.fromkeys(map(shapes.shown, found)))
    )
    with misfits(fact or f"{parts.words or 'the list'} is empty", _REMEDY):
        shape = join(found)
    if not is_whole_list(parts) or len(found) >= 1000:
        return Thing(ARRAY)
    return array(shape, _common_dtype(parts))


def _common_dtype(parts: Thing) -> str | None:
    if parts.items is None:
        return dtype_of(parts)
    dtypes = [dtype_of(item) for item in parts.items]
    known = [dtype for dtype in dtypes if dtype is not None]
    return promoted(*known) if known and len(known) == len(dtypes) else None


@RULES.function("numpy.stack")
def stack(site: Site) -> Thing | None:
    given = given_to(site, 'arrays, axis=0, out=None, *, dtype=None, casting="same_kind"')
    if given is None or "arrays" not in given or "out" in given:
        return None
    known, axis = axis_in(given["axis"]) if "axis" in given else (True, 0)
    if not known or type(axis) is not int:
        return Thing()
    return _joined(site, given["arrays"], lambda each: shapes.stack(each, axis))


def _stacking(join: Callable[[Sequence[Shape]], Shape]) -> Callable[[Site], Thing | None]:
    def rule(site: Site) -> Thing | None:
        given = given_to(site, 'tup, *, dtype=None, casting="same_kind"')
        if given is None and len(site.arguments.positional) > 1 and not site.arguments.keywords:
            site.crash(
                "TypeError",
                "the arrays must be passed in one list or tuple",
                fact=f"{site.text} passes {len(site.arguments.positional)} arguments",
                remedy="put the arrays in parentheses: ((a, b))",
            )
        return _joined(site, given["tup"], join) if given is not None and "tup" in given else Thing()

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
def append(site: Site) -> Thing | None:
    given = given_to(site, "arr, values, axis=None")
    if given is None or not {"arr", "values"} <= given.keys():
        return Thing()
    pair = [given["arr"], given["values"]]
    found = [taken_shape(thing) for thing in pair]
    known, axis = axis_in(given.get("axis"))
    if not known or isinstance(axis, tuple) or found[0] is None or found[1] is None:
        return Thing(ARRAY) if is_array(pair[0]) else Thing()
    with misfits(all_told(pair), "give the values the same number of dimensions: values[None, :]"):
        shape = shapes.concatenate([shape for shape in found if shape is not None], axis)
    return array(shape, _of_two(*map(dtype_of, pair)))


def _of_two(left: str | None, right: str | None) -> str | None:
    return promoted(left, right) if left is not None and right is not None else None


@RULES.function("numpy.split")
def split(site: Site) -> Thing | None:
    given = given_to(site, "ary, indices_or_sections, axis=0")
    if given is None or not {"ary", "indices_or_sections"} <= given.keys():
        return Thing()
    shape, n_parts = shape_of(given["ary"]), whole(given["indices_or_sections"])
    axis = whole(given["axis"]) if "axis" in given else 0
    if shape is None or n_parts is None or n_parts < 1 or axis is None:
        return Thing("list")
    with misfits(told(given["ary"]), "use numpy.array_split, which returns parts of nearly equal length"):
        parts = shapes.split(shape, n_parts, axis)
    dtype = dtype_of(given["ary"])
    return Thing("list", items=[array(part, dtype) for part in parts])


@RULES.function("numpy.array_split")
def array_split(site: Site) -> Thing | None:
    given = given_to(site, "ary, indices_or_sections, axis=0")
    n_parts = whole(given.get("indices_or_sections")) if given is not None else None
    if n_parts is None or n_parts < 1:
        return Thing()
    return Thing("list", items=[Thing(ARRAY) for _ in range(min(n_parts, 1000))]) if n_parts < 1000 else Thing("list")
