"""Ctrl+C ends the app in order, also while pages are being drawn."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from benchmarks._server import CHECKOUT, serve_process
from crane_core.pipeline.places import DataFolder
from tests.ui.lab import copied
from tests.ui.visits import Visitor

PROGRAM = """
import sys, threading, time, atexit, duckdb
from crane_core.ui.server_process import leave

def draw():
    cursor = duckdb.connect()
    cursor.execute("select 1").df()
    drawing.wait()
    while True:
        cursor.execute("select i, i::varchar, [i] from range(20000) t(i)").df()

drawing = threading.Barrier(4)
for _ in range(3):
    threading.Thread(target=draw, daemon=True, name="ScriptRunner.scriptThread").start()
atexit.register(lambda: print("what was registered is done"))
drawing.wait()
time.sleep(0.3)  # into their loops; who comes late is not inside the database, and does not abort
leave(7) if sys.argv[1] == "leave" else sys.exit(7)
"""


def ended(how: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, how]
    return subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_threads_inside_the_database_abort_no_end() -> None:
    """Where a usual exit aborts, because Python unwinds their C++ frames."""
    assert any(ended("exit").returncode == -signal.SIGABRT for _ in range(20))
    for _ in range(2):
        done = ended("leave")
        assert (done.returncode, done.stdout) == (
            7,
            "what was registered is done\n",
        ), done.stderr


@pytest.mark.parametrize(
    "n_visitors", [pytest.param(0, marks=pytest.mark.slow), 3]
)
def test_ctrl_c_ends_the_app_with_zero(
    prepared_folder: DataFolder, tmp_path: Path, n_visitors: int
) -> None:
    data = copied(prepared_folder, tmp_path).path
    with serve_process(data, end_with=signal.SIGINT) as (address, pid):
        visits = [
            threading.Thread(target=_visit, args=(address,), daemon=True)
            for _ in range(n_visitors)
        ]
        for visit in visits:
            visit.start()
    for visit in visits:
        visit.join()
    assert not Path(f"/proc/{pid}").exists()
    log = next(tmp_path.glob("data.*.log")).read_text()
    assert "terminate called" not in log
    assert "FATAL" not in log


def _visit(address: str) -> None:
    try:
        Visitor(address).sees("results")
    except Exception:  # noqa: BLE001 - the server ends meanwhile, in any of many ways
        return
