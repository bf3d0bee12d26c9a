"""Dates of models: those of makers, with their source, and the user's own before them."""

from __future__ import annotations

from pathlib import Path

import pytest

from crane_core.errors import DetectorError
from crane_core.llm.model_dates import KnownModels, ModelDates


def test_a_model_is_known_in_any_spelling(tmp_path: Path) -> None:
    known = KnownModels(tmp_path)
    found = known.dates("openai/gpt-5-2025-08-07")
    assert found == known.dates("GPT-5")
    assert found.cutoff is not None
    assert found.cutoff.text == "2024-09-30"
    assert found.source is not None
    assert found.source.startswith("https://")
    # The study's own id of the model.
    qwen = known.dates("qwen-2.5-32b-instruct")
    assert qwen.cutoff is None
    assert qwen.unseen_after == qwen.released
    assert known.dates("gpt-5-mini", "heron") == ModelDates()


def test_the_users_own_dates_come_first(tmp_path: Path) -> None:
    own = (
        '["GPT-5"]\ncutoff = "2024-10"\n\n["heron"]\nreleased = "2025-01-02"\n'
    )
    (tmp_path / "models.toml").write_text(own, "utf-8")
    known = KnownModels(tmp_path)
    mine = known.dates("gpt-5")
    assert mine.cutoff is not None
    assert (mine.cutoff.text, mine.released, mine.source) == (
        "2024-10",
        None,
        "set by the user",
    )
    assert known.dates("nothing", "Heron").released is not None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gpt = 5", "is not a table"),
        ('[m]\nbirthday = "2024-01"', "unknown member 'birthday'"),
        ("[m]\ncutoff = 2024-01-01", "cutoff of the model 'm' is not a string"),
        ('[m]\ncutoff = "soon"', "'soon' is not a date"),
        ("[m", "models.toml in the data folder cannot be read"),
        ("#" * 1_000_001, "larger than 1,000,000 bytes"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "models.toml").write_text(text, "utf-8")
    with pytest.raises(DetectorError, match=why) as refused:
        KnownModels(tmp_path)
    assert "files.md" in refused.value.remedy
