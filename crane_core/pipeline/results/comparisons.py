"""Which two inputs of a detector can be compared: those that it had on the same instances."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.results.measures import WITH_STATE, Inputs

RICHNESS = (
    Setting.CODE,
    Setting.RUNTIME_WITHOUT_S,
    Setting.RUNTIME_WITHOUT_R,
    Setting.RUNTIME_WITHOUT_V,
    Setting.RUNTIME,
    Setting.RUNTIME_DOCS,
    Setting.RUNTIME_PLUS,
)
"""From the input that shows least to the one that shows most, so that a change is what the richer input adds."""
_MARK = ","


def comparisons(verdicts: pd.DataFrame) -> list[Inputs]:
    """Every two settings in which some detector answered about one instance; that of the study first.

    verdicts: rows of the verdict frame, with a detector of each experiment under its own name (`beside`).
    """
    instance = pd.factorize(verdicts["instance_id"])[0]
    asked = pd.factorize(
        pd.factorize(verdicts["detector"])[0] * (instance.max(initial=0) + 1) + instance
    )[0]
    setting, names = pd.factorize(verdicts["setting"])
    place = np.array(
        [RICHNESS.index(name) if name in RICHNESS else -1 for name in names],
        dtype=np.intp,
    )[setting]
    present = np.zeros((asked.max(initial=-1) + 1, len(RICHNESS)), dtype=bool)
    present[asked[place >= 0], place[place >= 0]] = True
    found = [
        Inputs(a, b)
        for (i, a), (j, b) in combinations(enumerate(RICHNESS), 2)
        if (present[:, i] & present[:, j]).any()
    ]
    return sorted(found, key=lambda inputs: inputs != WITH_STATE)


def comparison_text(inputs: Inputs) -> str:
    """A comparison as an address names it: "code,runtime"."""
    return _MARK.join(inputs)


def comparison_from(text: str) -> Inputs:
    """The comparison that `comparison_text` wrote. Raises ValueError on any other text."""
    base, other = text.split(_MARK)
    return Inputs(Setting(base), Setting(other))
