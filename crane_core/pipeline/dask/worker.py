"""What a worker of a Dask cluster does with a piece of work: once, with its lines in a file of the worker's own first.

Lines that were not fetched any more, as the worker or the driver was killed, are found there by the next worker of the
same user and machine. The file goes when the driver has merged everything, or after a week. Refuses to know
what a piece is about.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_path

from crane_core import __version__
from crane_core.errors import ClusterError
from crane_core.helper_process import begin_worker
from crane_core.ledger.chain import whole_lines

KEPT_S = 7 * 86_400
Lines = list[str]
Work = Callable[[Any, threading.Event], Lines]
"""Does a piece until the event is set, and returns its lines; a function that can be imported on every worker."""


class WorkerOrder(NamedTuple):
    """One piece for a worker. `start` names this start of the driver, `mark` the piece with its whole content."""

    job: str
    start: str
    version: str
    mark: str
    body: bytes


class StoppedPieceError(Exception):
    """The driver no longer wants the piece."""


_own: dict[str, _OwnFile] = {}
_stops: dict[str, threading.Event] = {}
_lock = threading.Lock()


def do(order: WorkerOrder) -> Lines:
    """The lines of a piece: from this machine's files where they are there already, else by doing it now."""
    if order.version != __version__:
        raise ClusterError(
            f"The worker on {socket.gethostname()} runs Crane Workbench {__version__}, the driver {order.version}.",
            remedy="Install the same version on every worker.",
        )
    with _lock:
        stop = _stops.setdefault(order.start, threading.Event())
        own = _own.setdefault(order.job, _OwnFile(_folder(order.job)))
    if (known := own.lines_of(order.mark)) is not None:
        return known
    if stop.is_set():
        raise StoppedPieceError
    work, given = pickle.loads(order.body)  # noqa: S301 - a cluster runs what its driver sends
    lines: Lines = work(given, stop)
    own.write(order.mark, lines)
    return lines


def stop(start: str) -> None:
    """End what this worker does for a start of a driver, and begin nothing more of it."""
    with _lock:
        _stops.setdefault(start, threading.Event()).set()


def forget(job: str, start: str) -> None:
    """Remove this machine's files of a job of which everything is merged."""
    with _lock:
        _own.pop(job, None)
        _stops.pop(start, None)
    if (folder := _folder(job)).exists():
        shutil.rmtree(
            folder, ignore_errors=True
        )  # another worker of this machine removes the same files


def _folder(job: str) -> Path:
    return user_cache_path("crane-workbench") / "dask" / job


class _OwnFile:
    """The file that this process appends to, and the lines that earlier processes of this machine left beside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        _remove_old(folder.parent)
        self._places = dict(_places(folder))

    def lines_of(self, mark: str) -> Lines | None:
        """The lines of a piece that this machine did before; None if it has not."""
        if (place := self._places.get(mark)) is None:
            return None
        path, start = place
        with path.open("rb") as file:
            file.seek(start)
            lines: Lines = json.loads(file.readline())["lines"]
            return lines

    def write(self, mark: str, lines: Lines) -> None:
        """One write to the end of the file, on the disk when this returns."""
        body = {"mark": mark, "lines": lines}
        path = self._folder / f"{socket.gethostname()}-{os.getpid()}.jsonl"
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with path.open("ab") as file:
                start = file.tell()
                file.write((json.dumps(body) + "\n").encode())
                file.flush()
                # On the disk before the driver hears of it: the machine may go down in between.
                os.fsync(file.fileno())
            self._places[mark] = path, start


def _remove_old(top: Path) -> None:
    """Remove files of drivers that never came back."""
    for path in top.glob("*/*.jsonl"):
        if time.time() - path.stat().st_mtime > KEPT_S:
            path.unlink(missing_ok=True)


def _places(folder: Path) -> Iterator[tuple[str, tuple[Path, int]]]:
    """Where the whole lines of the files in a folder begin, by the mark of their piece."""
    for path in sorted(folder.glob("*.jsonl")):
        start = 0
        for line in whole_lines(path.read_bytes()).splitlines(keepends=True):
            yield json.loads(line)["mark"], (path, start)
            start += len(line)


def dask_setup(worker: object) -> None:
    """Called by a worker of our own cluster as it starts: Ctrl+C reaches it too, but the driver decides what ends.

    Not SIG_IGN, which kernels would inherit.
    """
    begin_worker()
    signal.signal(signal.SIGINT, lambda *_: None)
