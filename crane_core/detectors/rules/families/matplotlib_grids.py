"""Figures and their grids of axes: whether `subplots` gives one axes or an array, names that figures and axes lack."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue, all_known, known_facts, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import ARRAY, is_none, literal_of, whole
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("matplotlib: figures and axes")
AXES: Final = "matplotlib.axes._axes.Axes"
FIGURE: Final = "matplotlib.figure.Figure"
_SUBPLOTS: Final = (
    "nrows=1, ncols=1, *, sharex=False, sharey=False, squeeze=True, width_ratios=None, height_ratios=None,"
    " subplot_kw=None, gridspec_kw=None, **fig_kw"
)


@RULES.function("matplotlib.pyplot.subplots")
def subplots(operation: Operation) -> Answer:
    given = operation.arguments.bound(_SUBPLOTS)
    axes = _grid(operation, given) if given is not None else AbstractValue()
    return AbstractValue("tuple", items=[AbstractValue(FIGURE), axes])


@RULES.method("matplotlib.Figure", "subplots")
def subplots_of_figure(operation: Operation) -> Answer:
    given = operation.arguments.bound(_SUBPLOTS)
    return _grid(operation, given) if given is not None else UNCHANGED


def _grid(operation: Operation, given: dict[str, AbstractValue]) -> AbstractValue:
    """One axes, a line of them, or a table: lengths of 1 are left out unless squeeze is off."""
    rows, columns = (whole(given.get(name, literal(1))) for name in ("nrows", "ncols"))
    _are_positive(operation, rows, columns)
    held = AXES if is_none(given.get("subplot_kw")) else None
    squeeze = literal_of(given.get("squeeze"), True)
    if squeeze is False:
        return _array((rows, columns), held)
    if squeeze is NOT_KNOWN or None in (rows, columns):
        return AbstractValue()
    shape = tuple(length for length in (rows, columns) if length != 1)
    return _array(shape, held) if shape else AbstractValue(held or "")


def _are_positive(operation: Operation, rows: int | None, columns: int | None) -> None:
    for count, what in ((rows, "rows"), (columns, "columns")):
        if count is not None and count < 1:
            operation.crash(
                "ValueError",
                f"Number of {what} must be a positive integer, not {count}",
                fact=f"the number of {what} is {count}",
                remedy="check first that there is something to draw",
            )


def _array(shape: tuple[int | None, ...], held: str | None) -> AbstractValue:
    return AbstractValue(ARRAY, known_facts(shape=shape, dtype="object", held=held))


@RULES.function("matplotlib.pyplot.figure")
def figure(operation: Operation) -> Answer:
    return AbstractValue(FIGURE) if "FigureClass" not in operation.arguments.keywords else UNCHANGED


@RULES.function("matplotlib.pyplot.subplot")
@RULES.method("matplotlib.Figure", "add_subplot")
def subplot(operation: Operation) -> Answer:
    """The number of a place in the grid counts from 1, row by row."""
    numbers = [whole(value) for value in operation.arguments.positional]
    if len(numbers) == 1 and 100 <= (numbers[0] or 0) <= 999:
        numbers = [int(digit) for digit in str(numbers[0])]
    if len(known := all_known(numbers) or ()) == 3:
        _is_in_grid(operation, *known)
    is_plain = operation.name == "add_subplot" and not operation.arguments.keywords
    return AbstractValue(AXES) if is_plain else UNCHANGED


def _is_in_grid(operation: Operation, rows: int, columns: int, at: int) -> None:
    if min(rows, columns) > 0 and not 1 <= at <= rows * columns:
        operation.crash(
            "ValueError",
            f"a grid of {rows} rows and {columns} columns has no position {at}",
            fact=f"the positions are 1 to {rows * columns}",
            remedy="positions start at 1: use a larger grid or a smaller number",
        )


# What one axes is not


_ONE: Final = "with one row and one column, subplots returns a single Axes"
_MANY: Final = "pass squeeze=False to subplots, which then always returns an array"


@RULES.element("matplotlib.Axes")
@RULES.element("matplotlib.Figure")
def iterated(operation: Operation) -> Answer:
    return _through(operation, operation.receiver)


def _through(operation: Operation, held: AbstractValue) -> Answer:
    return operation.crash(
        "TypeError",
        f"'{held.class_name}' object is not iterable",
        fact=f"{held.named(operation.text)} is a single {held.class_name}: {_ONE}",
        remedy=_MANY,
    )


@RULES.item("matplotlib.Axes")
@RULES.item("matplotlib.Figure")
def indexed(operation: Operation) -> Answer:
    held = operation.receiver
    return operation.crash(
        "TypeError",
        f"'{held.class_name}' object is not subscriptable",
        fact=f"{held.named(operation.text)} is a single {held.class_name}: {_ONE}",
        remedy=_MANY,
    )


@RULES.function("builtins.list", "builtins.tuple", "builtins.sorted", "builtins.sum")
def listed(operation: Operation) -> Answer:
    return _through(operation, operation.first) if operation.first.is_a("matplotlib", "Axes", "Figure") else UNKNOWN


@RULES.function("builtins.len")
def counted(operation: Operation) -> Answer:
    if not operation.first.is_a("matplotlib", "Axes", "Figure"):
        return UNKNOWN
    return operation.crash(
        "TypeError",
        f"object of type '{operation.first.class_name}' has no len()",
        fact=f"{operation.first.named('it')} is a single {operation.first.class_name}",
        remedy=_MANY,
    )


_OF_FIGURES: Final = ("suptitle", "tight_layout", "savefig", "colorbar", "subplots", "subplots_adjust")
_SETTERS: Final = ("xlabel", "ylabel", "xlim", "ylim", "xticks", "yticks", "xscale", "yscale")
_OF_PYPLOT: Final = {
    **{name: f"use set_{name}" for name in _SETTERS},
    **dict.fromkeys(_OF_FIGURES, "use the method of the figure"),
    "show": "use plt.show()",
}
_OF_ARRAYS: Final = ("flatten", "ravel", "flat", "reshape", "shape", "size", "T")


@RULES.attribute("matplotlib.Axes")
def no_name_of_axes(operation: Operation) -> Answer:
    held = operation.receiver
    if operation.name in _OF_ARRAYS:
        return _lacks(operation, held, _MANY, f": {_ONE}")
    return _lacks(operation, held, _OF_PYPLOT[operation.name]) if operation.name in _OF_PYPLOT else UNKNOWN


_NOT_OF_FIGURES: Final = (
    *("plot", "scatter", "bar", "hist", "boxplot", "imshow", "grid", "set_title", "set_xlabel", "set_ylabel"),
    *("set_xlim", "set_ylim", "title", "xlabel", "ylabel", "xticks", "yticks", "xlim", "ylim"),
)


@RULES.attribute("matplotlib.Figure")
def no_name_of_figure(operation: Operation) -> Answer:
    if operation.name in _NOT_OF_FIGURES:
        return _lacks(operation, operation.receiver, "use an Axes of the figure: fig.gca()")
    return UNKNOWN


def _lacks(operation: Operation, held: AbstractValue, remedy: str, more: str = "") -> Answer:
    return operation.crash(
        "AttributeError",
        f"'{held.class_name}' object has no attribute '{operation.name}'",
        fact=f"{held.named('it')} is a {held.class_name}{more}",
        remedy=remedy,
    )


@RULES.method("matplotlib.Text", "__call__")
def text_called(operation: Operation) -> Answer:
    return operation.crash(
        "TypeError",
        "a figure's Text is an object, not a function",
        fact=f"{operation.text} calls it",
        remedy="use set_title",
    )


@RULES.method("matplotlib.Axes", "title", "xaxis", "yaxis", "figure", "patch")
def called_by_mistake(operation: Operation) -> Answer:
    return operation.crash(
        "TypeError",
        f"{operation.name} of an Axes is an object, not a method",
        fact=f"{operation.receiver.words}.{operation.name} is called",
        remedy="use set_title" if operation.name == "title" else "remove the parentheses",
    )


_OF_AXES: Final = ("set_title", "set_xlabel", "set_ylabel", "set_xlim", "set_ylim", "set_xticks", "set_xticklabels")


@RULES.function(*(f"matplotlib.pyplot.{name}" for name in _OF_AXES))
def no_function_of_pyplot(operation: Operation) -> Answer:
    name = operation.function_name
    return operation.crash(
        "AttributeError",
        f"module 'matplotlib.pyplot' has no attribute '{name}'",
        fact=f"{name} is a method of Axes",
        remedy=f"use plt.{name.removeprefix('set_')}, or plt.gca().{name}",
    )
