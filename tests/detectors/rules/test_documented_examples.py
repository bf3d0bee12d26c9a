"""Examples in the docstrings of the installed libraries: every crash that is predicted of them comes, of that class."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks._examples import (
    Trial,
    each_statement,
    is_false_alarm,
    is_wrong_class,
    rest_of,
    texts,
)
from tests.optional import each

pytestmark = pytest.mark.corpus

SAMPLES = {
    "python": 8,
    "numpy": 60,
    "pandas": 45,
    "sklearn": 20,
    "scipy": 12,
    "torch": 12,
}


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "MPLBACKEND", "Agg")


@pytest.mark.parametrize("library", each(SAMPLES))
def test_nothing_is_predicted_that_does_not_come(library: str) -> None:
    every = list(texts(library))
    sample = every[:: max(1, len(every) // SAMPLES[library])]
    trials: list[Trial] = [
        trial
        for text in sample
        for of_text in (each_statement(text), rest_of(text, 0))
        for trial in of_text
    ]
    assert len(trials) > SAMPLES[library]
    assert [trial for trial in trials if is_false_alarm(trial)] == []
    assert [
        trial
        for trial in trials
        if is_wrong_class(trial) and "\n" not in trial.target.strip()
    ] == []
    assert [trial.errors for trial in trials if trial.errors] == []
