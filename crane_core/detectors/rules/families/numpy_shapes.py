"""The same elements in another shape, fewer axes, more: reshape, transpose, squeeze, sums and means along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.families.numpy_things import (
    ARRAY,
    array,
    axis_in,
    called,
    dtype_meant,
    dtype_of,
    given_to,
    held_by,
    is_array,
    is_none,
    kind_of,
    lengths_in,
    literal_of,
    misfits,
    shape_of,
    subject_of,
    told,
    view_of,
    whole,
)
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.shapes import Shape, size
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("numpy: shapes and axes")
_AXIS: Final = "axes are numbered from 0: use an axis of the array"


def _reshaped(site: Site, subject: Thing, wanted: Shape | None) -> Thing:
    shape = shape_of(subject)
    if shape is None or wanted is None:
        return Thing(ARRAY) if is_array(subject) else Thing()
    with misfits(told(subject), f"its {size(shape)} elements need lengths with that product; -1 computes one of them"):
        found = shapes.reshape(shape, wanted)
    return view_of(subject, found) if is_array(subject) else array(found, dtype_of(subject))


@RULES.method(ARRAY, "reshape")
def reshape_method(site: Site) -> Thing | None:
    given, extra = site.arguments, set(site.arguments.keywords) - {"order", "copy"}
    if not given.is_complete or extra or not given.positional:
        return Thing()
    things = given.positional
    wanted = lengths_in(things[0]) if len(things) == 1 else _one_by_one(things)
    return _reshaped(site, subject_of(site), wanted)


def _one_by_one(things: Sequence[Thing]) -> Shape | None:
    return None if any(thing.type not in ("int", "") for thing in things) else tuple(map(whole, things))


@RULES.function("numpy.reshape")
def reshape_function(site: Site) -> Thing | None:
    given = given_to(site, "a, shape=None, order='C', *, newshape=None, copy=None")
    if given is None or not {"a", "shape"} <= given.keys():
        return Thing()
    return _reshaped(site, given["a"], lengths_in(given["shape"]))


@RULES.method(ARRAY, "ravel", "flatten")
def flat_method(site: Site) -> Thing | None:
    subject = subject_of(site)
    shape = shape_of(subject)
    return view_of(subject, shapes.flatten(shape)) if shape is not None else Thing(ARRAY)


@RULES.function("numpy.ravel")
def flat_function(site: Site) -> Thing | None:
    shape = shape_of(site.first)
    if shape is None or len(site.arguments.positional) != 1:
        return Thing()
    return array(shapes.flatten(shape), dtype_of(site.first))


def _moved(
    parameters: str, change: Callable[[Shape, dict[str, Thing]], Shape | None]
) -> Callable[[Site], Thing | None]:
    """A function or method that gives the array with other axes; `change` gives None if it is not known how."""

    def rule(site: Site) -> Thing | None:
        given = given_to(site, parameters)
        if given is None or "a" not in given:
            return Thing()
        subject = given["a"]
        shape = shape_of(subject)
        if shape is None:
            return Thing(ARRAY) if is_array(subject) else Thing()
        with misfits(told(subject), _AXIS):
            found = change(shape, given)
        return view_of(subject, found) if is_array(subject) else array(found, dtype_of(subject))

    return rule


def _numbers(given: dict[str, Thing], *names: str) -> list[int] | None:
    found = [whole(given.get(name)) for name in names]
    known = [number for number in found if number is not None]
    return known if len(known) == len(found) else None


def _swap(shape: Shape, given: dict[str, Thing]) -> Shape | None:
    axes = _numbers(given, "axis1", "axis2")
    return shapes.swapaxes(shape, *axes) if axes is not None else None


def _move(shape: Shape, given: dict[str, Thing]) -> Shape | None:
    axes = _numbers(given, "source", "destination")
    return shapes.moveaxis(shape, *axes) if axes is not None else None


def _expand(shape: Shape, given: dict[str, Thing]) -> Shape | None:
    axes = _numbers(given, "axis")
    return shapes.expand_dims(shape, axes[0]) if axes is not None else None


def _squeeze(shape: Shape, given: dict[str, Thing]) -> Shape | None:
    known, axis = axis_in(given.get("axis"))
    if not known:
        return None
    return shapes.squeeze(shape, (axis,) if isinstance(axis, int) else axis)


for _name, _parameters, _change in (
    ("swapaxes", "a, axis1, axis2", _swap),
    ("squeeze", "a, axis=None", _squeeze),
):
    RULES.function(f"numpy.{_name}")(_moved(_parameters, _change))
    RULES.method(ARRAY, _name)(_moved(_parameters, _change))
RULES.function("numpy.moveaxis")(_moved("a, source, destination", _move))
RULES.function("numpy.expand_dims")(_moved("a, axis", _expand))


@RULES.method(ARRAY, "transpose")
def transpose_method(site: Site) -> Thing | None:
    subject, given = subject_of(site), site.arguments
    shape = shape_of(subject)
    if shape is None or given.keywords or not given.is_complete:
        return Thing(ARRAY)
    things = given.positional
    if not things or is_none(things[0]):
        return view_of(subject, shapes.transpose(shape))
    axes = lengths_in(things[0]) if len(things) == 1 else _one_by_one(things)
    return _transposed(subject, shape, axes)


def _transposed(subject: Thing, shape: Shape, axes: Shape | None) -> Thing:
    known = [axis for axis in axes or () if axis is not None]
    if axes is None or len(known) < len(axes):
        return view_of(subject, (None,) * len(shape))
    with misfits(told(subject), "list each axis of the array once"):
        return view_of(subject, shapes.transpose(shape, known))


@RULES.function("numpy.transpose")
def transpose_function(site: Site) -> Thing | None:
    given = given_to(site, "a, axes=None")
    if given is None or "a" not in given or not is_array(given["a"]):
        return Thing()
    shape = shape_of(given["a"])
    if shape is None:
        return Thing(ARRAY)
    if is_none(given.get("axes")):
        return view_of(given["a"], shapes.transpose(shape))
    return _transposed(given["a"], shape, lengths_in(given["axes"]))


# Along an axis

_TO_FLOAT: Final = ("mean", "std", "var", "nanmean", "nanstd", "nanvar", "median", "nanmedian", "average")
_TO_BOOL: Final = ("any", "all")
_TO_INDEX: Final = ("argmax", "argmin", "nanargmax", "nanargmin", "count_nonzero")
_SAME: Final = ("max", "min", "amax", "amin", "nanmax", "nanmin", "ptp")
_SUMS: Final = ("sum", "prod", "nansum", "nanprod")
_METHODS: Final = ("sum", "prod", "mean", "std", "var", "max", "min", "any", "all", "argmax", "argmin")
_NEED_ONE: Final = (
    "max",
    "min",
    "amax",
    "amin",
    "nanmax",
    "nanmin",
    "ptp",
    "argmax",
    "argmin",
    "nanargmax",
    "nanargmin",
)
_PARAMETERS: Final = "a, axis=None, dtype=None, out=None, keepdims=False, *, initial=None, where=None, ddof=0"
_OF_NAME: Final = {
    **dict.fromkeys(("argmax", "argmin"), "a, axis=None, out=None, *, keepdims=False"),
    **dict.fromkeys(("nanargmax", "nanargmin"), "a, axis=None, out=None, *, keepdims=False"),
    **dict.fromkeys(("max", "min", "amax", "amin", "ptp"), "a, axis=None, out=None, keepdims=False, initial=None"),
    **dict.fromkeys(("nanmax", "nanmin", "any", "all"), "a, axis=None, out=None, keepdims=False, *, initial=None"),
    **dict.fromkeys(("median", "nanmedian"), "a, axis=None, out=None, overwrite_input=False, keepdims=False"),
    "average": "a, axis=None, weights=None, returned=False, *, keepdims=False",
    "count_nonzero": "a, axis=None, *, keepdims=False",
}


def _reduction(name: str) -> Callable[[Site], Thing | None]:
    def rule(site: Site) -> Thing | None:
        given = given_to(site, _OF_NAME.get(name, _PARAMETERS))
        if given is None or "a" not in given or {"out", "weights", "returned"} & given.keys():
            return Thing() if given is not None and "out" not in given else None
        return _reduced(site, name, given)

    return rule


def _reduced(site: Site, name: str, given: dict[str, Thing]) -> Thing:
    subject = given["a"]
    shape = shape_of(subject)
    if shape is None:
        return Thing()
    _is_of_numbers(site, name, subject)
    known, axis = axis_in(given.get("axis"))
    keepdims = literal_of(given.get("keepdims"), default=False)
    if not known:
        return Thing()
    with misfits(told(subject), _AXIS):
        found = shapes.reduce(shape, axis, keepdims=keepdims is True)
    if name in _NEED_ONE and size(shape) == 0 and size(found) != 0 and "initial" not in given:
        site.crash(
            "ValueError",
            f"zero-size array to reduction operation {name} which has no identity",
            fact=told(subject),
            remedy="check first that the array is not empty: if x.size",
        )
    dtype = _dtype_after(name, dtype_of(subject), given)
    return array(found, dtype) if type(keepdims) is bool else Thing()


def _dtype_after(name: str, dtype: str | None, given: dict[str, Thing]) -> str | None:
    kind = kind_of(dtype)
    if "dtype" in given:
        return dtype_meant(given["dtype"])
    if name in _TO_BOOL:
        return "bool" if kind in tuple("biuf") else None
    if name in _TO_INDEX:
        return "int64" if name != "count_nonzero" else None
    if name in _TO_FLOAT:
        return dtype if kind == "f" else "float64" if kind in tuple("biu") else None
    if name in _SUMS:
        return dtype if kind == "f" or dtype in ("int64", "uint64") else None
    return dtype if kind in tuple("biuf") and (name != "ptp" or kind != "b") else None


def _is_of_numbers(site: Site, name: str, subject: Thing) -> None:
    shape = shape_of(subject)
    if name in ("mean", "std", "var", "sum", "prod") and kind_of(dtype_of(subject)) == "U" and shape and size(shape):
        site.crash(
            "TypeError" if is_at_least(site, "numpy", 2, 0) else "UFuncTypeError",
            f"cannot compute {name} of strings",
            fact=told(subject),
            remedy="convert the strings to numbers first: .astype(float)",
        )


for _name in (*_TO_FLOAT, *_TO_BOOL, *_TO_INDEX, *_SAME, *_SUMS):
    RULES.function(f"numpy.{_name}")(_reduction(_name))
    if _name in _METHODS:
        RULES.method(ARRAY, _name)(_reduction(_name))


def _running(name: str) -> Callable[[Site], Thing | None]:
    """cumsum and the like: with no axis the array is read as one line; sorting takes the last axis."""

    def rule(site: Site) -> Thing | None:
        given = given_to(site, "a, axis=None, dtype=None, out=None, *, kind=None, order=None, stable=None")
        if given is None or "a" not in given or "out" in given:
            return Thing()
        subject = given["a"]
        shape = shape_of(subject)
        known, axis = axis_in(given.get("axis")) if "axis" in given else (True, None if "sort" not in name else -1)
        if shape is None or not known or isinstance(axis, tuple):
            return Thing()
        if axis is None:
            return array(shapes.flatten(shape), None)
        if shape:
            with misfits(told(subject), _AXIS):
                shapes.axis_of(axis, len(shape))
        return array(shape, "int64" if name == "argsort" else dtype_of(subject) if name == "sort" else None)

    return rule


for _name in ("cumsum", "cumprod", "sort", "argsort"):
    RULES.function(f"numpy.{_name}")(_running(_name))
    if _name != "sort":
        RULES.method(ARRAY, _name)(_running(_name))


@RULES.function("numpy.percentile", "numpy.quantile", "numpy.nanpercentile", "numpy.nanquantile")
def percentile(site: Site) -> Thing | None:
    given = given_to(site, "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False")
    if given is None or not {"a", "q"} <= given.keys() or set(given) - {"a", "q", "axis", "method"}:
        return Thing()
    shape, wanted = shape_of(given["a"]), shape_of(given["q"])
    known, axis = axis_in(given.get("axis"))
    if shape is None or wanted is None or not known:
        return Thing()
    with misfits(told(given["a"]), _AXIS):
        return array((*wanted, *shapes.reduce(shape, axis)), None)


# What an array says of itself


@RULES.attribute(ARRAY, "shape", "ndim", "size", "T", "dtype", "flat", "real", "imag", "nbytes", "itemsize")
def attribute(site: Site) -> Thing | None:
    subject = site.receiver or Thing()
    shape = shape_of(subject)
    if site.name in ("nbytes", "itemsize"):
        return Thing("int")
    if site.name == "dtype":
        return Thing("", {"dtype": dtype_of(subject)} if dtype_of(subject) else {}, words=f"{subject.words}.dtype")
    if shape is None:
        return Thing(ARRAY) if site.name == "T" else Thing("int") if site.name in ("ndim", "size") else Thing()
    if site.name == "shape":
        lengths = [Thing("int") if length is None else _number(length) for length in shape]
        return Thing("tuple", items=lengths, words=f"{subject.words or 'the array'}.shape")
    if site.name == "T":
        return view_of(subject, shapes.transpose(shape))
    number = len(shape) if site.name == "ndim" else size(shape)
    if site.name in ("ndim", "size"):
        return _number(number) if number is not None else Thing("int")
    return Thing()


def _number(value: int) -> Thing:
    return Thing("int", literal=value)


@RULES.function("builtins.len")
def length(site: Site) -> Thing | None:
    subject = site.first
    if not is_array(subject):
        return None
    shape = shape_of(subject)
    if shape is None:
        return Thing("int")
    if not shape:
        return site.crash(
            "TypeError",
            "len() of unsized object",
            fact=told(subject),
            remedy="get its value with .item()",
        )
    return Thing("int") if shape[0] is None else _number(shape[0])


@RULES.other("length", ARRAY)
def number_of_parts(site: Site) -> Thing | None:
    shape = shape_of(site.receiver or Thing())
    return _number(shape[0]) if shape and shape[0] is not None else None


_LISTED: Final = 100
"""Parts of an array that are told one by one."""


@RULES.function("builtins.list", "builtins.tuple")
def listed(site: Site) -> Thing | None:
    """A list of the parts along the first axis."""
    if len(site.arguments.positional) != 1 or not is_array(site.first):
        return None
    found = _parts(site.first)
    return Thing(called(site), items=found.items) if found is not None else Thing(called(site))


@RULES.other("elements", ARRAY)
def all_parts(site: Site) -> Thing | None:
    return _parts(site.receiver or Thing())


def _parts(subject: Thing) -> Thing | None:
    shape = shape_of(subject)
    if not shape or shape[0] is None or shape[0] > _LISTED:
        return None
    held = held_by(subject)
    return Thing("list", items=[_part(subject, shape, held) for _ in range(shape[0])])


def _part(subject: Thing, shape: Shape, held: str) -> Thing:
    return Thing(held) if held and len(shape) == 1 else view_of(subject, shape[1:])


@RULES.function("numpy.shape", "numpy.ndim", "numpy.size")
def asked_of_function(site: Site) -> Thing | None:
    return Thing()


@RULES.method(ARRAY, "item")
def item(site: Site) -> Thing | None:
    subject = site.receiver or Thing()
    shape = shape_of(subject)
    count = size(shape) if shape is not None else None
    if site.arguments.positional or count in (None, 1):
        return Thing()
    return site.crash(
        "ValueError",
        "only length-1 arrays can be converted to Python scalars",
        fact=told(subject),
        remedy="select one element by its index, or use .tolist()",
    )


@RULES.method(ARRAY, "tolist")
def tolist(site: Site) -> Thing | None:
    subject = site.receiver or Thing()
    shape = shape_of(subject)
    if not shape or len(shape) != 1 or shape[0] is None:
        return Thing("list") if shape else Thing()
    return Thing("list", {"length": shape[0]})


@RULES.method(ARRAY, "copy")
def copy(site: Site) -> Thing | None:
    subject = site.receiver or Thing()
    facts = {name: fact for name, fact in subject.facts.items() if name not in ("view_of", "writeable")}
    return Thing(ARRAY, facts)


@RULES.function("numpy.copy")
def copy_function(site: Site) -> Thing | None:
    shape = shape_of(site.first)
    if shape is None:
        return Thing()
    return array(shape, dtype_of(site.first)) if is_array(site.first) else Thing()
