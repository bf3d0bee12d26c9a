"""What the first visitor would wait for: done beside the server, of every page, and of no folder that has nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from crane_core.pipeline.places import DataFolder
from crane_core.ui.navigation import page_files
from crane_core.ui.warm import imported_by_pages

PROGRAM = """
from crane_core.ui.warm import begin
begin(patience_s=0).join()
from crane_core.ui.overview_view import compared, study
comparison = compared(study()).comparison
print(len(comparison))
"""


def test_every_page_is_warmed() -> None:
    found = imported_by_pages()
    assert len(found) == len(set(found))
    assert {"crane_core.ui.overview_view", "crane_core.ui.data_view", "crane_core.ui.runs.listed"} <= set(found)
    assert len(found) > len(page_files())


def test_it_says_nothing_and_leaves_the_answer(root: Path, folder: DataFolder) -> None:
    environment = {"CRANE_DATA": str(folder.path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["3"]
    assert "ScriptRunContext" not in done.stderr
    assert "Traceback" not in done.stderr


def test_the_terminal_stays_quiet(root: Path, folder: DataFolder) -> None:
    program = "from crane_core.ui.warm import load; load(); import app; app.begin(patience_s=0).join()"
    environment = {"CRANE_DATA": str(folder.path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
