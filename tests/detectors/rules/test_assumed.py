"""States that tell no versions: the libraries of an interpreter that somebody names are asked about them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from crane_core.detectors import rules_detector
from crane_core.errors import KernelStartError
from crane_core.runtime.interpreters import ASSUMED, assumed
from tests.detectors.rules.conftest import Predict

SETUP = "import numpy as np"
TARGET = "np.array([[1, 2], [3]])"
"""Refused since NumPy 1.24; before, an array of objects."""


@pytest.fixture
def predict_unnamed(
    predict_by_code: Predict, monkeypatch: pytest.MonkeyPatch
) -> Predict:
    """What the rules say while nobody names an interpreter."""
    monkeypatch.delenv(ASSUMED, raising=False)
    return predict_by_code


def test_nothing_is_asked_about_unknown_versions(
    predict_unnamed: Predict,
) -> None:
    assert predict_unnamed(SETUP, TARGET).exception is None
    assert "assumed" not in rules_detector.options()


@pytest.mark.parametrize(
    "target",
    [
        "np.stack([np.zeros(2), np.zeros(3)])",
        "np.ones((3, 4)) @ np.ones((3, 4))",
        "np.arange(0, 36, 2)[18]",
        "np.zeros(4).reshape(3, 2)",
        "np.abs([1.5, -2.0]).append(3)",
        "np.arange(3) + np.arange(4)",
    ],
)
def test_shapes_that_every_version_refuses_need_none(
    target: str, predict_unnamed: Predict
) -> None:
    found = predict_unnamed(SETUP, target)
    assert found.exception == found.raised is not None


@pytest.mark.parametrize(
    "target",
    [
        "np.arange(3) == np.arange(4)",
        "np.arange(3).ptp()",
        "np.zeros(3, 'uint8') + 300",
        "bool(np.array([]))",
        "np.linalg.solve(np.eye(3), np.ones((2, 3)))",
    ],
)
def test_what_some_version_accepts_is_not_predicted_without_one(
    target: str, predict_unnamed: Predict
) -> None:
    assert predict_unnamed(SETUP, target).exception is None


def test_the_named_interpreter_is_asked(
    predict_by_code: Predict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ASSUMED, sys.executable)
    found = predict_by_code(SETUP, TARGET)
    assert found.exception == found.raised == "ValueError"
    assert rules_detector.options()["assumed"]["numpy"]


def test_one_that_does_not_exist_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ASSUMED, str(tmp_path / "python"))
    with pytest.raises(KernelStartError):
        assumed()
