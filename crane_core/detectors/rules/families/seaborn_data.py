"""Seaborn's functions: columns that the frame does not have, data of two lengths, heat maps of texts."""

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import numpy_arrays, pandas_frames
from crane_core.detectors.rules.families.pandas_columns import text_column
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation, is_at_least

RULES = Family("seaborn")
_OF_AXES: Final = (
    *(
        "scatterplot",
        "lineplot",
        "histplot",
        "kdeplot",
        "ecdfplot",
        "rugplot",
        "boxplot",
        "boxenplot",
        "violinplot",
    ),
    *("stripplot", "swarmplot", "barplot", "countplot", "pointplot"),
)
_BY_NAME: Final = (*_OF_AXES, "relplot", "displot", "catplot")
"""Functions that take all but the data by name, and say ValueError for a column that is not there."""
# These select data[name] themselves, so the KeyError of pandas comes through.
_BY_KEY: Final = ("regplot", "residplot", "lmplot", "FacetGrid")
_ROLES: Final = (
    "x",
    "y",
    "hue",
    "size",
    "style",
    "units",
    "weights",
    "row",
    "col",
)


@RULES.function(*(f"seaborn.{name}" for name in (*_BY_NAME, *_BY_KEY)))
def by_label(operation: Operation) -> Answer:
    """The roles name columns of the data, or levels of its index."""
    given = operation.arguments
    # `sns.histplot(df, x="a")` gives the data by position.
    data = given.keywords.get("data", operation.first)
    if (
        not pandas_frames.is_frame(data)
        or not given.is_complete
        or pandas_frames.label_set(data) is None
    ):
        return UNCHANGED
    # Roles are keyword-only since 0.12; what older releases raise is not known here.
    for role in _ROLES if is_at_least(operation, "seaborn", 0, 12) else ():
        label = numpy_arrays.literal_of(given.keywords.get(role))
        # A role may also be a list of values, and a string may name a level of the index.
        if isinstance(label, str) and pandas_frames.lacks_key(data, label):
            operation.crash(
                "KeyError"
                if operation.function_name in _BY_KEY
                else "ValueError",
                f"{label!r}, given for {role}, is not a column of the data",
                fact=pandas_frames.told_columns(data, label),
                remedy=pandas_frames.nearest(data, label),
            )
    return UNCHANGED


@RULES.function("seaborn.pairplot")
def pairplot(operation: Operation) -> Answer:
    """Raises Crash for a column that the frame lacks."""
    given = operation.arguments.bound(
        "data, hue=None, hue_order=None, palette=None, vars=None, x_vars=None, **kwargs"
    )
    if (
        given is not None
        and pandas_frames.is_frame(given["data"])
        and pandas_frames.label_set(given["data"]) is not None
    ):
        for name in ("hue", "vars", "x_vars", "y_vars"):
            pandas_frames.need_columns(
                operation, given["data"], given.get(name)
            )
    return UNCHANGED


@RULES.function("seaborn.heatmap", "seaborn.clustermap")
def heatmap(operation: Operation) -> Answer:
    """Raises Crash for a frame with a column of strings that are not numbers."""
    data = operation.arguments.keywords.get("data", operation.first)
    if (
        pandas_frames.is_frame(data)
        and pandas_frames.n_rows(data)
        and (label := text_column(data)) is not None
    ):
        operation.crash(
            "ValueError",
            f"could not convert string to float: the column {label!r} holds strings",
            fact=f"{data.named('the frame')}[{label!r}] holds strings",
            remedy="select the numeric columns, or draw data.corr(numeric_only=True)",
        )
    return UNCHANGED


# relplot, displot and catplot are left out: they make a figure, and drop ax= with a warning.
@RULES.function(
    *(f"seaborn.{name}" for name in (*_OF_AXES, "regplot", "heatmap"))
)
def one_axes(operation: Operation) -> Answer:
    """ax= is a single axes."""
    ax = operation.arguments.keywords.get("ax", AbstractValue())
    if numpy_arrays.is_array(ax) and numpy_arrays.shape_of(ax):
        operation.crash(
            "AttributeError",
            "ax= takes a single Axes, not an array of them",
            fact=numpy_arrays.describe(ax, "ax"),
            remedy="select one by its index, or .flatten() them first",
        )
    return UNKNOWN
