"""Drawing by pandas: kinds of plots that it does not have. Other backends may have others."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.pandas_frames import FRAME, SERIES
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("pandas: plots")
_OF_SERIES: Final = ("line", "bar", "barh", "kde", "density", "area", "hist", "box", "pie")
_OF_FRAMES: Final = (*_OF_SERIES, "scatter", "hexbin")
_ALL: Final = {"scatter": "x and y of a frame", "hexbin": "x and y of a frame"}


@RULES.method(FRAME, "plot")
@RULES.method(SERIES, "plot")
def plot(operation: Operation) -> Answer:
    kind = operation.arguments.keywords.get("kind", AbstractValue()).literal
    kinds = _OF_SERIES if operation.receiver.is_a("pandas", "Series") else _OF_FRAMES
    if isinstance(kind, str) and kind not in kinds and not operation.mentions("backend"):
        operation.crash(
            "ValueError",
            f"{kind!r} is not a valid plot kind",
            fact=f"the kinds are {', '.join(kinds)}",
            remedy=f"it needs {_ALL[kind]}: plot the frame" if kind in _ALL else "use one of them",
        )
    return UNKNOWN
