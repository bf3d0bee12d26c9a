"""Seaborn's functions: columns that the frame does not have, data given by position, heat maps of texts."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import describe, is_array, shape_of
from crane_core.detectors.rules.families.pandas_columns import text_column
from crane_core.detectors.rules.families.pandas_frames import (
    column,
    index_names,
    is_frame,
    is_text,
    label_set,
    labels_in,
    missing_column,
    n_rows,
    nearest,
    told_columns,
)
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

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


def _has_colours(operation: Operation) -> None:
    """A palette that is a dict has a colour for each value of hue."""
    given = operation.arguments
    data = given.keywords.get("data", given.positional[0] if given.positional else None)
    palette, hue = given.keywords.get("palette", AbstractValue()), given.keywords.get("hue", AbstractValue()).literal
    if data is None or not is_frame(data) or palette.type != "dict" or palette.members is None:
        return
    values = _all_values(data, hue) if isinstance(hue, str) and "hue_order" not in given.keywords else None
    missing = [value for value in values or () if value not in palette.members]
    if missing:
        operation.crash(
            "ValueError",
            f"the palette has no colour for {missing[0]!r}",
            fact=f"{data.named('the frame')}[{hue!r}] holds {', '.join(map(repr, (values or [])[:8]))}",
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
    given = operation.arguments
    data = given.keywords.get("data", given.positional[0] if given.positional else None)
    if data is None or not is_frame(data) or not given.is_complete or not is_at_least(operation, "seaborn", 0, 12):
        return
    labels, names = label_set(data), index_names(data)
    if labels is None or names is None:
        return
    for role in _ROLES:
        label = given.keywords[role].literal if role in given.keywords else None
        if isinstance(label, str) and label not in labels and label not in names:
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
    data = given.get("data") if given is not None else None
    if given is None or data is None or not is_frame(data) or label_set(data) is None:
        return UNCHANGED
    for name in ("hue", "vars", "x_vars", "y_vars"):
        for label in labels_in(given.get(name)) or ():
            if label not in (label_set(data) or ()):
                missing_column(operation, data, label)
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
    shapes = [shape_of(given[role]) for role in ("x", "y") if role in given and _is_line(given[role])]
    lengths = {shape[0] for shape in shapes if shape is not None and len(shape) == 1} - {None}
    is_alone = "data" not in given and not operation.arguments.positional
    if len(lengths) > 1 and is_alone and is_at_least(operation, "seaborn", 0, 12):
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
        label = operation.arguments.keywords[role].literal if role in operation.arguments.keywords else None
        if isinstance(label, str) and label not in (label_set(data) or ()):
            missing_column(operation, data, label)
    return UNCHANGED
