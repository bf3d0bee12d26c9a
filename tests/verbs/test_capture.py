"""The command `capture`: absences in words; what cannot be written is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from crane_core.cli import main
from crane_core.verbs.capture import absent_words


def test_absences_are_told_in_words() -> None:
    column = {
        "of": "df",
        "column": "kg",
        "similar": ["kg "],
        "line": 3,
        "certain": True,
    }
    assert absent_words("columns", column) == "column kg of df, line 3"
    assert absent_words("names", {"name": "n"}) == "name n"
    assert (
        absent_words(
            "keys", {"of": "df.loc", "label": 7, "in": "index", "line": 1}
        )
        == "label 7 of df.loc, line 1"
    )
    assert (
        absent_words("arguments", {"of": "f", "why": "too many"})
        == "arguments of f"
    )


def test_a_folder_is_no_file_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "--data",
                str(tmp_path / "data"),
                "capture",
                "trip.ipynb",
                "--out",
                str(tmp_path),
            ]
        )
        == 1
    )
    said = capsys.readouterr().err
    assert f"{tmp_path}: Is a directory" in said and "Running" not in said


@pytest.mark.parametrize(
    "given", ["--timeout-s=-5", "--timeout-s=soon", "--timeout-s=nan"]
)
def test_a_time_that_is_none_is_wrong_usage(
    given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["check", "trip.ipynb", given])
    assert "expected a number above 0" in capsys.readouterr().err
