"""Matplotlib: which functions and methods are tried, and what they draw."""

from __future__ import annotations

import re

from .places import ALL, FIRST, NONE, THREE, TWO, listed, words

# Data may be stand-ins; at other places a format, a scale or a number of bins decides.
_DRAWING = listed(
    (ALL, "plot step semilogx semilogy loglog stackplot fill"),
    (
        range(4),
        "scatter bar barh errorbar hlines vlines fill_between fill_betweenx contour contourf pcolormesh pcolor",
    ),
    (THREE, "stem pie hexbin"),
    (TWO, "hist2d"),
    (FIRST, "imshow matshow spy hist boxplot violinplot eventplot"),
    (NONE, "legend grid axis"),
)
_AXES = (
    (TWO, "set_xticks set_yticks"),
    (FIRST, "set_xticklabels set_yticklabels"),
    (
        NONE,
        "set_title set_xlabel set_ylabel set_xscale set_yscale tick_params twinx twiny",
    ),
    (ALL, "title xaxis yaxis figure patch"),
)
_PYPLOT = (
    (TWO, "pyplot.xticks pyplot.yticks"),
    (
        NONE,
        "pyplot.subplot pyplot.subplots pyplot.title pyplot.xlabel pyplot.ylabel pyplot.xscale"
        " pyplot.yscale pyplot.suptitle pyplot.tick_params",
    ),
)
_FIGURE = "add_subplot subplots suptitle set_size_inches"
CALLS = listed(
    *((places, f"pyplot.{name}") for name, places in _DRAWING.items()), *_PYPLOT
)
METHODS = {
    "matplotlib.Axes": {**_DRAWING, **listed(*_AXES)},
    "matplotlib.Figure": listed((NONE, _FIGURE)),
    "matplotlib.Text": listed((ALL, "__call__")),
}
KEYWORDS = words(
    "x y c s height width bottom left yerr xerr labels ticks explode"
)
DRAWS_PAIRS = words("plot step scatter bar barh fill_between")
"""Of two lists only the lengths are refused, whatever numbers they hold."""
MOST_DRAWN = 10_000
"""Elements that may be drawn one by one."""
# Other projections have other methods, and what a notebook registers adds names.
UNLESS_MENTIONED = (
    "projection",
    "polar",
    "3d",
    "3D",
    "get_named_colors_mapping",
    "_colors_full_map",
    "register_",
)
# Figures and axes get attributes as they are drawn on.
GROWING = ("matplotlib.",)
NOT_OF_OPERANDS = ("for cmap", "colormap", "axis units")
"""What other packages, or what was drawn before, have added."""
ALWAYS_REFUSED = re.compile(
    r"must have same first dimension|must be the same size|^Invalid shape .* for image data"
)
"""What drawing has always refused of shapes, with one class of exceptions."""
IS_OF_ANY_VERSION = True
