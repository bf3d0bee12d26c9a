"""The title of a comparison says what its tests say, however many detectors there are: gains and losses alike."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.results.measures import WITH_STATE, Inputs
from crane_core.stats.outcome import Outcome
from crane_core.ui.gains_words import headline

PLUS = Inputs(Setting.RUNTIME, Setting.RUNTIME_PLUS)
GAIN, LOSS, NONE, UNTESTED, NOTHING = (
    Outcome.GAIN,
    Outcome.LOSS,
    Outcome.NO_EVIDENCE,
    Outcome.NOT_TESTED,
    Outcome.NOTHING,
)
NAN = math.nan
MODELS, ANALYZERS, RULES = (
    DetectorKind.LLM,
    DetectorKind.ANALYZER,
    DetectorKind.RULES,
)


def table(rows: list[tuple[float, Outcome]]) -> pd.DataFrame:
    """Intervals that would say the opposite: only the outcome counts."""
    shown = [
        {"difference": d, "low": 0.01, "high": 0.2, "outcome": str(outcome)}
        for d, outcome in rows
    ]
    return pd.DataFrame(shown, columns=["difference", "low", "high", "outcome"])


@pytest.mark.parametrize(
    ("rows", "kind", "inputs", "said"),
    [
        (
            [(0.0721, GAIN), (0.0946, GAIN), (0.0766, GAIN)],
            MODELS,
            WITH_STATE,
            "Runtime state adds 7 to 10 points of accuracy for all three models",
        ),
        ([(0.1867, GAIN)], RULES, PLUS, "Extended runtime state adds 18.7 points of accuracy over runtime state for "
         "one detector"),
        ([(0.004, GAIN), (0.02, GAIN)], MODELS, WITH_STATE, "Runtime state adds 0.4 to 2.0 points of accuracy for both "
         "models"),
        ([(-0.235, LOSS)], MODELS, WITH_STATE, "Runtime state lowers accuracy by 23.5 points for one model"),
        (
            [(-0.05, LOSS)] * 5,
            MODELS,
            PLUS,
            "Extended runtime state lowers accuracy against runtime state by 5.0 points for all 5 models",
        ),
        (
            [(0.05, GAIN), (-0.02, LOSS), (0.01, NONE)],
            MODELS,
            WITH_STATE,
            "Runtime state changes accuracy by −2 to 5 points: 1 of 3 models gains, 1 loses, 1 without evidence",
        ),
        (
            [(0.05, GAIN), (0.02, GAIN), (0.01, NONE)],
            MODELS,
            WITH_STATE,
            "Runtime state changes accuracy by 1 to 5 points: 2 of 3 models gain, none loses, 1 without evidence",
        ),
        (
            [(-0.05, LOSS), (-0.02, LOSS), (0.01, UNTESTED), (NAN, NOTHING)],
            MODELS,
            PLUS,
            "Extended runtime state changes accuracy against runtime state by −5 to 1 points: none of 4 models gains, "
            "2 lose, 1 not tested, 1 with nothing to compare",
        ),
        (
            [(-0.013, NONE)],
            RULES,
            WITH_STATE,
            "Runtime state: no evidence of a change of accuracy for one detector (−1.3 points)",
        ),
        (
            [(0.0, NONE), (0.0, NONE)],
            ANALYZERS,
            WITH_STATE,
            "Runtime state: no evidence of a change of accuracy for either analyzer (0.0 points)",
        ),
        (
            [(0.0, NONE)] * 7,
            MODELS,
            PLUS,
            "Extended runtime state: no evidence of a change of accuracy against runtime state for any of 7 models "
            "(0.0 points)",
        ),
        (
            [(0.05, UNTESTED), (-0.51, UNTESTED)],
            MODELS,
            WITH_STATE,
            "Runtime state: accuracy differs by −51 to 5 points for both models, not tested",
        ),
        ([(NAN, NOTHING)], MODELS, WITH_STATE, "Runtime state: nothing to compare with code alone"),
        ([], MODELS, PLUS, "Extended runtime state: nothing to compare with runtime state"),
    ],
)  # fmt: skip
def test_headline(
    rows: list[tuple[float, Outcome]], kind: str, inputs: Inputs, said: str
) -> None:
    assert headline(table(rows), kind, inputs) == said
