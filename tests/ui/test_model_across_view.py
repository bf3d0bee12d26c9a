"""The sentence about the model over all detectors: what it finds, and why there may be none."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.results.model_across import SAMPLED, ModelAcross
from crane_core.stats.gee import Unfit
from crane_core.ui.model_across_view import finding


@pytest.mark.parametrize(
    ("p", "df", "said"),
    [
        (
            0.69179,
            2,
            "**No evidence that the models differ in how much they gain, p = 0.692**",
        ),
        (0.0123, 1, "**The models differ in how much they gain, p = 0.012**"),
        (0.00001, 2, "**The models differ in how much they gain, p < 0.001**"),
    ],
)
def test_the_finding_is_that_of_the_test(p: float, df: int, said: str) -> None:
    sentence = finding(ModelAcross(pd.DataFrame(), 0.737, df, p, 111), "models")
    assert sentence.startswith(said)
    freedom = "1 degree of freedom" if df == 1 else "2 degrees of freedom"
    assert sentence.endswith(f"χ² = 0.74, {freedom}, 111 cases).")


@pytest.mark.parametrize("reason", [*Unfit, SAMPLED])
def test_every_reason_has_its_words(reason: str) -> None:
    found = ModelAcross(
        pd.DataFrame(),
        float("nan"),
        0,
        float("nan"),
        5,
        reason,
        ("pylint", "pyright"),
    )
    sentence = finding(found, "detectors")
    assert sentence.startswith("No model over all detectors: ")
    assert "{" not in sentence
    named = reason in {Unfit.FEW_CLUSTERS, Unfit.SEPARATED, Unfit.FEW_CHANGED}
    assert ("of pylint and pyright" in sentence) == named
    assert "nan" not in sentence.replace("nobody", "")
