"""Surrogates of matplotlib's figures and axes: new ones, on which nothing was drawn. Nothing is ever shown or saved."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Mapping

import matplotlib

# Before pyplot: any other backend would look for a display.
matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from .made import NotMadeError, no_name

PACKAGE = matplotlib
named = no_name
_MADE: Mapping[Any, Callable[[], Any]] = {
    Axes: lambda: Figure().subplots(),
    Figure: Figure,
    Text: Text,
}
_TYPES = {
    f"{each.__module__}.{each.__qualname__}": made
    for each, made in _MADE.items()
}
with contextlib.suppress(
    ImportError
):  # without pandas, the notebook has no times of pandas either
    import pandas.plotting

    pandas.plotting.register_matplotlib_converters()  # the notebook may have done so by any plot of pandas


@contextlib.contextmanager
def mode(_fill: int) -> Iterator[None]:
    """Functions of pyplot draw on a figure of this step alone."""
    before = set(pyplot.get_fignums())
    # A figure for this step, so that pyplot does not draw on one of another question.
    pyplot.figure()
    try:
        yield
    finally:
        # Figures stay in pyplot's memory until they are closed.
        for number in set(pyplot.get_fignums()) - before:
            pyplot.close(number)


def make(facts: Mapping[str, Any], _fill: int) -> Any:
    """A new object of this class; raises NotMadeError for others than figures, axes and texts."""
    if facts["type"] not in _TYPES:
        raise NotMadeError(facts["type"])
    return _TYPES[facts["type"]]()


def read(value: Any) -> dict[str, Any]:
    """The class of a figure, axes or text; empty for others."""
    path = f"{type(value).__module__}.{type(value).__qualname__}"
    return {"type": path} if path in _TYPES else {}
