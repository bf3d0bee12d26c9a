"""`api.check` and `api.capture` say what the commands say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core import api
from crane_core.cli import main
from tests.written_pairs import write_pair


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A pair that loads no library, so that its kernels start soon."""
    write_pair(
        tmp_path,
        "trip",
        ["v = [1]", "v[3]"],
        ["v = [1]", "v[0]"],
        error="IndexError",
    )
    return tmp_path / "trip"


@pytest.mark.slow
def test_check_finds_what_the_command_finds(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crashing, fixed = (
        folder / "trip_reproduced.ipynb",
        folder / "trip_fixed.ipynb",
    )
    verdict = api.check(crashing)
    assert main(["check", str(crashing), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert verdict.crashes and list(verdict.findings) == told["findings"]
    assert told["findings"][0]["exception"] in verdict._repr_html_()
    unsure = api.check(str(fixed))
    assert (unsure.crashes, unsure.predicted) == (None, "nothing certain")


def test_nothing_runs_where_it_is_not_wanted(tmp_path: Path) -> None:
    left = tmp_path / "left.txt"
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
             for source in (f"open({str(left)!r}, 'w').close()", "missing_name")]  # fmt: skip
    notebook = tmp_path / "own.ipynb"
    notebook.write_text(
        json.dumps(
            {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
        ),
        "utf-8",
    )
    api.check(notebook, execute=False)
    assert not left.exists()
    assert api.check(notebook).crashes and left.exists()
    with pytest.raises(api.CraneError):
        api.check(notebook, target=9)


def test_capture_is_the_document_of_the_command(folder: Path) -> None:
    state = api.capture(folder / "trip_reproduced.ipynb")
    assert state["variables"] and state["captured"]["cells"]
    json.dumps(state, allow_nan=False)
