"""The comparison of two inputs as a title: by how much accuracy changes, and for how many detectors that is sure."""

from __future__ import annotations

import math

import pandas as pd

from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.results.measures import WITH_STATE, Inputs
from crane_core.ui.words import points, sentence_case

NAMES = {
    Setting.CODE: "code alone",
    Setting.RUNTIME: "runtime state",
    Setting.RUNTIME_WITHOUT_S: "runtime state without S",
    Setting.RUNTIME_WITHOUT_R: "runtime state without R",
    Setting.RUNTIME_WITHOUT_V: "runtime state without V",
    Setting.RUNTIME_DOCS: "runtime state with API documentation",
    Setting.RUNTIME_PLUS: "extended runtime state",
}
WHO = {DetectorKind.LLM: "model", DetectorKind.ANALYZER: "analyzer"}
ALL = {1: "one", 2: "both", 3: "all three", 4: "all four"}


def headline(comparison: pd.DataFrame, kind: str = DetectorKind.LLM, inputs: Inputs = WITH_STATE) -> str:
    """The finding as a title: the range of the differences, and for how many detectors it holds.

    `comparison`: difference, low and high (shares) of each detector. It "adds" where every interval is above zero.
    """
    over = "" if inputs.base is Setting.CODE else f" over {NAMES[inputs.base]}"
    other, who = sentence_case(NAMES[inputs.other]), WHO.get(DetectorKind(kind), "detector")
    known = comparison[comparison["difference"].notna()]
    n = len(known)
    if not n:
        return f"{other}: the change of accuracy{over} cannot be estimated"
    n_sure = int((known["low"] > 0).sum())
    whole, noun = ALL.get(n, f"all {n}"), who if n == 1 else f"{who}s"
    if n_sure == n:
        return f"{other} adds {_span(known['difference'])} points of accuracy{over} for {whole} {noun}"
    verb = "gains" if n_sure == 1 else "gain"
    return (
        f"{other} changes accuracy{over} by {_span(known['difference'])} points; {n_sure} of {n} {noun} clearly {verb}"
    )


def _span(differences: pd.Series[float]) -> str:
    """Percentage points without a unit: of several differences, the integers around them."""
    if len(differences) == 1:
        return points(differences.iloc[0]).removesuffix(" pp").removeprefix("+")
    low, high = (round(100 * share, 6) for share in (differences.min(), differences.max()))
    return f"{math.floor(low)} to {math.ceil(high)}".replace("-", "−")
