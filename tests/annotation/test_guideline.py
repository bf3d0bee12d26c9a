"""The guideline says what the keys and codes of the program are, and its version follows its text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crane_core.annotation import guideline as module
from crane_core.annotation.guideline import guideline, guideline_version
from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.mask import INPUT, MODEL
from crane_core.annotation.reasons import REASONS


def test_the_three_labels_stand_in_it_with_their_keys() -> None:
    rows = re.findall(r"^\| (\d) \| (\w+) \|", guideline(), flags=re.MULTILINE)
    assert rows == [(str(key), str(label)) for key, label in enumerate(DIAGNOSIS_LABELS, start=1)]


def test_every_reason_stands_in_it_under_its_code() -> None:
    listed = guideline().partition("**Reasons**")[2].partition(":")[2]
    assert [entry.split()[0] for entry in listed.split(";")] == list(REASONS)


def test_the_words_that_hide_something_are_explained() -> None:
    assert MODEL in guideline() and INPUT in guideline()


def test_the_version_is_the_text_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    version = guideline_version()
    assert re.fullmatch(r"[0-9a-f]{12}", version)
    assert guideline_version() == version
    (tmp_path / "guideline.md").write_text(guideline() + " And one more word.", "utf-8")
    monkeypatch.setattr(module, "files", lambda _: tmp_path)
    assert guideline_version() != version
