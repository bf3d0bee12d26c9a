"""What plotting functions ask of their data: x and y of one length, images of two dimensions, labels for each tick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from crane_core.detectors.rules.families.numpy_things import (
    all_told,
    dtype_of,
    is_array,
    is_none,
    is_number,
    kind_of,
    taken_shape,
    told,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.shapes import Length, MisfitError, Shape, broadcast, shown, size
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("matplotlib: data")
_ONE_LENGTH: Final = "pass x and y with the same number of values"


def plotting(*names: str) -> Callable[[Rule], Rule]:
    """Methods of axes, and the functions of pyplot by the same names."""

    def registered(rule: Rule) -> Rule:
        RULES.function(*(f"matplotlib.pyplot.{name}" for name in names))(rule)
        return RULES.method("matplotlib.Axes", *names)(rule)

    return registered


def _line(thing: Thing) -> Shape | None:
    """The shape of data, a single number as one value; None for texts and what is not known."""
    if thing.type == "str":
        return None
    shape = taken_shape(thing)
    return (1,) if shape == () else shape


@plotting("plot", "step", "semilogx", "semilogy", "loglog")
def plot(site: Site) -> Thing | None:
    given = site.arguments
    if not given.is_complete or "data" in given.keywords:
        return Thing()
    _knows_keywords(site, "plot", _NOT_OF_LINES)
    rest = list(given.positional)
    while len(rest) >= 2:
        first, second = rest[0], rest[1]
        if not first.type or not second.type or first.type == "str":
            return Thing()
        if second.type == "str":
            rest = rest[2:]
            continue
        _of_one_length(site, first, second)
        rest = rest[3:] if len(rest) > 2 and rest[2].type == "str" else rest[2:]
        if rest and not rest[0].type:
            return Thing()
    return Thing()


_NOT_OF_LINES: Final = ("colour", "colors", "size", "s", "bins", "edgecolor", "cmap", "hue", "line_width", "linewidths")
_NOT_OF_POINTS: Final = ("markersize", "colour", "size", "bins", "hue", "ms", "markeredgecolor")


def _knows_keywords(site: Site, name: str, unknown: Sequence[str]) -> None:
    for keyword in site.arguments.keywords:
        if keyword in unknown:
            site.crash(
                "AttributeError",
                f"{name} has no property {keyword!r}",
                fact=f"{keyword}= is given",
                remedy="remove it, or use the property's full name (color, linewidth, markersize, s)",
            )


def _of_one_length(site: Site, x: Thing, y: Thing) -> None:
    shapes = _line(x), _line(y)
    if not shapes[0] or not shapes[1]:
        return
    if None not in (shapes[0][0], shapes[1][0]) and shapes[0][0] != shapes[1][0]:
        site.crash(
            "ValueError",
            f"x and y must have the same first dimension, but have shapes {shown(shapes[0])} and {shown(shapes[1])}",
            fact=all_told([x, y], "the data"),
            remedy=_ONE_LENGTH,
        )


@plotting("scatter")
def scatter(site: Site) -> Thing | None:
    given = site.arguments.bound("x, y, s=None, c=None, marker=None, cmap=None, norm=None, vmin=None, **kwargs")
    if given is None or not {"x", "y"} <= given.keys() or "data" in given:
        return Thing()
    sizes = [size(shape) if (shape := _line(given[name])) is not None else None for name in ("x", "y")]
    if None not in sizes and sizes[0] != sizes[1]:
        site.crash(
            "ValueError",
            "x and y must be the same size",
            fact=all_told([given["x"], given["y"]], "the data"),
            remedy=_ONE_LENGTH,
        )
    _knows_keywords(site, "scatter", _NOT_OF_POINTS)
    count = sizes[0] if sizes[0] is not None else sizes[1]
    _one_for_each(site, given, count)
    return Thing()


def _one_for_each(site: Site, given: dict[str, Thing], count: Length) -> None:
    for name in ("c", "s"):
        thing = given.get(name)
        shape = taken_shape(thing) if thing is not None and not is_none(thing) else None
        if thing is None or shape is None or len(shape) != 1 or None in (shape[0], count) or shape[0] == count:
            continue
        is_number = thing.is_a("pandas", "Series") and kind_of(thing.fact("dtype")) in tuple("iuf")
        is_number = is_number or kind_of(dtype_of(thing)) in tuple("iuf")
        if is_number and shape[0] not in ((1,) if name == "s" else (0, 1, 3, 4)):
            site.crash(
                "ValueError",
                f"{name} has {shape[0]} values for {count} points",
                fact=told(thing, name),
                remedy="pass one value per point, or one for all",
            )


def _meeting(*names: str) -> Rule:
    """Data that meet as arrays do: one value stands for all."""

    def rule(site: Site) -> Thing | None:
        given = site.arguments.bound(f"{', '.join(names)}, **kwargs")
        if given is None or not set(names[:2]) <= given.keys() or "data" in given:
            return Thing()
        things = [given[name] for name in names if name in given]
        shapes = [shape for thing in things if (shape := _line(thing)) is not None]
        try:
            broadcast(*shapes)
        except MisfitError:
            site.crash(
                "ValueError",
                f"{' and '.join(names[:2])} have different lengths",
                fact=all_told(things, "the data"),
                remedy=_ONE_LENGTH,
            )
        return Thing()

    return rule


plotting("bar")(_meeting("x", "height"))
plotting("barh")(_meeting("y", "width"))
plotting("fill_between")(_meeting("x", "y1"))


@plotting("stem")
def stem(site: Site) -> Thing | None:
    given = site.arguments
    if given.is_complete and "data" not in given.keywords and len(given.positional) == 2:
        _of_one_length(site, *given.positional)
    return Thing()


@plotting("errorbar")
def errorbar(site: Site) -> Thing | None:
    given = site.arguments.bound("x, y, yerr=None, xerr=None, fmt='', **kwargs")
    if given is None or not {"x", "y"} <= given.keys() or "data" in given:
        return Thing()
    lengths = [shape[0] if (shape := _line(given[name])) and len(shape) == 1 else None for name in ("x", "y")]
    if None not in lengths and lengths[0] != lengths[1]:
        site.crash(
            "ValueError",
            "x and y must have the same size",
            fact=all_told([given["x"], given["y"]], "the data"),
            remedy=_ONE_LENGTH,
        )
    errors = taken_shape(given["yerr"]) if not is_none(given.get("yerr")) else None
    if errors and len(errors) == 1 and None not in (errors[0], lengths[1]) and errors[0] not in (1, lengths[1]):
        site.crash(
            "ValueError",
            f"there are {errors[0]} errors for {lengths[1]} values",
            fact=all_told([given["y"], given["yerr"]], "the data"),
            remedy="pass one error per value",
        )
    return Thing()


@plotting("imshow")
def imshow(site: Site) -> Thing | None:
    given = site.arguments.bound("X, cmap=None, **kwargs")
    image = given.get("X") if given is not None else None
    if image is None or not (is_array(image) or image.type == "list" or _is_plain_tensor(image)):
        return Thing()
    shape = taken_shape(image) if not image.is_a("torch", "Tensor") else image.fact("shape")
    if not isinstance(shape, tuple) or not _is_no_image(shape):
        return Thing()
    return site.crash(
        "TypeError",
        f"Invalid shape {shown(shape)} for image data; valid are (rows, columns) and (rows, columns, 3 or 4)",
        fact=told(image, "the image") if not image.is_a("torch") else f"{image.words} has the shape {shown(shape)}",
        remedy="change the shape: select one image, squeeze, or move the channels to the end",
    )


def _is_plain_tensor(image: Thing) -> bool:
    return image.is_a("torch", "Tensor") and image.fact("requires_grad") is False and image.fact("device") == "cpu"


def _is_no_image(shape: Shape) -> bool:
    """Two dimensions, or three with colours; a last length of 1 is left out."""
    if len(shape) == 3:
        return shape[-1] not in (None, 1, 3, 4)
    return len(shape) != 2


@plotting("pie")
def pie(site: Site) -> Thing | None:
    given = site.arguments.bound("x, explode=None, labels=None, colors=None, autopct=None, **kwargs")
    if given is None or "x" not in given or "data" in given:
        return Thing()
    count = shape[0] if (shape := _line(given["x"])) and len(shape) == 1 else None
    for name in ("labels", "explode"):
        lengths = taken_shape(given[name]) if not is_none(given.get(name)) else None
        if lengths and len(lengths) == 1 and None not in (lengths[0], count) and lengths[0] != count:
            site.crash(
                "ValueError",
                f"there are {lengths[0]} {name} for {count} wedges",
                fact=all_told([given["x"], given[name]], "the data"),
                remedy="pass one value per wedge",
            )
    return Thing()


# Ticks


@RULES.method("matplotlib.Axes", "set_xticks", "set_yticks")
@RULES.function("matplotlib.pyplot.xticks", "matplotlib.pyplot.yticks")
def ticks(site: Site) -> Thing | None:
    given = site.arguments.bound("ticks=None, labels=None, **kwargs")
    if given is None or "ticks" not in given:
        return Thing()
    count, labels = _count(given["ticks"]), _count(given.get("labels"))
    if count is not None and labels is not None and count != labels:
        site.crash(
            "ValueError",
            f"{labels} labels are given for {count} ticks",
            fact=all_told([given["ticks"], given["labels"]], "the ticks"),
            remedy="pass one label per tick",
        )
    if site.receiver is not None and not site.receiver.path and "minor" not in given:
        site.receiver.facts[site.name.removeprefix("set_")] = count
    return Thing()


def _count(thing: Thing | None) -> Length:
    shape = taken_shape(thing) if thing is not None and not is_number(thing) else None
    return shape[0] if shape is not None and len(shape) == 1 else None


@RULES.method("matplotlib.Axes", "set_xticklabels", "set_yticklabels")
def tick_labels(site: Site) -> Thing | None:
    held, given = site.receiver or Thing(), site.arguments.bound("labels, **kwargs")
    fixed = held.fact(site.name.removeprefix("set_").removesuffix("labels") + "s")
    count = _count(given["labels"]) if given is not None and "labels" in given else None
    if type(fixed) is int and count is not None and count != fixed and count and fixed:
        site.crash(
            "ValueError",
            f"{count} labels are given for {fixed} ticks",
            fact=f"{held.words or 'the axes'} has {fixed} ticks, set before",
            remedy="pass one label per tick",
        )
    return Thing()
