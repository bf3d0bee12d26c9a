"""Examples in the docstrings of the installed libraries: every crash that is predicted of them comes, of that class."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks._examples import each_statement, rest_of, texts
from tests.optional import each

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.filterwarnings("ignore"),
]

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
def test_nothing_is_predicted_that_does_not_come(
    library: str, capsys: pytest.CaptureFixture[str]
) -> None:
    every = list(texts(library))
    sample = every[:: max(1, len(every) // SAMPLES[library])]
    targets = [
        target
        for text in sample
        for of_text in (each_statement(text), rest_of(text, 0))
        for target in of_text
    ]
    assert len(targets) > SAMPLES[library]
    predicted = [one for one in targets if one.predicted is not None]
    assert [one for one in predicted if one.came is None] == []
    assert [
        one
        for one in predicted
        # Of several lines an earlier one may raise first.
        if one.predicted != one.came and "\\n" not in one.place
    ] == []
    assert "a rule failed" not in capsys.readouterr().out
