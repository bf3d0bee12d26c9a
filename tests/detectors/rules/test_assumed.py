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
TARGET = "np.stack([np.zeros(2), np.zeros(3)])"


def test_nothing_is_asked_about_unknown_versions(predict_by_code: Predict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ASSUMED, raising=False)
    assert predict_by_code(SETUP, TARGET).exception is None
    assert "assumed" not in rules_detector.options()


def test_the_named_interpreter_is_asked(predict_by_code: Predict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ASSUMED, sys.executable)
    found = predict_by_code(SETUP, TARGET)
    assert found.exception == found.raised == "ValueError"
    assert rules_detector.options()["assumed"]["numpy"]


def test_one_that_does_not_exist_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ASSUMED, str(tmp_path / "python"))
    with pytest.raises(KernelStartError):
        assumed()
