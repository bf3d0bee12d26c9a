"""Seaborn's functions: columns that the frame does not have, data given by position, heat maps of texts."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import describe, is_array, literal_of, shape_of
from crane_core.detectors.rules.families.pandas_columns import text_column
from crane_core.detectors.rules.families.pandas_frames import (
    column,
    is_frame,
    is_text,
    label_set,
    lacks_key,
    n_rows,
    nearest,
    need_column,
    need_columns,
    told_columns,
)
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ, only_length

RULES = Family("seaborn")
_BY_NAME: Final = (
    *("scatterplot", "lineplot", "histplot", "kdeplot", "ecdfplot", "rugplot", "boxplot", "boxenplot", "violinplot"),
    *("stripplot", "swarmplot", "barplot", "countplot", "pointplot", "relplot", "displot", "catplot"),
)
"""Functions that take all but the data by name, and say ValueError for a column that is not there."""
_BY_KEY: Final = ("regplot", "residplot", "lmplot")
_ON_AXES: Final = (*(name for name in _BY_NAME if name not in ("relplot", "displot", "catplot")), "regplot", "heatmap")
_ROLES: Final = ("x", "y", "hue", "size", "style", "units", "weights", "row", "col")


@RULES.function(*(f"seaborn.{name}" for name in _BY_NAME))
def by_name(operation: Operation) -> Answer:
    given = operation.arguments
    if len(given.positional) > 1 and is_at_least(operation, "seaborn", 0, 12):
        operation.crash(
            "TypeError",
            "since seaborn 0.12 only data is positional; x, y and the other arguments must be named",
            fact=f"{len(given.positional)} arguments are positional",
            remedy="write x=..., y=...",
        )
    _has_columns(operation, "ValueError")
    _has_colours(operation)
    return UNCHANGED


def _data(operation: Operation) -> AbstractValue:
    return operation.arguments.keywords.get("data", operation.first)


def _has_colours(operation: Operation) -> None:
    """A palette that is a dict has a colour for each value of hue."""
    given, data = operation.arguments.keywords, _data(operation)
    palette, hue = given.get("palette", AbstractValue()), given.get("hue", AbstractValue()).literal
    if not is_frame(data) or not isinstance(hue, str) or "hue_order" in given:
        return
    if palette.type != "dict" or palette.members is None:
        return
    values = _all_values(data, hue) or []
    missing = [value for value in values if value not in palette.members]
    if missing:
        operation.crash(
            "ValueError",
            f"the palette has no colour for {missing[0]!r}",
            fact=f"{data.named('the frame')}[{hue!r}] holds {', '.join(map(repr, values[:8]))}",
            remedy="add a colour for each value",
        )


def _all_values(data: AbstractValue, label: str) -> list[str] | None:
    """The texts of a column, where all are told."""
    facts = column(data, label).facts
    values = facts.get("unique_values")
    if not isinstance(values, list) or facts.get("num_unique") != len(values) or not is_text(facts.get("dtype")):
        return None
    return values if all(isinstance(value, str) and "\u2026" not in value for value in values) else None


def _has_columns(operation: Operation, exception: str) -> None:
    """The roles name columns of the data, or levels of its index."""
    data = _data(operation)
    if not is_frame(data) or not operation.arguments.is_complete or not is_at_least(operation, "seaborn", 0, 12):
        return
    if label_set(data) is None:
        return
    for role in _ROLES:
        label = literal_of(operation.arguments.keywords.get(role))
        if isinstance(label, str) and lacks_key(data, label):
            operation.crash(
                exception,
                f"{label!r}, given for {role}, is not a column of the data",
                fact=told_columns(data, label),
                remedy=nearest(data, label),
            )


@RULES.function(*(f"seaborn.{name}" for name in _BY_KEY))
def by_key(operation: Operation) -> Answer:
    _has_columns(operation, "KeyError")
    return UNCHANGED


@RULES.function("seaborn.pairplot")
def pairplot(operation: Operation) -> Answer:
    given = operation.arguments.bound("data, hue=None, hue_order=None, palette=None, vars=None, x_vars=None, **kwargs")
    if given is None or not is_frame(given["data"]) or label_set(given["data"]) is None:
        return UNCHANGED
    for name in ("hue", "vars", "x_vars", "y_vars"):
        need_columns(operation, given["data"], given.get(name))
    return UNCHANGED


@RULES.function("seaborn.heatmap", "seaborn.clustermap")
def heatmap(operation: Operation) -> Answer:
    data = operation.arguments.keywords.get("data", operation.first)
    if is_frame(data) and n_rows(data) and (label := text_column(data)) is not None:
        operation.crash(
            "ValueError",
            f"could not convert string to float: the column {label!r} holds strings",
            fact=f"{data.named('the frame')}[{label!r}] holds strings",
            remedy="select the numeric columns, or draw data.corr(numeric_only=True)",
        )
    if operation.name != "clustermap":
        _fits_annotation(operation, data)
    return UNCHANGED


def _fits_annotation(operation: Operation, data: AbstractValue) -> None:
    """A number or text for each cell."""
    annot = operation.arguments.keywords.get("annot", AbstractValue())
    shapes = [_shape(data), _shape(annot)]
    if None in shapes or shapes[0] == shapes[1] or any(None in (shape or ()) for shape in shapes):
        return
    operation.crash(
        "ValueError",
        "`data` and `annot` must have same shape",
        fact=f"{describe(data, 'the data')}; {describe(annot, 'annot')}",
        remedy="pass one number or string per cell: transpose it (.T), or select the same rows and columns",
    )


def _shape(value: AbstractValue) -> tuple[int | None, ...] | None:
    shape = value.fact("shape") if is_frame(value) else shape_of(value) if is_array(value) else None
    return shape if isinstance(shape, tuple) and len(shape) == 2 else None


@RULES.function(*(f"seaborn.{name}" for name in _ON_AXES))
def one_axes(operation: Operation) -> Answer:
    """ax= is a single axes."""
    ax = operation.arguments.keywords.get("ax", AbstractValue())
    if is_array(ax) and shape_of(ax):
        operation.crash(
            "AttributeError",
            "ax= takes a single Axes, not an array of them",
            fact=describe(ax, "ax"),
            remedy="select one by its index, or .flatten() them first",
        )
    return UNKNOWN


@RULES.function(*(f"seaborn.{name}" for name in _BY_NAME if name != "countplot"))
def of_one_length(operation: Operation) -> Answer:
    given = operation.arguments.keywords
    lines = [given.get(role, AbstractValue()) for role in ("x", "y")]
    is_alone = "data" not in given and not operation.arguments.positional and all(map(_is_line, lines))
    if is_alone and differ(*map(only_length, map(shape_of, lines))) and is_at_least(operation, "seaborn", 0, 12):
        operation.crash(
            "ValueError",
            "x and y have different lengths",
            fact="; ".join(describe(given[role], role) for role in ("x", "y")),
            remedy="pass x and y with the same number of values",
        )
    return UNKNOWN


def _is_line(value: AbstractValue) -> bool:
    return is_array(value) or value.type == "list"


@RULES.function("seaborn.FacetGrid")
def facet_grid(operation: Operation) -> Answer:
    data = operation.arguments.keywords.get("data", operation.first)
    if not is_frame(data) or label_set(data) is None or not operation.arguments.is_complete:
        return UNCHANGED
    for role in ("row", "col", "hue"):
        label = literal_of(operation.arguments.keywords.get(role))
        if isinstance(label, str):
            need_column(operation, data, label)
    return UNCHANGED
