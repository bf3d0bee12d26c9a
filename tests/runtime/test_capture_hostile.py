"""Cells that do not end, or end too much: stopped, reported, and no process of theirs is left (see conftest.mark)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from crane_core.errors import (
    CellRaisedError,
    CellStoppedError,
    KernelEndedError,
)
from crane_core.runtime import kernel
from crane_core.runtime.capture import capture
from crane_core.runtime.limits import MIB, KernelLimits
from tests.patience import PATIENCE_S, once

from .conftest import WriteNotebook, is_running, processes_marked

SHORT = KernelLimits(cell_s=2)
SWALLOWS = """
while True:
    try:
        while True: pass
    except KeyboardInterrupt:
        pass
"""
IGNORES_SIGNALS = """
import signal, time
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
while True: time.sleep(1)
"""
FORKS = """
import os, time
for _ in range(10):
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
"""
DAEMON = """
import os, sys, time
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir('/')
    os.write(write, str(os.getpid()).encode())
    os.closerange(0, 1000)
    if {exec}:
        os.execve(sys.executable, [sys.executable, '-I', '-c', 'import time; time.sleep(600)'], {{}})
    time.sleep(600)
daemon = int(os.read(read, 20))
"""
PRINTS = "while True: print('x' * 1000)"
WRITES = "import os\nwhile True: os.write(2, b'x' * 1000)"
SHOWS = "from IPython.display import HTML, display\nwhile True: display(HTML('x' * 100_000))"
SHELL = "!yes"
EATS = "held = []\nwhile True: held.append(b'x' * 10_000_000)"
MANY = "import subprocess\nwhile True: subprocess.Popen(['sleep', '600'])"


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(
            SWALLOWS, id="swallows interrupts", marks=pytest.mark.slow
        ),
        pytest.param(IGNORES_SIGNALS, id="ignores signals"),
        pytest.param(
            "!sleep 600", id="waits in a shell", marks=pytest.mark.slow
        ),
        pytest.param(
            "import re; re.match(r'(a+)+$', 'a' * 60 + 'b')",
            id="holds the interpreter",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_cell_that_does_not_end_is_stopped(
    notebook: WriteNotebook, cell: str
) -> None:
    path = notebook(
        "endless", "never = 'ran'", cell, "a", counts=[None, 1, 2]
    )  # alone before the target
    with pytest.raises(
        CellStoppedError,
        match=r"^Code cell 1 of endless.ipynb ran longer than 2 s and",
    ) as stopped:
        capture(path, limits=SHORT)
    assert stopped.value.cell == 1


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(PRINTS, id="prints"),
        pytest.param(WRITES, id="writes below Python", marks=pytest.mark.slow),
        pytest.param(SHOWS, id="shows", marks=pytest.mark.slow),
        pytest.param(SHELL, id="prints in a shell", marks=pytest.mark.slow),
        pytest.param(
            "print('x' * 50_000_000)",
            id="prints one long line",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "raise ValueError('x' * 50_000_000)",
            id="raises a long message",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_cell_that_gives_out_too_much_is_stopped(
    notebook: WriteNotebook, cell: str
) -> None:
    with pytest.raises(CellStoppedError, match="printed more than 5 MiB"):
        capture(
            notebook("loud", cell, "while True: pass", "1"),
            limits=KernelLimits(output_bytes=5 * MIB),
        )


@pytest.mark.slow
def test_a_thread_that_prints_endlessly_is_stopped_with_the_cell_that_runs_then(
    notebook: WriteNotebook,
) -> None:
    cell = f"import threading\ndef talk():\n    {PRINTS}\nthreading.Thread(target=talk).start()"
    with pytest.raises(CellStoppedError, match="printed more than 2 MiB"):
        capture(
            notebook("talks", cell, "while True: pass", "1"),
            limits=KernelLimits(output_bytes=2 * MIB),
        )


@pytest.mark.slow
def test_a_cell_that_eats_memory_is_stopped(notebook: WriteNotebook) -> None:
    with pytest.raises(
        CellStoppedError, match="used more than 400 MiB of memory"
    ):
        capture(
            notebook("eats", EATS, "1"),
            limits=KernelLimits(memory_bytes=400 * MIB),
        )


@pytest.mark.slow
def test_memory_that_forks_share_is_counted_once(
    notebook: WriteNotebook,
) -> None:
    path = notebook(
        "shares", "held = bytearray(b'x') * 150_000_000", FORKS, "1"
    )
    assert (
        len(
            capture(path, limits=KernelLimits(memory_bytes=600 * MIB)).processes
        )
        == 10
    )


def test_a_cell_that_starts_too_many_processes_is_stopped(
    notebook: WriteNotebook,
) -> None:
    with pytest.raises(
        CellStoppedError, match="had more than 20 processes running"
    ):
        capture(notebook("many", MANY, "1"), limits=KernelLimits(processes=20))


@pytest.mark.parametrize(
    ("cell", "how"),
    [
        pytest.param(
            "import os; os._exit(3)",
            "exit code 3",
            id="leaves",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "import os; os.kill(os.getpid(), 9)",
            "signal SIGKILL",
            id="kills itself",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "import ctypes; ctypes.string_at(0)",
            "signal SIGSEGV",
            id="segfaults",
        ),
        pytest.param(
            "import os; os.abort()",
            "signal SIGABRT",
            id="aborts",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "exit()", "exit code 0", id="exits", marks=pytest.mark.slow
        ),
    ],
)
def test_a_cell_that_ends_the_kernel_is_named(
    notebook: WriteNotebook, cell: str, how: str
) -> None:
    path = notebook("ends", "a = 1", cell, "a")
    with pytest.raises(
        KernelEndedError,
        match=rf"^Code cell 1 of ends.ipynb ended the kernel \({how}\)",
    ) as ended:
        capture(path)
    assert ended.value.cell == 1
    assert list(path.parent.glob("core*")) == []


@pytest.mark.parametrize(
    "cell",
    [
        "lane = input('lane? ')",
        pytest.param(
            "import getpass; lane = getpass.getpass()", marks=pytest.mark.slow
        ),
    ],
)
def test_a_cell_that_waits_for_input_is_told_so(
    notebook: WriteNotebook, cell: str
) -> None:
    with pytest.raises(
        CellRaisedError,
        match=r"^Code cell 0 of asks.ipynb waits for input.*Write the value",
    ):
        capture(notebook("asks", cell, "lane"))


@pytest.mark.slow
def test_standard_input_is_empty(notebook: WriteNotebook) -> None:
    path = notebook("reads", "import os; got = os.read(0, 10)", "got")
    assert capture(path, probes=["got"]).result.probes[0]["before"] == "b''"


@pytest.mark.slow
def test_forked_processes_are_reported_and_ended(
    notebook: WriteNotebook,
) -> None:
    captured = capture(notebook("forks", FORKS, "1"))
    assert len(captured.processes) == 10
    assert all("ipykernel_launcher" in line for line in captured.processes)


@pytest.mark.parametrize(
    "cleared", [pytest.param("False", marks=pytest.mark.slow), "True"]
)
def test_a_daemon_in_a_session_of_its_own_is_ended_even_without_our_environment(
    notebook: WriteNotebook, cleared: str
) -> None:
    captured = capture(
        notebook("daemon", DAEMON.format(exec=cleared), "daemon"),
        probes=["daemon"],
    )
    daemon = captured.result.probes[0]["before"]
    assert len(captured.processes) == 1
    assert not is_running(daemon)


@pytest.mark.slow
def test_threads_are_reported_and_ended(notebook: WriteNotebook) -> None:
    cell = "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), name='lap counter').start()"
    captured = capture(notebook("threads", cell, "1"))
    assert (captured.result.threads, captured.processes) == (
        ("lap counter",),
        (),
    )


@pytest.mark.slow
def test_workers_of_a_pool_are_ended(notebook: WriteNotebook) -> None:
    cell = (
        "from concurrent.futures import ProcessPoolExecutor as Pool\n"
        "pool = Pool(2)\nn = list(pool.map(abs, [-1, -2]))"
    )
    captured = capture(notebook("pool", cell, "n"), probes=["n"])
    assert captured.result.probes[0]["before"] == "[1, 2]"
    assert len(captured.processes) >= 2


def test_a_cell_that_kills_the_watchdog_leaves_nothing(
    notebook: WriteNotebook,
) -> None:
    cell = f"{FORKS}\nos.kill(os.getppid(), 9)\ntime.sleep(600)"
    with pytest.raises(
        KernelEndedError, match="killed the kernel and its watchdog"
    ):
        capture(notebook("rebels", cell, "1"))


@pytest.mark.slow
def test_a_cell_that_halts_the_watchdog_is_stopped_all_the_same(
    notebook: WriteNotebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "_WATCHDOG_LATE_S", 1.0)
    cell = "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nwhile True: pass"
    with pytest.raises(CellStoppedError, match="ran longer than 2 s"):
        capture(notebook("halts", cell, "1"), limits=SHORT)


@pytest.mark.slow
def test_a_probe_that_does_not_end_is_stopped(notebook: WriteNotebook) -> None:
    path = notebook("plain", "a = 1", "a")
    with pytest.raises(
        CellStoppedError, match=r"^Capturing the state ran longer than 1 s"
    ) as stopped:
        capture(
            path, probes=["any(iter(int, 1))"], limits=KernelLimits(look_s=1)
        )
    assert stopped.value.cell is None


@pytest.mark.parametrize(
    "sent",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_when_we_are_ended_the_kernel_ends_with_us(
    notebook: WriteNotebook, tmp_path: Path, mark: str, sent: signal.Signals
) -> None:
    """The kernel says by a file that it runs; then the command is ended from outside."""
    path = notebook(
        "lasting", f"{FORKS}\nopen('runs', 'w').close()\ntime.sleep(600)", "1"
    )
    command = [
        sys.executable,
        "-m",
        "crane_core",
        "capture",
        str(path),
        "--out",
        str(tmp_path / "out.json"),
    ]
    # A shell that runs the tests in the background makes them ignore SIGINT, and what they start would too.
    usual = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        command,
        cwd=Path(__file__).parents[2],
        stderr=subprocess.PIPE,
        preexec_fn=usual,
    ) as process:
        try:
            once(lambda: (tmp_path / "runs").exists())
            os.kill(process.pid, sent)
            process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    once(lambda: not processes_marked(mark))
    assert not (tmp_path / "out.json").exists()
