"""Which two inputs of a detector can be compared: those that it was asked with on the same instances."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.measures import WITH_STATE, Inputs

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
    asked = verdicts.groupby(["detector", "instance_id"]).ngroup().to_numpy()
    present = np.zeros((asked.max(initial=-1) + 1, len(RICHNESS)), dtype=bool)
    place = verdicts["setting"].map({str(setting): place for place, setting in enumerate(RICHNESS)})
    known = place.notna().to_numpy()
    present[asked[known], place[known].to_numpy(dtype=np.intp)] = True
    found = [
        Inputs(a, b) for (i, a), (j, b) in combinations(enumerate(RICHNESS), 2) if (present[:, i] & present[:, j]).any()
    ]
    return sorted(found, key=lambda inputs: inputs != WITH_STATE)


def comparison_text(inputs: Inputs) -> str:
    """A comparison as an address names it: "code,runtime"."""
    return _MARK.join(inputs)


def comparison_from(text: str) -> Inputs:
    """The comparison that `comparison_text` wrote. Raises ValueError on any other text."""
    base, other = text.split(_MARK)
    return Inputs(Setting(base), Setting(other))
