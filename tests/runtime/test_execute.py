"""Cells under nbclient in a guarded kernel: what they raise is told, and they end at a limit."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from crane_core.errors import KernelError, KernelStartError
from crane_core.notebooks import CodeCell
from crane_core.runtime.execute import Execution, execute
from crane_core.runtime.isolation import Isolation, can_seal
from crane_core.runtime.limits import MIB, KernelLimits
from crane_core.runtime.program import Program, program
from tests.patience import once


def run(
    folder: Path,
    *sources: str,
    stop: threading.Event | None = None,
    **limits: object,
) -> Execution:
    cells = [
        CodeCell(index, source, None, None)
        for index, source in enumerate(sources, start=1)
    ]
    return execute(
        "trip.ipynb",
        cells,
        folder,
        program(),
        KernelLimits(**limits),
        stop=stop,
    )  # type: ignore[arg-type]


def test_what_a_cell_raises_ends_it_with_class_message_and_place(
    tmp_path: Path,
) -> None:
    went = run(tmp_path, "x = 1", "{}['stop']", "never")
    assert (went.at, went.exception, went.message, went.stopped) == (
        1,
        "KeyError",
        "'stop'",
        None,
    )


def test_cells_that_raise_nothing_run_through_in_their_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "stops.txt").write_text("3")
    went = run(
        tmp_path,
        "n = int(open('stops.txt').read())",
        "assert n == 3",
        "import asyncio; await asyncio.sleep(0)",
    )
    assert went[:4] == (None, None, "", None)


@pytest.mark.slow
def test_a_tolerated_exception_lets_the_next_cell_run(tmp_path: Path) -> None:
    cells = [
        CodeCell(index, source, None, None)
        for index, source in enumerate(["1 / 0", "x = 1", "1 / 0"])
    ]
    went = execute(
        "t.ipynb",
        cells,
        tmp_path,
        program(),
        KernelLimits(),
        tolerated=lambda at, exception: at == 0,
    )
    assert (went.at, went.exception) == (2, "ZeroDivisionError")


SWALLOWS = (
    "while True:\n try:\n  while True: pass\n except KeyboardInterrupt: pass"
)
slow = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "limits", "words"),
    [
        pytest.param(
            "while True: pass",
            {"cell_s": 1.0},
            "trip.ipynb ran longer than 1 s and was stopped",
            id="time",
        ),
        pytest.param(
            SWALLOWS,
            {"cell_s": 1.0},
            "ran longer than 1 s",
            id="swallows interrupts",
            marks=slow,
        ),
        pytest.param(
            "x = bytearray(900 * 2**20)",
            {"memory_bytes": 400 * MIB},
            "used more than 400 MiB of memory",
            id="memory",
        ),
        pytest.param(
            "while True: print('x' * 10_000)",
            {"output_bytes": 2 * MIB},
            "Code cell 1 of trip.ipynb printed more than 2",
            id="prints",
            marks=slow,
        ),
        pytest.param(
            "print('x' * 10**7)",
            {"output_bytes": 2 * MIB},
            "printed more than 2 MiB",
            id="one long line",
            marks=slow,
        ),
        pytest.param(
            "import os; os._exit(3)",
            {},
            "Code cell 1 of trip.ipynb ended the kernel (exit code 3)",
            id="exit",
        ),
        pytest.param(
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
            {},
            "signal SIGSEGV",
            id="signal",
            marks=slow,
        ),
    ],
)
def test_a_limit_and_an_end_of_the_kernel_are_told(
    tmp_path: Path, source: str, limits: dict[str, object], words: str
) -> None:
    went = run(tmp_path, source, "never", **limits)
    assert (went.at, went.exception) == (0, None)
    assert words in str(went.stopped)


@pytest.mark.slow
def test_the_time_is_that_of_all_cells_together(tmp_path: Path) -> None:
    """None of them comes near the limit, and so many cannot all run within it."""
    went = run(tmp_path, *["import time; time.sleep(0.1)"] * 100, cell_s=3.0)
    assert went.at is not None and went.at > 0
    assert "ran longer than 3 s" in str(went.stopped)


def test_it_ends_when_it_is_told_to_stop(tmp_path: Path) -> None:
    stop = threading.Event()

    def stop_once_it_runs() -> None:
        once((tmp_path / "runs").exists)
        stop.set()

    stopping = threading.Thread(target=stop_once_it_runs)
    stopping.start()
    with pytest.raises(KernelError, match="was stopped"):
        run(tmp_path, "open('runs', 'w').close()\nwhile True: pass", stop=stop)
    stopping.join()


def test_a_program_that_is_no_kernel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KernelStartError, match="did not start"):
        execute(
            "t.ipynb",
            [CodeCell(0, "1", None, None)],
            tmp_path,
            Program("cat", ("false",), {}),
            KernelLimits(),
        )


@pytest.mark.skipif(not can_seal(), reason="bubblewrap cannot seal here")
def test_a_sealed_kernel_has_no_keys_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    source = "import os; assert 'OPENAI_API_KEY' not in os.environ; open('left.txt', 'w').write('x')"
    went = run(tmp_path, source, isolation=Isolation.SEALED)
    assert went[:4] == (None, None, "", None)
    assert list(tmp_path.iterdir()) == []
