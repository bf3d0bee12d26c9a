"""The app as a separate process on a free loopback port, for browser tests and measurements.

Knows how it is started, when it is up and how it is stopped: by its own process group. Refuses to know what is asked.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil

CHECKOUT = Path(__file__).resolve().parents[1]
START_TIMEOUT_S = 300.0
STOP_TIMEOUT_S = 10.0
_PAUSE_S = 0.05
_FIRST_PORT, _PROCESSES, _PORTS_OF_EACH = 20_000, 300, 40
"""Below the ports that Linux hands out by itself, from 32,768: between the question and the start of a server any
kernel or client may be given one of those."""
_asked = count()


class ServerError(RuntimeError):
    """The app did not come up; the message ends in what it printed."""


@contextmanager
def serve(data: Path, **given: Any) -> Iterator[str]:
    """As `serve_process`, without the process."""
    with serve_process(data, **given) as (address, _):
        yield address


@contextmanager
def serve_process(
    data: Path,
    *,
    port: int | None = None,
    end_with: signal.Signals = signal.SIGTERM,
    arguments: Sequence[str] = (),
    **environment: str,
) -> Iterator[tuple[str, int]]:
    """Run `python -m crane_core --data DATA app` until the body ends; its address without a trailing slash, its pid.

    It listens at `port`, else at a free one, and ends by the signal `end_with`. `arguments` follow `app`, and
    `environment` is set beside what this process has. The pid is that of its process group too. Raises ServerError if
    the app ends or stays silent.
    """
    port = port or free_port()
    command = [
        sys.executable,
        "-m",
        "crane_core",
        "--data",
        str(data),
        "app",
        "--port",
        str(port),
        *arguments,
    ]
    log = data.with_name(f"{data.name}.{port}.log")
    with log.open("wb") as printed:
        process = subprocess.Popen(
            command,
            cwd=CHECKOUT,
            env=os.environ | environment,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(address, process, log)
        yield address, process.pid
    finally:
        _stop(process, end_with)


def free_port() -> int:
    """A port that nobody listens on at this moment, of those that no process beside this one asks for."""
    first = _FIRST_PORT + os.getpid() % _PROCESSES * _PORTS_OF_EACH
    for _ in range(_PORTS_OF_EACH):
        port = first + next(_asked) % _PORTS_OF_EACH
        with socket.socket() as probe:
            # As a server does: connections that have ended do not keep it.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    raise ServerError(f"None of {_PORTS_OF_EACH} ports from {first} is free.")


def resident_bytes(pid: int) -> int:
    """Resident bytes of a process and all that it started, pages that they share counted once per process."""
    process = psutil.Process(pid)
    total = 0
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it ended meanwhile
            total += each.memory_info().rss
    return total


def _wait_until_up(
    address: str, process: subprocess.Popen[bytes], log: Path
) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServerError(
                f"The app ended with {process.returncode}:\n{_printed(log)}"
            )
        if _is_healthy(address):
            return
        time.sleep(_PAUSE_S)
    raise ServerError(
        f"The app was not up after {START_TIMEOUT_S:.0f} s:\n{_printed(log)}"
    )


def _is_healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(
            f"{address}/_stcore/health", timeout=1
        ) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _printed(log: Path) -> str:
    return log.read_text("utf-8", errors="replace")[-4_000:]


def _stop(process: subprocess.Popen[bytes], end_with: signal.Signals) -> None:
    """End the process and what it started; its pid is its group's, because it leads its own session."""
    if process.poll() is None:
        os.killpg(process.pid, end_with)
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
