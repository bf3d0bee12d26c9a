"""A tool runs in a folder and its own environment, and ends within its limits with all that it started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crane_core.detectors.bounded_tool import (
    MIB,
    ToolLimits,
    ToolStoppedError,
    run_tool,
)
from tests.patience import PATIENCE_S, once


def run(
    program: str,
    folder: Path,
    limits: ToolLimits,
    *,
    accepted: tuple[int, ...] = (0,),
) -> str:
    return run_tool(
        "the tool",
        [sys.executable, "-c", program],
        folder,
        limits,
        accepted=accepted,
    )


ENOUGH = ToolLimits(int(PATIENCE_S))


def test_what_it_prints_comes_back(tmp_path: Path) -> None:
    assert run(
        "import os; print(os.getcwd())", tmp_path, ENOUGH
    ).strip() == str(tmp_path)


def test_nothing_of_the_users_environment_reaches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONPATH", "PYLINTRC", "NODE_OPTIONS", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "theirs")
    known = run(
        "import os, sys; print(dict(os.environ)); print(sys.stdin.read())",
        tmp_path,
        ENOUGH,
    )
    assert "theirs" not in known
    assert os.environ["HOME"] not in known or os.environ["HOME"] == "/"


def test_too_slow_is_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    program = "import os, time\nos.fork()\nopen(f'pid-{os.getpid()}', 'w').close()\ntime.sleep(600)"
    pids: list[int] = []
    for seconds in (2, 20, 200):
        with pytest.raises(ToolStoppedError, match=f"more than {seconds} s"):
            run(program, tmp_path, ToolLimits(seconds))
        pids = [
            int(path.name.removeprefix("pid-"))
            for path in tmp_path.glob("pid-*")
        ]
        if len(pids) >= 2:  # on a busy machine it starts late
            break
    assert len(pids) >= 2
    assert once(lambda: not any(_runs(pid) for pid in pids))


def _runs(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(
            "utf-8"
        )
    except FileNotFoundError:
        return False


def test_too_much_output_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(ToolStoppedError, match="ended with"):
        run(
            "while True: print('a' * 10_000)",
            tmp_path,
            ToolLimits(int(PATIENCE_S), output_bytes=MIB),
        )
    assert (tmp_path / "printed.txt").stat().st_size <= MIB


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="other systems do not hold a process to its data limit",
)
def test_too_much_memory_is_stopped_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(ToolStoppedError, match="MemoryError"):
        run(
            "a = bytearray(2**30)",
            tmp_path,
            ToolLimits(int(PATIENCE_S), memory_bytes=256 * MIB),
        )


@pytest.mark.parametrize(
    "program", ["raise SystemExit(3)", "import os; os.kill(os.getpid(), 11)"]
)
def test_a_bad_end_is_told(tmp_path: Path, program: str) -> None:
    with pytest.raises(ToolStoppedError, match=r"ended with (3|-11)"):
        run(program, tmp_path, ENOUGH)


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="only Linux kills a process when its parent ends",
)
def test_it_ends_when_whoever_started_it_is_killed(tmp_path: Path) -> None:
    waits = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    starts = (
        "import sys; from pathlib import Path; from crane_core.detectors.bounded_tool import ToolLimits, run_tool\n"
        f"run_tool('the tool', [sys.executable, '-c', {waits!r}], Path({str(tmp_path)!r}), ToolLimits(600))"
    )
    printed = tmp_path / "printed.txt"
    with subprocess.Popen(
        [sys.executable, "-c", starts], cwd=Path(__file__).parents[2]
    ) as starter:
        pid = int(
            once(
                lambda: printed.is_file() and printed.read_text("utf-8").strip()
            )
        )
        starter.kill()
    assert once(lambda: not _runs(pid))
