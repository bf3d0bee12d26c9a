"""A process that asks libraries, from our side: started when it is first needed, kept, bounded, ended with us.

Knows the socket and the limits. What is asked stands in detectors/rules, what runs in kernel_side/crane_surrogates.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from crane_core.errors import KernelStartError
from crane_core.runtime.guarded import Guarded
from crane_core.runtime.isolation import best, furnished
from crane_core.runtime.limits import MIB, Limits

_FOLDER = Path(__file__).with_name("kernel_side")
_SOCKET = "asked"
_LONGEST_SOCKET_PATH = 100
_START = (
    "import sys, types\n"
    "packages = sys.modules['kernel_side'] = types.ModuleType('kernel_side')\n"
    "packages.__path__ = [sys.argv[1]]\n"
    "from kernel_side.crane_surrogates import worker\n"
    "worker.main(*sys.argv[2:])\n"
)
"""Finds our packages without a folder on the path in which libraries could meet our files instead of theirs."""
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_ENV = {**_ONE_THREAD, "PYTHONDONTWRITEBYTECODE": "1", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
LIMITS = Limits(memory_bytes=2048 * MIB, output_bytes=MIB, processes=20, disk_bytes=MIB)
_DATA_BYTES = 4096 * MIB
_MOST_ANSWER = MIB
_LINE_S = 1.0
"""How long one line may take on its way."""
_MOST_ENDS = 3
"""A worker that ended so often without a single answer is not started again: its libraries are broken."""
_T = TypeVar("_T")


class LibraryWorker:
    """The worker of one interpreter. Threads take turns; a forked copy of this process starts its own."""

    def __init__(self, python: str) -> None:
        self.python = python
        self._turn = threading.Lock()
        self._of_owners: list[object] = []
        self._forget()

    def _forget(self) -> None:
        self._owner = os.getpid()
        self._n_ends = 0
        self._room: TemporaryDirectory[str] | None = None
        self._guarded: Guarded | None = None
        self._listening: socket.socket | None = None
        self._connection: socket.socket | None = None
        self._heard = b""
        """What it said behind the last answer that was taken: answers to two questions may come at once."""
        self._loading: dict[str, bool] = {}
        """Libraries that it was told to load, and whether it has."""

    @property
    def pid(self) -> int | None:
        """The process that runs now; None where none does."""
        return self._guarded.pid if self._guarded is not None else None

    def start(self) -> None:
        """Start it beside, without waiting for it."""
        with self._turn:
            self._begin()

    def is_ready(self, libraries: Iterable[str], *, start_s: float) -> bool:
        """Whether it runs and has loaded the libraries, waited for up to `start_s`; if not, it continues with that."""
        return self._in_turn(lambda until: self._has_started(libraries, until), start_s) or False

    def ask(
        self, order: Mapping[str, Any], libraries: Iterable[str], *, seconds: float, start_s: float
    ) -> dict[str, Any] | None:
        """What it answers; None where it does not in time, dies, or takes longer than `start_s` to be ready.

        One that takes longer than `seconds` over an answer is ended, and a new one started with the next question.
        """

        def answer(until: float) -> dict[str, Any] | None:
            if not self._has_started(libraries, until):
                return None
            self._send(order)
            said = self._answer(time.monotonic() + seconds)
            self._n_ends = 0
            return said

        return self._in_turn(answer, start_s)

    def _in_turn(self, what: Callable[[float], _T], start_s: float) -> _T | None:
        until = time.monotonic() + start_s
        if not self._turn.acquire(timeout=start_s):
            return None
        try:
            return what(until)
        except (OSError, ValueError):
            self._end()
            return None
        except BaseException:
            # Somebody does not wait for the answer, which would be taken for that to the next question.
            self._end()
            raise
        finally:
            self._turn.release()

    def _has_started(self, libraries: Iterable[str], until: float) -> bool:
        return self._begin() and self._is_connected(until) and self._has_loaded(libraries, until)

    def end(self) -> None:
        """End it; it may be asked again."""
        with self._turn:
            if self._owner == os.getpid():
                self._end()

    def _begin(self) -> bool:
        """Whether it runs, after it was started if need be."""
        if self._owner != os.getpid():
            # Kept, as letting go of them would end what the process that was copied still uses.
            self._of_owners += [self._guarded, self._room, self._connection]
            self._forget()
        if self._guarded is not None:
            return True
        if self._n_ends >= _MOST_ENDS:
            return False
        room = self._room = TemporaryDirectory(prefix="crane-asked-")
        path = os.path.join(room.name, _SOCKET)  # noqa: PTH118
        listening = self._listening = socket.socket(socket.AF_UNIX)
        try:
            if len(path) > _LONGEST_SOCKET_PATH:
                raise OSError(f"{path} is too long for a socket")
            listening.bind(path)
            listening.listen(1)
            argv = [self.python, "-I", "-c", _START, str(_FOLDER), path, str(_DATA_BYTES)]
            isolated = furnished(best(), argv, _ENV, _FOLDER, Path(room.name), network=False)
            self._guarded = Guarded(isolated.argv, folder=_FOLDER, env=isolated.env, limits=LIMITS)
        except (OSError, KernelStartError):
            self._end()
            self._n_ends = _MOST_ENDS
            return False
        return True

    def _is_connected(self, until: float) -> bool:
        if self._connection is not None:
            return True
        assert self._listening is not None and self._guarded is not None
        heard = [self._listening.fileno(), self._guarded.handle]
        ready, _, _ = select.select(heard, [], [], max(0.0, until - time.monotonic()))
        if heard[0] in ready:
            self._connection, _ = self._listening.accept()
            return True
        if ready:
            self._end()
        return False

    def _has_loaded(self, libraries: Iterable[str], until: float) -> bool:
        """Whether the libraries are loaded by then; the answers of those that were asked for before are taken too."""
        for library in libraries:
            if library not in self._loading:
                self._loading[library] = False
                self._send({"load": [library]})
        assert self._connection is not None
        for library, is_loaded in self._loading.items():
            if not is_loaded:
                heard = [self._connection]
                if not self._heard and not select.select(heard, [], [], max(0.0, until - time.monotonic()))[0]:
                    return False
                self._answer(time.monotonic() + _LINE_S)
                self._loading[library] = True
        return True

    def _send(self, order: Mapping[str, Any]) -> None:
        assert self._connection is not None
        self._connection.settimeout(_LINE_S)
        self._connection.sendall(json.dumps(order).encode() + b"\n")

    def _answer(self, deadline: float) -> dict[str, Any]:
        """Raises OSError if the worker is gone or late, ValueError if it does not answer in JSON."""
        assert self._connection is not None
        said = self._heard
        while b"\n" not in said:
            self._connection.settimeout(max(0.001, deadline - time.monotonic()))
            piece = self._connection.recv(65_536)
            if not piece or len(said) > _MOST_ANSWER:
                raise OSError("the worker is gone, or says too much")
            said += piece
        line, _, self._heard = said.partition(b"\n")
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise ValueError("no answer")
        return answer

    def _end(self) -> None:
        self._n_ends += self._guarded is not None
        for held in (self._connection, self._listening):
            if held is not None:
                held.close()
        if self._guarded is not None:
            self._guarded.end()
        if self._room is not None:
            with contextlib.suppress(OSError):
                self._room.cleanup()
        self._room = self._guarded = self._listening = self._connection = None
        self._loading = {}
        self._heard = b""


@cache
def library_worker(python: str) -> LibraryWorker:
    """The worker of an interpreter, kept as long as this process lives."""
    worker = LibraryWorker(python)
    atexit.register(worker.end)
    return worker
