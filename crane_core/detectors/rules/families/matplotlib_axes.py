"""Figures and their grids of axes, and what is known of matplotlib where it cannot answer."""

from typing import Final

from crane_core.detectors.rules.abstract_value import (
    NOT_KNOWN,
    AbstractValue,
    known_facts,
    literal,
)
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import numpy_arrays
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.harmless import may_run_notebook_code
from crane_core.detectors.rules.operation import Operation, is_at_least

RULES = Family("matplotlib")
AXES: Final = "matplotlib.axes._axes.Axes"
FIGURE: Final = "matplotlib.figure.Figure"
_SUBPLOTS: Final = (
    "nrows=1, ncols=1, *, squeeze=True, subplot_kw=None, **others"
)
# plt.subplots passes on what it does not know: FigureClass names the class of the figure, num may name one that
# exists, of any class. These leave it a Figure.
_OF_A_FIGURE: Final = """
nrows ncols squeeze subplot_kw sharex sharey width_ratios height_ratios gridspec_kw
figsize dpi facecolor edgecolor frameon clear layout tight_layout constrained_layout
"""
_LEAVE_A_FIGURE: Final = frozenset(_OF_A_FIGURE.split())


# The names that matplotlib 3.8 dropped; a notebook may have files and own styles whose names begin like these.
_DROPPED: Final = """
bright colorblind dark dark-palette darkgrid deep muted notebook paper pastel poster talk ticks white whitegrid
"""
_DROPPED_STYLES: Final = frozenset(
    ["seaborn", *(f"seaborn-{name}" for name in _DROPPED.split())]
)


# Grids


# The library is not asked: it would say Figure of one that exists.
@RULES.function("matplotlib.pyplot.figure")
def figure(operation: Operation) -> Answer:
    """A new figure; one that exists may be of any class, and FigureClass names one."""
    given = operation.arguments
    is_new = not given.positional and given.keywords.keys() <= _LEAVE_A_FIGURE
    return AbstractValue(FIGURE if is_new and given.is_complete else "")


@RULES.function("matplotlib.pyplot.subplots")
def subplots(operation: Operation) -> Answer:
    """plt.subplots returns a figure and its axes: one, a row of them, or a table."""
    given = operation.arguments.bound(_SUBPLOTS)
    if given is None or not given.keys() <= _LEAVE_A_FIGURE:
        return AbstractValue("tuple", items=[AbstractValue(), AbstractValue()])
    return AbstractValue("tuple", items=[AbstractValue(FIGURE), _grid(given)])


@RULES.method("matplotlib.Figure", "subplots")
def subplots_of_figure(operation: Operation) -> Answer:
    """fig.subplots returns the axes alone."""
    given = operation.arguments.bound(_SUBPLOTS)
    return _grid(given) if given is not None else UNCHANGED


def _grid(given: dict[str, AbstractValue]) -> AbstractValue:
    """One axes, a line of them, or a table: lengths of 1 are left out unless squeeze is off."""
    rows, columns = (
        numpy_arrays.whole(given.get("nrows", literal(1))),
        numpy_arrays.whole(given.get("ncols", literal(1))),
    )
    # subplot_kw={'projection': '3d'} makes axes of another class, with other methods.
    held = AXES if numpy_arrays.is_none(given.get("subplot_kw")) else None
    squeeze = numpy_arrays.literal_of(given.get("squeeze"), True)
    # A count of 1 drops its axis: with unknown counts even the number of dimensions is open.
    if squeeze is NOT_KNOWN or squeeze and None in (rows, columns):
        return AbstractValue()
    shape = tuple(
        length for length in (rows, columns) if length != 1 or not squeeze
    )
    # `plt.subplots()` returns the axes itself, and no array of one.
    if not shape:
        return AbstractValue(held or "")
    return AbstractValue(
        numpy_arrays.ARRAY, known_facts(shape=shape, dtype="object", held=held)
    )


# What is drawn


@RULES.method("matplotlib.Axes")
def drawn(operation: Operation) -> Answer:
    """Axes are others then; what they are given is as it was, unless it is code of the notebook."""
    if any(map(may_run_notebook_code, operation.arguments.values)):
        return UNKNOWN
    operation.receiver.facts, operation.receiver.attributes = {}, {}
    return UNCHANGED


@RULES.function(
    "matplotlib.pyplot.style.use",
    "matplotlib.style.use",
    "matplotlib.style.core.use",
)
def style(operation: Operation) -> Answer:
    """Styles have the version of seaborn in their names since matplotlib 3.6, and no other since 3.8."""
    # 3.6 and 3.7 take the old names too, with a warning.
    text = operation.first.literal
    if (
        not isinstance(text, str)
        or text not in _DROPPED_STYLES
        or not is_at_least(operation, "matplotlib", 3, 8)
    ):
        return UNKNOWN
    return operation.crash(
        "OSError",
        f"{text!r} is not a style: matplotlib 3.8 removed it",
        fact=f"matplotlib {operation.packages['matplotlib']} is installed",
        remedy=f"write {text.replace('seaborn', 'seaborn-v0_8', 1)!r}, or call seaborn.set_theme()",
    )


# Names that one has, and the other has not


# Names of pyplot: plt.xlabel(...) is ax.set_xlabel(...) for a single axes.
_SETTERS: Final = (
    "xlabel",
    "ylabel",
    "xlim",
    "ylim",
    "xticks",
    "yticks",
    "xscale",
    "yscale",
)
_OF_FIGURES: Final = (
    "suptitle",
    "tight_layout",
    "savefig",
    "colorbar",
    "subplots",
    "subplots_adjust",
)
# subplots(1, 1) returns a single Axes, on which code for several calls axes.flatten().
_OF_ARRAYS: Final = (
    "flatten",
    "ravel",
    "flat",
    "reshape",
    "shape",
    "size",
    "T",
)
_NOT_OF_AXES: Final = {
    **{name: f"use set_{name}" for name in _SETTERS},
    **dict.fromkeys(_OF_FIGURES, "use the method of the figure"),
    **dict.fromkeys(
        _OF_ARRAYS,
        "pass squeeze=False to subplots, which then always returns an array",
    ),
    "show": "use plt.show()",
}
# legend and text are not in the list: figures have these methods, too.
_NOT_OF_FIGURES: Final = (
    *(
        "plot",
        "scatter",
        "bar",
        "hist",
        "boxplot",
        "imshow",
        "grid",
        "title",
        *_SETTERS[:6],
    ),
    *("set_title", "set_xlabel", "set_ylabel", "set_xlim", "set_ylim"),
)


@RULES.attribute("matplotlib.Axes", *_NOT_OF_AXES)
@RULES.attribute("matplotlib.Figure", *_NOT_OF_FIGURES)
def no_such_name(operation: Operation) -> Answer:
    """Raises Crash for a name that the other class has: axes for figures, and arrays of axes."""
    held = operation.receiver
    # `ax.show = draw` makes the name.
    if operation.may_give_attribute(operation.name):
        return UNKNOWN
    is_figure = held.class_name == "Figure"
    return operation.crash(
        "AttributeError",
        f"'{held.class_name}' object has no attribute '{operation.name}'",
        fact=f"{held.named('it')} is a single {held.class_name}",
        remedy="use an Axes of the figure: fig.gca()"
        if is_figure
        else _NOT_OF_AXES[operation.name],
    )
