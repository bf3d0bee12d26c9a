"""Drawing by pandas: kinds of plots that it does not have. Other backends may have others."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.families.pandas_things import FRAME, SERIES
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("pandas: plots")
_OF_SERIES: Final = ("line", "bar", "barh", "kde", "density", "area", "hist", "box", "pie")
_OF_FRAMES: Final = (*_OF_SERIES, "scatter", "hexbin")
_ALL: Final = {"scatter": "x and y of a frame", "hexbin": "x and y of a frame"}


@RULES.method(FRAME, "plot")
@RULES.method(SERIES, "plot")
def plot(site: Site) -> Thing | None:
    kind = site.arguments.keywords.get("kind", Thing()).literal
    kinds = _OF_SERIES if site.receiver is not None and site.receiver.is_a("pandas", "Series") else _OF_FRAMES
    if isinstance(kind, str) and kind not in kinds and not site.mentions("backend"):
        site.crash(
            "ValueError",
            f"{kind!r} is not a valid plot kind",
            fact=f"the kinds are {', '.join(kinds)}",
            remedy=f"it needs {_ALL[kind]}: plot the frame" if kind in _ALL else "use one of them",
        )
    return None
