"""The title of a comparison says what the numbers say, however many detectors there are."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.results.measures import WITH_STATE, Inputs
from crane_core.ui.gains_words import headline

PLUS = Inputs(Setting.RUNTIME, Setting.RUNTIME_PLUS)


def table(*rows: tuple[float, float]) -> pd.DataFrame:
    return pd.DataFrame([{"difference": d, "low": low, "high": d + 0.1} for d, low in rows])


@pytest.mark.parametrize(
    ("rows", "kind", "inputs", "said"),
    [
        (
            [(0.0721, 0.013), (0.0946, 0.036), (0.0766, 0.02)],
            DetectorKind.LLM,
            WITH_STATE,
            "Runtime state adds 7 to 10 points of accuracy for all three models",
        ),
        (
            [(0.05, 0.01), (-0.02, -0.1)],
            DetectorKind.LLM,
            WITH_STATE,
            "Runtime state changes accuracy by −2 to 5 points; 1 of 2 models clearly gains",
        ),
        (
            [(0.05, 0.0), (0.01, -0.1)],
            DetectorKind.ANALYZER,
            WITH_STATE,
            "Runtime state changes accuracy by 1 to 5 points; 0 of 2 analyzers clearly gain",
        ),
        (
            [(0.1867, 0.1)],
            DetectorKind.RULES,
            PLUS,
            "Extended runtime state adds 18.7 points of accuracy over runtime state for one detector",
        ),
        (
            [(-0.013, -0.1)],
            DetectorKind.RULES,
            WITH_STATE,
            "Runtime state changes accuracy by −1.3 points; 0 of 1 detector clearly gain",
        ),
        ([(math.nan, math.nan)], DetectorKind.LLM, WITH_STATE, "Runtime state: the change of accuracy cannot be"),
    ],
)
def test_headline(rows: list[tuple[float, float]], kind: str, inputs: Inputs, said: str) -> None:
    assert headline(table(*rows), kind, inputs).startswith(said)
