"""What plotting functions ask of their data: x and y of one length, images of two dimensions, labels for each tick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    describe,
    describe_all,
    dtype_of,
    is_array,
    kind_of,
    taken_shape,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import (
    Length,
    Shape,
    ShapeMismatchError,
    broadcast,
    differ,
    only_length,
    shown,
    size,
)

RULES = Family("matplotlib: data")
_ONE_LENGTH: Final = "pass x and y with the same number of values"


def plotting(*names: str) -> Callable[[Rule], Rule]:
    """Methods of axes, and the functions of pyplot by the same names."""

    def registered(rule: Rule) -> Rule:
        RULES.function(*(f"matplotlib.pyplot.{name}" for name in names))(rule)
        return RULES.method("matplotlib.Axes", *names)(rule)

    return registered


def _line(value: AbstractValue) -> Shape | None:
    """The shape of data, a single number as one value; None for texts and what is not known."""
    if value.type == "str":
        return None
    shape = taken_shape(value)
    return (1,) if shape == () else shape


@plotting("plot", "step", "semilogx", "semilogy", "loglog")
def plot(operation: Operation) -> Answer:
    given = operation.arguments
    if not given.is_complete or "data" in given.keywords:
        return UNCHANGED
    _knows_keywords(operation, "plot", _NOT_OF_LINES)
    rest = list(given.positional)
    while len(rest) >= 2:
        first, second, *rest = rest
        if first.type in ("", "str") or not second.type:
            return UNCHANGED
        if second.type == "str":
            continue
        _of_one_length(operation, first, second)
        rest = rest[1:] if rest and rest[0].type == "str" else rest
        if rest and not rest[0].type:
            return UNCHANGED
    return UNCHANGED


_NOT_OF_LINES: Final = ("colour", "colors", "size", "s", "bins", "edgecolor", "cmap", "hue", "line_width", "linewidths")
_NOT_OF_POINTS: Final = ("markersize", "colour", "size", "bins", "hue", "ms", "markeredgecolor")


def _knows_keywords(operation: Operation, name: str, unknown: Sequence[str]) -> None:
    for keyword in operation.arguments.keywords:
        if keyword in unknown:
            operation.crash(
                "AttributeError",
                f"{name} has no property {keyword!r}",
                fact=f"{keyword}= is given",
                remedy="remove it, or use the property's full name (color, linewidth, markersize, s)",
            )


def _of_one_length(operation: Operation, x: AbstractValue, y: AbstractValue) -> None:
    shapes = _line(x), _line(y)
    if not shapes[0] or not shapes[1]:
        return
    if differ(shapes[0][0], shapes[1][0]):
        operation.crash(
            "ValueError",
            f"x and y must have the same first dimension, but have shapes {shown(shapes[0])} and {shown(shapes[1])}",
            fact=describe_all([x, y], "the data"),
            remedy=_ONE_LENGTH,
        )


@plotting("scatter")
def scatter(operation: Operation) -> Answer:
    given = operation.arguments.bound("x, y, s=None, c=None, marker=None, cmap=None, norm=None, vmin=None, **kwargs")
    if given is None or "data" in given:
        return UNCHANGED
    sizes = [size(shape) if (shape := _line(given[name])) is not None else None for name in ("x", "y")]
    if None not in sizes and sizes[0] != sizes[1]:
        operation.crash(
            "ValueError",
            "x and y must be the same size",
            fact=describe_all([given["x"], given["y"]], "the data"),
            remedy=_ONE_LENGTH,
        )
    _knows_keywords(operation, "scatter", _NOT_OF_POINTS)
    count = sizes[0] if sizes[0] is not None else sizes[1]
    _one_for_each(operation, given, count)
    return UNCHANGED


def _one_for_each(operation: Operation, given: dict[str, AbstractValue], count: Length) -> None:
    for name in ("c", "s"):
        value = given.get(name, AbstractValue())
        n_values = only_length(taken_shape(value))
        dtype = value.fact("dtype") if value.is_a("pandas", "Series") else dtype_of(value)
        is_fit = n_values in ((1,) if name == "s" else (0, 1, 3, 4))
        if differ(n_values, count) and not is_fit and kind_of(dtype) in tuple("iuf"):
            operation.crash(
                "ValueError",
                f"{name} has {n_values} values for {count} points",
                fact=describe(value, name),
                remedy="pass one value per point, or one for all",
            )


def _meeting(*names: str) -> Rule:
    """Data that meet as arrays do: one value stands for all."""

    def rule(operation: Operation) -> Answer:
        given = operation.arguments.bound(f"{', '.join(names)}, **kwargs")
        if given is None or not set(names[:2]) <= given.keys() or "data" in given:
            return UNCHANGED
        values = [given[name] for name in names if name in given]
        shapes = [shape for value in values if (shape := _line(value)) is not None]
        try:
            broadcast(*shapes)
        except ShapeMismatchError:
            operation.crash(
                "ValueError",
                f"{' and '.join(names[:2])} have different lengths",
                fact=describe_all(values, "the data"),
                remedy=_ONE_LENGTH,
            )
        return UNCHANGED

    return rule


plotting("bar")(_meeting("x", "height"))
plotting("barh")(_meeting("y", "width"))
plotting("fill_between")(_meeting("x", "y1"))


@plotting("stem")
def stem(operation: Operation) -> Answer:
    given = operation.arguments
    if given.is_complete and "data" not in given.keywords and len(given.positional) == 2:
        _of_one_length(operation, *given.positional)
    return UNCHANGED


@plotting("errorbar")
def errorbar(operation: Operation) -> Answer:
    given = operation.arguments.bound("x, y, yerr=None, xerr=None, fmt='', **kwargs")
    if given is None or "data" in given:
        return UNCHANGED
    lengths = [only_length(_line(given[name])) for name in ("x", "y")]
    if differ(*lengths):
        operation.crash(
            "ValueError",
            "x and y must have the same size",
            fact=describe_all([given["x"], given["y"]], "the data"),
            remedy=_ONE_LENGTH,
        )
    n_errors = only_length(taken_shape(given.get("yerr", AbstractValue())))
    if n_errors != 1 and differ(n_errors, lengths[1]):
        operation.crash(
            "ValueError",
            f"there are {n_errors} errors for {lengths[1]} values",
            fact=describe_all([given["y"], given["yerr"]], "the data"),
            remedy="pass one error per value",
        )
    return UNCHANGED


@plotting("imshow")
def imshow(operation: Operation) -> Answer:
    given = operation.arguments.bound("X, cmap=None, **kwargs")
    image = given.get("X") if given is not None else None
    if image is None or not (is_array(image) or image.type == "list" or _is_plain_tensor(image)):
        return UNCHANGED
    shape = taken_shape(image) if not image.is_a("torch", "Tensor") else image.fact("shape")
    if not isinstance(shape, tuple) or not _is_no_image(shape):
        return UNCHANGED
    return operation.crash(
        "TypeError",
        f"Invalid shape {shown(shape)} for image data; valid are (rows, columns) and (rows, columns, 3 or 4)",
        fact=describe(image, "the image") if not image.is_a("torch") else f"{image.words} has the shape {shown(shape)}",
        remedy="change the shape: select one image, squeeze, or move the channels to the end",
    )


def _is_plain_tensor(image: AbstractValue) -> bool:
    return image.is_a("torch", "Tensor") and image.fact("requires_grad") is False and image.fact("device") == "cpu"


def _is_no_image(shape: Shape) -> bool:
    """Two dimensions, or three with colours; a last length of 1 is left out."""
    if len(shape) == 3:
        return shape[-1] not in (None, 1, 3, 4)
    return len(shape) != 2


@plotting("pie")
def pie(operation: Operation) -> Answer:
    given = operation.arguments.bound("x, explode=None, labels=None, colors=None, autopct=None, **kwargs")
    if given is None or "data" in given:
        return UNCHANGED
    count = only_length(_line(given["x"]))
    for name in ("labels", "explode"):
        n_given = only_length(taken_shape(given.get(name, AbstractValue())))
        if differ(n_given, count):
            operation.crash(
                "ValueError",
                f"there are {n_given} {name} for {count} wedges",
                fact=describe_all([given["x"], given[name]], "the data"),
                remedy="pass one value per wedge",
            )
    return UNCHANGED


# Ticks


@RULES.method("matplotlib.Axes", "set_xticks", "set_yticks")
@RULES.function("matplotlib.pyplot.xticks", "matplotlib.pyplot.yticks")
def ticks(operation: Operation) -> Answer:
    given = operation.arguments.bound("ticks=None, labels=None, **kwargs")
    if given is None or "ticks" not in given:
        return UNCHANGED
    count, labels = _count(given["ticks"]), _count(given.get("labels"))
    if differ(count, labels):
        operation.crash(
            "ValueError",
            f"{labels} labels are given for {count} ticks",
            fact=describe_all([given["ticks"], given["labels"]], "the ticks"),
            remedy="pass one label per tick",
        )
    if not operation.receiver.path and "minor" not in given:
        operation.receiver.facts[operation.name.removeprefix("set_")] = count
    return UNCHANGED


def _count(value: AbstractValue | None) -> Length:
    return only_length(taken_shape(value)) if value is not None else None


@RULES.method("matplotlib.Axes", "set_xticklabels", "set_yticklabels")
def tick_labels(operation: Operation) -> Answer:
    held, given = operation.receiver, operation.arguments.bound("labels, **kwargs")
    fixed = held.fact(operation.name.removeprefix("set_").removesuffix("labels") + "s")
    count = _count(given["labels"]) if given is not None else None
    if type(fixed) is int and count is not None and count != fixed and count and fixed:
        operation.crash(
            "ValueError",
            f"{count} labels are given for {fixed} ticks",
            fact=f"{held.named('the axes')} has {fixed} ticks, set before",
            remedy="pass one label per tick",
        )
    return UNCHANGED
