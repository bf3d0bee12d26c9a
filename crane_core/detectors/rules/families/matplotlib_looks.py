"""How things are drawn: styles and colours that matplotlib does not know.

Colours are asked of the matplotlib here: their names have not changed since 2.0, and a notebook that adds some is left
alone.
"""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("matplotlib: looks")
_SEABORN: Final = frozenset(
    ("seaborn", *(f"seaborn-{name}" for name in (
        "bright", "colorblind", "dark", "dark-palette", "darkgrid", "deep", "muted", "notebook", "paper", "pastel",
        "poster", "talk", "ticks", "white", "whitegrid",
    )))
)  # fmt: skip
"""Styles that have the version of seaborn in their names since matplotlib 3.6, and no other since 3.8."""
_COLOURED: Final = (
    *("plot", "step", "bar", "barh", "hist", "axhline", "axvline", "fill_between", "semilogx", "semilogy", "loglog"),
    *("scatter", "axvspan", "axhspan"),
)
_LINES: Final = ("plot", "step", "semilogx", "semilogy", "loglog", "axhline", "axvline")
_OF_LINES: Final = ("color", "c")
_OF_AREAS: Final = ("color", "edgecolor", "facecolor")


@RULES.function("matplotlib.pyplot.style.use", "matplotlib.style.use", "matplotlib.style.core.use")
def style(operation: Operation) -> Answer:
    name = operation.arguments.bound("style")
    text = name["style"].literal if name and "style" in name else None
    if isinstance(text, str) and text in _SEABORN and is_at_least(operation, "matplotlib", 3, 8):
        new = text.replace("seaborn", "seaborn-v0_8", 1)
        operation.crash(
            "OSError",
            f"{text!r} is not a style: matplotlib 3.8 removed it",
            fact=f"matplotlib {operation.packages['matplotlib']} is installed",
            remedy=f"write {new!r}, or call seaborn.set_theme()",
        )
    return UNKNOWN


@RULES.function(*(f"matplotlib.pyplot.{name}" for name in _COLOURED))
@RULES.method("matplotlib.Axes", *_COLOURED)
def coloured(operation: Operation) -> Answer:
    """Texts that name no colour; a list of them is left alone."""
    if (
        not operation.arguments.is_complete
        or operation.mentions("get_named_colors_mapping")
        or operation.mentions("_colors_full_map")
    ):
        return UNKNOWN
    name = operation.function_name if operation.receiver.path else operation.name
    for role in _OF_LINES if name in _LINES else _OF_AREAS:
        text = operation.arguments.keywords.get(role, AbstractValue()).literal
        if isinstance(text, str) and not _is_colour(text):
            operation.crash(
                "ValueError",
                f"{text!r} is not a valid value for color",
                fact=f"{role} is {text!r}",
                remedy="use a colour name of matplotlib, or '#rrggbb'",
            )
    return UNKNOWN


def _is_colour(text: str) -> bool:
    from matplotlib.colors import is_color_like

    return text.lower() in ("none", "auto", "face", "inherit") or bool(is_color_like(text))
