"""Work for the workers of a real Dask cluster in the tests, and that cluster: a scheduler and workers as processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
START_S = 300
HIDDEN = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
"""Without the address the page without a dashboard is there for the whole network."""


def logged(given: tuple[Path, str, float], stop: Event) -> list[str]:
    """Say in a file who begins the piece, take a moment, and give its name."""
    log, name, seconds = given
    with log.open("a") as file:
        file.write(f"{name} {os.getpid()}\n")
    time.sleep(seconds)
    return [name]


def until_stopped(given: tuple[Path, str], stop: Event) -> list[str]:
    """Wait until the driver stops."""
    log, name = given
    with log.open("a") as file:
        file.write(f"{name}\n")
    return [f"{name} stopped: {stop.wait(START_S)}"]


def fatal(given: str, stop: Event) -> list[str]:
    """End the worker where the name says so."""
    if given == "fatal":
        os.kill(os.getpid(), signal.SIGKILL)
    return [given]


def fatal_beside(given: tuple[Path, str], stop: Event) -> list[str]:
    """End the worker while it is busy with the other piece, which takes a second; alone, after a few."""
    mark, name = given
    if name != "fatal":
        mark.write_text(str(os.getpid()))
        time.sleep(1.0)
        return [name]
    until = time.monotonic() + 3.0
    while time.monotonic() < until:
        if mark.exists() and mark.read_text() == str(os.getpid()):
            break
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def raising(given: str, stop: Event) -> list[str]:
    raise OSError(f"no {given}")


class Processes(NamedTuple):
    """A scheduler at `address`, and its workers."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


def started(what: str, *arguments: str, cache: Path) -> subprocess.Popen[bytes]:
    """A scheduler or a worker that finds the project, and writes its own files below `cache`."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments]
    environment = os.environ | {
        "XDG_CACHE_HOME": str(cache),
        "PYTHONPATH": str(ROOT),
    }
    with (cache / f"{what}.log").open("ab") as log:
        return subprocess.Popen(
            command, cwd=cache, env=environment, stdout=log, stderr=log
        )


@contextmanager
def dask_processes(
    cache: Path, n_workers: int, *options: str
) -> Iterator[Processes]:
    """A scheduler and single-threaded workers on loopback, without nannies, so that a killed one stays away."""
    cache.mkdir(exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    scheduler = started(
        "scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        *HIDDEN,
        "--no-show",
        cache=cache,
    )
    one = (
        "--host",
        "127.0.0.1",
        "--nthreads",
        "1",
        *HIDDEN,
        "--death-timeout",
        str(START_S),
    )
    options = options or ("--no-nanny",)
    workers = [
        started("worker", address, *one, *options, cache=cache)
        for _ in range(n_workers)
    ]
    running = Processes(address, scheduler, workers)
    try:
        yield running
    finally:
        for process in (
            *workers,
            scheduler,
        ):  # a worker that is asked to end waits for a scheduler that has gone
            process.kill()
        for process in (*workers, scheduler):
            process.wait()
