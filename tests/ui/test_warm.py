"""What the first visitor would wait for: done beside the server, of every page, and of no folder that has nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crane_core.pipeline.places import DataFolder
from crane_core.ui.navigation import page_files
from crane_core.ui.warm import imported_by_pages

PROGRAM = """
import threading
from crane_core.ui.warm import load
load()
import app  # as Streamlit runs it; this brings `begin`
app.begin(patience_s=0)
for thread in threading.enumerate():  # the app's own, too: a thread that reads at exit leaves a warning
    if thread.name == "warm-up":
        thread.join()
from crane_core.ui.overview_view import compared, study
comparison = compared(study()).comparison
print(len(comparison))
"""


def test_every_page_is_warmed() -> None:
    found = imported_by_pages()
    assert len(found) == len(set(found))
    assert {
        "crane_core.ui.overview_view",
        "crane_core.ui.data_view",
        "crane_core.ui.runs.listed",
    } <= set(found)
    assert len(found) > len(page_files())


@pytest.mark.slow
def test_it_says_nothing_in_the_terminal_and_leaves_the_answer(
    root: Path, folder: DataFolder
) -> None:
    environment = {"CRANE_DATA": str(folder.path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["3"], "")
