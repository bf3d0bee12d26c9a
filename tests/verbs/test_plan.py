"""`plan` and `report --plans`: a plan from its file to the table of what was found, in every format."""

from __future__ import annotations

import json
from pathlib import Path

from crane_core.pipeline.loading.load import rebuild
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run


def test_a_plan_is_written_registered_and_compared(
    run: Run, folder: DataFolder, tmp_path: Path
) -> None:
    file = tmp_path / "study.toml"
    assert "No plan is registered" in run("report", "--plans").out
    assert run("plan", "new", str(file)).code == 0
    assert "cannot be written" in run("plan", "new", str(file)).err
    said = run("plan", "register", str(file))
    assert said.code == 0
    assert (
        "registered study before its first answer: 1 question, sha256 "
        in said.err
    )
    assert "does not change" in run("plan", "register", str(file)).err
    shown = run("report", "--plans").out
    assert "| study |" in shown
    assert "not answered yet" in shown
    assert "exploratory" not in run("report", "--plans").err
    [row] = json.loads(run("report", "--plans", "--json").out)
    assert (row["found"], row["difference"]) == ("not answered yet", None)
    assert run("report", "--plans", "--format", "csv").out.startswith(
        "plan,question"
    )
    assert "longtable" not in run("report", "--plans", "--format", "latex").out
    rebuild(folder)
    assert "| study |" in run("report", "--plans").out


def test_a_file_that_is_no_plan_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    for content in (b"", b"\xff", b"title = 3", b"x" * 400_000):
        file.write_bytes(content)
        said = run("plan", "register", str(file))
        assert (said.code, "Traceback" in said.err) == (1, False)
