"""Reading and writing parts of arrays: ranges, the number of indices, masks, texts as indices, what fills a part."""

from __future__ import annotations

from collections.abc import Mapping
from types import EllipsisType

from crane_core.detectors.rules.families.numpy_things import (
    ARRAY,
    dtype_of,
    held_by,
    is_array,
    is_number,
    kind_of,
    misfits,
    refuse_read_only,
    scalar,
    shape_of,
    taken_shape,
    told,
    values_changed,
    view_of,
)
from crane_core.detectors.rules.family import ANY, Family
from crane_core.detectors.rules.shapes import Mask, Numbers, Part, Shape, Some, broadcast_to, index, size
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import NOT_KNOWN, Thing

RULES = Family("numpy: indices")
_REMEDY = "use an index within the shape of the array"


class UnknownIndexError(Exception):
    """The index is not known well enough."""


def parts_of(thing: Thing) -> list[Part]:
    """The parts of an index. Raises UnknownIndexError if one of them may be anything."""
    things = thing.items if thing.type == "tuple" and thing.items is not None else [thing]
    if thing.type == "tuple" and thing.items is None:
        raise UnknownIndexError
    return [_part(each) for each in things]


def _leading(thing: Thing) -> list[Part]:
    """The numbers and slices of an index before its first part that is not known: their axes are certain."""
    found: list[Part] = []
    for each in thing.items or () if thing.type == "tuple" else ():
        if each.type not in ("int", "slice"):
            break
        found.append(_part(each))
    return found


def _part(thing: Thing) -> Part:
    if thing.type == "slice":
        return _slice(thing)
    if thing.literal is None or thing.path == "numpy.newaxis":
        return None
    if thing.type == "ellipsis":
        return Ellipsis
    if thing.type == "int":
        return thing.literal if type(thing.literal) is int else Some.INTEGER
    if thing.is_a("numpy") and kind_of(thing.class_name) in ("i", "u"):
        return Some.INTEGER
    return _gathering(thing)


def _slice(thing: Thing) -> slice | Some:
    bounds = [item.literal for item in thing.items or []]
    if len(bounds) != 3 or any(bound is not None and type(bound) is not int for bound in bounds):
        return Some.SLICE
    return slice(*bounds) if bounds[2] != 0 else Some.SLICE


def _gathering(thing: Thing) -> Numbers | Mask:
    """A list or array as an index. Of an empty list NumPy makes numbers."""
    shape = taken_shape(thing)
    dtype = thing.fact("dtype") if thing.is_a("pandas", "Series") else dtype_of(thing)
    kind = kind_of(dtype) if isinstance(dtype, str) else None
    if not shape or kind not in ("b", "i", "u"):
        raise UnknownIndexError
    if kind == "b":
        return Mask(shape, _n_true(thing))
    return Numbers(shape, *_ends(thing, shape))


def _n_true(thing: Thing) -> int | None:
    values = thing.literal if thing.items is not None else thing.fact("items")
    return values.count(True) if isinstance(values, (list, tuple)) and _is_flat(values) else None


def _is_flat(values: list[object] | tuple[object, ...]) -> bool:
    return all(type(value) is bool for value in values)


def _ends(thing: Thing, shape: Shape) -> tuple[int | None, int | None]:
    values = thing.literal if thing.items is not None else None
    info = thing.fact("value_info")
    found = thing.fact("value_range") or (info.get("value_range") if isinstance(info, Mapping) else None)
    ends = [min(values), max(values)] if isinstance(values, (list, tuple)) and values and len(shape) == 1 else found
    if not isinstance(ends, (list, tuple)) or len(ends) != 2 or not size(shape):
        return None, None
    low, high = ends
    return (low, high) if type(low) is int and type(high) is int else (None, None)


@RULES.item(ARRAY)
def read(site: Site) -> Thing | None:
    receiver, asked = site.receiver or Thing(), site.first
    if (field := _field(site, receiver, asked)) is not None:
        return field
    _is_no_number(site, asked)
    _are_whole_bounds(site, receiver, asked)
    shape = shape_of(receiver)
    if shape is None or receiver.fact("fields"):
        return Thing()
    try:
        parts = parts_of(asked)
    except UnknownIndexError:
        with misfits(told(receiver), _REMEDY, exception="IndexError"):
            index(shape, *_leading(asked))
        return Thing()
    with misfits(told(receiver), _REMEDY, exception="IndexError"):
        found = index(shape, *parts)
    return _element(receiver, parts) if found == () else view_of(receiver, found)


def _element(receiver: Thing, parts: list[Part]) -> Thing:
    """A single element; of an array whose elements are told the value as a number of NumPy."""
    if any(isinstance(part, EllipsisType) for part in parts):
        return Thing()
    return Thing(held_by(receiver)) if held_by(receiver) else scalar(dtype_of(receiver))


def _field(site: Site, receiver: Thing, asked: Thing) -> Thing | None:
    """x["name"]: only an array with fields has names."""
    if asked.type != "str" or not is_array(receiver):
        return None
    fields, dtype = receiver.fact("fields"), dtype_of(receiver)
    if isinstance(fields, list) and isinstance(asked.literal, str):
        if asked.literal in fields:
            return view_of(Thing(ARRAY), shape_of(receiver))
        site.crash(
            "ValueError",
            f"no field of name {asked.literal!r}",
            fact=f"{receiver.words or 'the array'} has the fields {', '.join(fields)}",
            remedy="use one of its fields",
        )
    if kind_of(dtype) in (None, "V"):
        return Thing()
    return site.crash(
        "IndexError",
        "only integers, slices, ellipsis, numpy.newaxis and integer or boolean arrays are valid indices",
        fact=told(receiver),
        remedy="use the number of the column, or keep the data in a DataFrame",
    )


def fraction_in(asked: Thing) -> Thing | None:
    """A bound of a slice, or of one among several indices, that is a fraction by its type."""
    parts = asked.items if asked.type == "tuple" and asked.items is not None else [asked]
    bounds = [bound for part in parts if part.type == "slice" for bound in part.items or ()]
    return next((bound for bound in bounds if bound.type in ("float", "numpy.float64", "numpy.float32")), None)


def _are_whole_bounds(site: Site, receiver: Thing, asked: Thing) -> None:
    shape = shape_of(receiver)
    n_parts = len(asked.items) if asked.type == "tuple" and asked.items is not None else 1
    if (bound := fraction_in(asked)) is None or shape is None or len(shape) < n_parts:
        return
    site.crash(
        "TypeError",
        "slice indices must be integers or None or have an __index__ method",
        fact=f"{bound.words or 'a bound'} is a {bound.type}",
        remedy="convert it: int(...), or divide with // instead of /",
    )


def _is_no_number(site: Site, asked: Thing) -> None:
    parts = asked.items if asked.type == "tuple" and asked.items is not None else [asked]
    for part in parts:
        if part.type in ("float", "dict") or part.is_a("numpy", "float64", "float32", "float16"):
            site.crash(
                "IndexError",
                f"only integers, slices and integer or boolean arrays are valid indices, not "
                f"{part.class_name or part.type}",
                fact=f"the index is {part.literal!r}"
                if part.is_literal
                else f"{part.words or site.text} is not an integer",
                remedy="convert it to an integer: int(...), or use // instead of /",
            )


@RULES.set_item(ARRAY)
def write(site: Site) -> Thing | None:
    receiver = site.receiver or Thing()
    if len(site.arguments.positional) != 2:
        return None
    asked, value = site.arguments.positional
    refuse_read_only(site, receiver, "assignment destination is read-only")
    if asked.type == "str":
        _field(site, receiver, asked)
    _is_no_number(site, asked)
    _are_whole_bounds(site, receiver, asked)
    shape = shape_of(receiver)
    try:
        parts = parts_of(asked)
    except UnknownIndexError:
        values_changed(site, receiver)
        return Thing()
    if shape is not None and not receiver.fact("fields"):
        with misfits(told(receiver), _REMEDY, exception="IndexError"):
            target = index(shape, *parts)
        _fills(site, receiver, target, value)
    values_changed(site, receiver)
    return Thing()


@RULES.attribute(ARRAY, "flags")
def flags(site: Site) -> Thing | None:
    """Code that takes the flags may make the array writeable by them."""
    (site.receiver or Thing()).facts.pop("writeable", None)
    return None


def _fills(site: Site, receiver: Thing, target: Shape, value: Thing) -> None:
    """What is written has a shape that fills the part, and is of a kind that the array holds."""
    kind = kind_of(dtype_of(receiver))
    if kind is None or kind in "OV":
        return
    shape = taken_shape(value)
    if shape is not None and size(target) != 0:
        remedy = "assign as many values as there are elements, or use a longer array"
        with misfits(f"{told(receiver)}; {told(value, 'the value')}", remedy):
            broadcast_to(shape, target)
    if kind in "biuf" and value.type == "str" and isinstance(value.literal, str) and size(target):
        _reads_as_number(site, receiver, value.literal, kind)
    if kind in "iu" and value.literal is not NOT_KNOWN and value.literal != value.literal and size(target):
        site.crash(
            "ValueError",
            "cannot convert float NaN to integer",
            fact=told(receiver),
            remedy="convert the array to float first: .astype(float)",
        )
    if kind in "iu" and value.literal is None and size(target):
        site.crash(
            "TypeError",
            "int() argument must not be NoneType",
            fact=told(receiver),
            remedy="assign a number, or create the array with dtype=object",
        )


def _reads_as_number(site: Site, receiver: Thing, text: str, kind: str) -> None:
    if kind == "b":
        return
    try:
        (int if kind in "iu" else float)(text)
    except ValueError:
        site.crash(
            "ValueError",
            f"could not convert string to float: {text!r}",
            fact=told(receiver),
            remedy="assign a number, or create the array with dtype=object",
        )


@RULES.element(ARRAY)
def first_part(site: Site) -> Thing | None:
    receiver = site.receiver or Thing()
    shape = shape_of(receiver)
    if shape is None:
        return Thing()
    if not shape:
        return site.crash(
            "TypeError",
            "iteration over a 0-d array",
            fact=told(receiver),
            remedy="get its value with .item()",
        )
    if not shape[0]:
        return Thing()
    return _element(receiver, []) if len(shape) == 1 else view_of(receiver, shape[1:])


@RULES.truth(ARRAY)
def truth(site: Site) -> Thing | None:
    receiver = site.receiver or Thing()
    shape = shape_of(receiver)
    least = size(shape) if shape is not None else None
    if least is not None and least > 1:
        _is_ambiguous(site, receiver)
    return Thing()


def _is_ambiguous(site: Site, subject: Thing) -> None:
    site.crash(
        "ValueError",
        "The truth value of an array with more than one element is ambiguous",
        fact=told(subject),
        remedy="use .any() or .all(), or combine masks with & and |",
    )


@RULES.function("builtins.bool")
def asked_for_truth(site: Site) -> Thing | None:
    subject = site.first
    shape = shape_of(subject)
    least = size(shape) if is_array(subject) and shape is not None else None
    if least is not None and least > 1:
        _is_ambiguous(site, subject)
    return None


@RULES.item(f"numpy.{ANY}")
def of_number(site: Site) -> Thing | None:
    index = site.first
    parts = index.items if index.type == "tuple" else [index]
    is_element = parts is not None and any(part.type in ("int", "str", "slice", "float") for part in parts)
    if _is_single(site.receiver) and is_element:
        site.crash(
            "IndexError",
            "invalid index to scalar variable",
            fact=f"{site.receiver.words or 'the value'} is a {site.receiver.type}" if site.receiver else "",
            remedy="remove the index, or index the array that the number came from",
        )
    return None


def _is_single(thing: Thing | None) -> bool:
    return thing is not None and is_number(thing) and thing.package == "numpy"


@RULES.element(f"numpy.{ANY}")
def through_number(site: Site) -> Thing | None:
    return _without_parts(site, "iterated") if _is_single(site.receiver) else None


@RULES.function("builtins.len")
def length_of_number(site: Site) -> Thing | None:
    return _without_parts(site, "counted") if _is_single(site.first) else None


def _without_parts(site: Site, verb: str) -> Thing | None:
    return site.crash(
        "TypeError",
        f"a NumPy scalar cannot be {verb}",
        fact=f"{site.text} is a NumPy scalar",
        remedy="put it in a list: [x], or use the array that it came from",
    )
