"""The comparison of two inputs as a title: by how much accuracy changes, and for how many detectors. Knows no page."""

from __future__ import annotations

import math

import pandas as pd

from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.results.measures import WITH_STATE, Inputs
from crane_core.rounding import digits
from crane_core.stats.outcome import Outcome
from crane_core.ui.outcome_words import all_of, any_of, who_gains
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
_MOST_DECIMALS = 2
"""Of a point, in a title."""


def headline(
    comparison: pd.DataFrame,
    kind: str = DetectorKind.LLM,
    inputs: Inputs = WITH_STATE,
    *,
    of: str = " of accuracy",
) -> str:
    """The finding as a title: the range of the differences, and how many detectors gain and lose.

    `comparison`: difference (a share) and outcome of each detector, as `measures.gain_table` returns them; it may be
    empty. of: what the points of a gain are of, empty where the page says so.
    """
    other, who = (
        sentence_case(NAMES[inputs.other]),
        WHO.get(DetectorKind(kind), "detector"),
    )
    if comparison.empty or comparison["difference"].isna().all():
        return f"{other}: {Outcome.NOTHING} with {NAMES[inputs.base]}"
    outcomes, differences = (
        comparison["outcome"].tolist(),
        comparison["difference"].dropna(),
    )
    is_study_base = (
        inputs.base is Setting.CODE
    )  # what everybody compares with needs no name
    over, against = (
        "" if is_study_base else f" {word} {NAMES[inputs.base]}"
        for word in ("over", "against")
    )
    span, whole = _span(differences), all_of(len(outcomes), who)
    alike = {
        Outcome.GAIN: f"{other} adds {span} points{of}{over} for {whole}",
        Outcome.LOSS: f"{other} lowers accuracy{against} by {_span(-differences)} points for {whole}",
        Outcome.NO_EVIDENCE: f"{other}: no evidence of a change of accuracy{against} for {any_of(len(outcomes), who)} "
        f"({span} points)",
        Outcome.SMALLER: f"{other} changes accuracy{against} by {outcomes[0].replace('smaller', 'less')} for {whole} "
        f"({span} points)",
        Outcome.NOT_TESTED: f"{other}: accuracy differs{over and ' from that with ' + NAMES[inputs.base]} by {span} "
        f"points for {whole}, not tested",
    }
    is_mixed = len(set(outcomes)) > 1 or Outcome(outcomes[0]) not in alike
    if is_mixed:
        return f"{other} changes accuracy{against} by {span} points: {who_gains(outcomes, who)}"
    return alike[Outcome(outcomes[0])]


def _span(differences: pd.Series[float]) -> str:
    """Percentage points without a unit: the integers around several, with decimals where these would reach 0."""
    least, most = float(differences.min()), float(differences.max())
    if math.isclose(least, most, abs_tol=1e-9):
        return points(least).removesuffix(" pp").removeprefix("+")
    is_one_sided = least > 0 or most < 0
    for decimals in range(_MOST_DECIMALS + 1):
        ends = _around(least, most, decimals)
        if not is_one_sided or 0 not in ends:
            break
    low, high = (digits(end, decimals).replace("-", "−") for end in ends)
    return low if low == high else f"{low} to {high}"


def _around(least: float, most: float, decimals: int) -> tuple[float, float]:
    """Both in points, the first rounded down and the second up."""
    scale = 10**decimals
    low, high = (round(100 * share * scale, 6) for share in (least, most))
    return math.floor(low) / scale, math.ceil(high) / scale
