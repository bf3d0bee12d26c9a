"""Which two inputs of a detector can be compared: those that it had on the same instances."""

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
    detector = pd.factorize(verdicts["detector"])[0]
    instance = pd.factorize(verdicts["instance_id"])[0]
    question = detector * (instance.max(initial=0) + 1) + instance
    setting = verdicts["setting"].to_numpy()
    asked_with = {
        name: np.unique(question[setting == name]) for name in RICHNESS
    }
    found = [
        Inputs(base, other)
        for base, other in combinations(RICHNESS, 2)
        if np.isin(
            asked_with[base], asked_with[other], assume_unique=True
        ).any()
    ]
    return sorted(found, key=lambda inputs: inputs != WITH_STATE)


def comparison_text(inputs: Inputs) -> str:
    """A comparison as an address names it: "code,runtime"."""
    return _MARK.join(inputs)


def comparison_from(text: str) -> Inputs:
    """The comparison that `comparison_text` wrote. Raises ValueError on any other text."""
    base, other = text.split(_MARK)
    return Inputs(Setting(base), Setting(other))
