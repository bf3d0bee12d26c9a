"""What is loaded for good stays out of collections, once, and is given back before the process ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import gc
from crane_core.ui.first_visit import freeze_gc
counts = []
kept = []
for step in range(3):
    freeze_gc()
    counts.append(gc.get_freeze_count())
    kept += [[] for _ in range(10_000)]
    if step == 1:
        import wave
print(*counts)
"""


@pytest.mark.slow
def test_only_what_brings_modules_is_taken_out_of_sight(root: Path) -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=True
    )
    first, second, third = map(int, done.stdout.split())
    assert first > 10_000
    assert second <= first
    assert third >= second + 20_000
    assert "leak" not in done.stderr
