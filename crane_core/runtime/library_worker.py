"""A process that asks libraries, from our side: started when it is first needed, kept, bounded, ended with us.

Knows the socket, the limits, and the answers so far: a question that was not waited for is answered when it is asked
again. Questions are in detectors/rules, what runs in kernel_side/crane_surrogates.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import select
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

from crane_core.errors import KernelStartError
from crane_core.runtime.guarded import Guarded
from crane_core.runtime.isolation import best, furnished
from crane_core.runtime.limits import MIB, KernelLimits

_FOLDER = Path(__file__).with_name("kernel_side")
_SOCKET = "asked"
# A socket's path has 108 bytes on Linux.
_LONGEST_SOCKET_PATH = 100
_START = (
    "import sys, types\n"
    "packages = sys.modules['kernel_side'] = types.ModuleType('kernel_side')\n"
    "packages.__path__ = [sys.argv[1]]\n"
    "from kernel_side.crane_surrogates import worker\n"
    "worker.main(*sys.argv[2:])\n"
)
"""Finds our packages without a folder on the path in which libraries could meet our files instead of theirs."""
# Stand-ins are small, and threads of a pool would cost more than they compute.
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
_ENV = {
    **_ONE_THREAD,
    "PYTHONDONTWRITEBYTECODE": "1",
    # No GPU: the worker must not take memory of one that the kernel needs.
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}
LIMITS = KernelLimits(
    memory_bytes=2048 * MIB, output_bytes=MIB, processes=20, disk_bytes=MIB
)
_DATA_BYTES = 4096 * MIB
_MOST_ANSWER = MIB
_LINE_S = 1.0
"""How long one line may take on its way."""
_MOST_ENDS = 3
"""A worker that ended so often without a single answer is not started again: its interpreter is broken."""
LONGEST_ANSWER_S = 5.0
"""How long the worker may take over one question, however long it is waited for; then the question is given up."""
LONGEST_LOADING_S = 120.0
"""The same of loading one library."""
_MOST_DEATHS = 2
"""A question or library over which so many workers died is given up: the first may have died for another reason."""
_MOST_OWED = 8
"""No question is added to so many that wait for an answer."""
_MOST_KEPT = 2_000
"""Answers that are kept."""
_BETWEEN_TURNS_S = 0.05
_SHORTEST_TURN_S = 0.05
"""So long is waited for one's turn at least: who loads libraries beside takes a moment of it again and again."""
_SHORT_WAIT_S = 0.3
"""A shorter wait is not shown."""

_T = TypeVar("_T")


class Owed(NamedTuple):
    """What the worker has to do and has not answered: a question by its key, or a library to load."""

    key: str
    library: str = ""

    @property
    def longest_s(self) -> float:
        """How many seconds the worker may take over it before it is given up."""
        return LONGEST_LOADING_S if self.library else LONGEST_ANSWER_S


class WorkerGoneError(Exception):
    """The worker ended, or was ended, over what it was doing."""


class LibraryWorker:
    """The worker of one interpreter. Threads take turns; a forked copy of this process starts its own."""

    def __init__(self, python: str) -> None:
        self.python = python
        # One question at a time on the socket; threads wait for their turn.
        self._turn = threading.Lock()
        self._of_owners: list[object] = []
        self._answers: dict[str, dict[str, Any]] = {}
        self._spent_s: dict[str, float] = {}
        self._deaths: Counter[Owed] = Counter()
        """How often a worker died over something; _MOST_DEATHS means that it is given up."""
        self._forget()

    def _forget(self) -> None:
        # A forked process (Dask, pytest) has the handles, but the worker is not its child.
        self._owner = os.getpid()
        self._n_ends = 0
        self._room: TemporaryDirectory[str] | None = None
        self._guarded: Guarded | None = None
        self._listening: socket.socket | None = None
        self._connection: socket.socket | None = None
        self._heard = b""
        """What it said behind the last answer that was taken: answers to two questions may come at once."""
        # In order: the worker answers one after the other, without names.
        self._owed: deque[Owed] = deque()
        self._began_s = 0.0
        """When it began with the first of what it owes (time.monotonic)."""
        self._loaded: dict[str, bool] = {}
        """Libraries that it has to load, and whether it has."""

    @property
    def pid(self) -> int | None:
        """The process that runs now; None where none does."""
        return self._guarded.pid if self._guarded is not None else None

    def start(self) -> None:
        """Start it beside, without waiting for it."""
        with self._turn:
            self._begin()

    def load(self, libraries: Iterable[str]) -> None:
        """Have it load libraries, and wait for each, so that a question meanwhile waits for one of them at most."""
        for library in libraries:
            while not self.is_given_up({}, [library]) and not self._is_loaded(
                library
            ):
                time.sleep(_BETWEEN_TURNS_S)

    def _is_loaded(self, library: str) -> bool:
        with contextlib.suppress(WorkerGoneError):
            # A moment only: other threads ask their questions between two looks.
            return (
                self._in_turn(
                    lambda: self._has_loaded([library], until=0.0),
                    wait_s=_LINE_S,
                )
                or False
            )
        return False

    def ask(
        self,
        order: Mapping[str, Any],
        libraries: Iterable[str],
        *,
        seconds: float,
        start_s: float,
        on_wait: Callable[[], None] | None = None,
    ) -> dict[str, Any] | None:
        """What it answers; None where it takes longer than `start_s` to be ready, or does not answer in `seconds`.

        A question that was not waited for stays: asked again, it is answered at once if the answer came meanwhile.
        `on_wait` is called when the answer takes longer than a moment.
        """
        needed = tuple(sorted(libraries))
        key = _key(order, needed)
        until = time.monotonic() + start_s
        told = _Once(on_wait)
        for _ in range(_MOST_DEATHS):
            # A worker may die over what somebody else asked before, or because its memory was full.
            try:
                return self._in_turn(
                    lambda: self._answer(
                        key, order, needed, until, seconds, told
                    ),
                    wait_s=start_s,
                )
            except WorkerGoneError:
                continue
        return None

    def spent_s(
        self, order: Mapping[str, Any], libraries: Iterable[str]
    ) -> float:
        """Processor time in seconds that the answer took, also when it was kept since; 0 without an answer."""
        return self._spent_s.get(_key(order, tuple(sorted(libraries))), 0.0)

    def is_given_up(
        self, order: Mapping[str, Any], libraries: Iterable[str]
    ) -> bool:
        """Whether asking again is of no use: workers died over the question, over loading a library, or at once."""
        needed = tuple(sorted(libraries))
        ways = [
            Owed(_key(order, needed)),
            *(Owed("", library) for library in needed),
        ]
        # Three ends without an answer mean that the interpreter cannot run the worker.
        return self._n_ends >= _MOST_ENDS or any(
            self._deaths[each] >= _MOST_DEATHS for each in ways
        )

    def end(self) -> None:
        """End it; it may be used again."""
        with self._turn:
            if self._owner == os.getpid():
                self._end()

    def _in_turn(self, what: Callable[[], _T], *, wait_s: float) -> _T | None:
        """Raises WorkerGoneError."""
        if not self._turn.acquire(timeout=max(wait_s, _SHORTEST_TURN_S)):
            return None
        try:
            return what()
        except (OSError, ValueError) as error:
            # The line may be broken for another reason than the open question: it has a second try.
            self._died(is_hopeless=False)
            raise WorkerGoneError from error
        except WorkerGoneError:
            raise
        except BaseException:
            # Somebody does not wait for the answer, of which a part may have been read.
            self._end()
            raise
        finally:
            self._turn.release()

    def _answer(
        self,
        key: str,
        order: Mapping[str, Any],
        libraries: Iterable[str],
        until: float,
        seconds: float,
        told: _Once,
    ) -> dict[str, Any] | None:
        # A question that was given up before may have been answered since.
        if key in self._answers:
            return self._taken(key)
        asked = Owed(key)
        if self._deaths[asked] >= _MOST_DEATHS or not self._has_loaded(
            libraries, until, told
        ):
            return None
        if asked not in self._owed:
            # A slow library must not pile up questions that nobody waits for.
            if len(self._owed) >= _MOST_OWED:
                return None
            self._send(asked, order)
        late = time.monotonic() + seconds
        while key not in self._answers:
            if not self._has_next(late, told):
                return None
        return self._taken(key)

    def _taken(self, key: str) -> dict[str, Any]:
        """The answer; what tells of this process alone, such as a MemoryError, is asked again the next time."""
        said = self._answers[key]
        # A MemoryError is of this process, not of the library.
        if str(said.get("unknown", "")).endswith("Error"):
            del self._answers[key]
        return said

    def _has_loaded(
        self, libraries: Iterable[str], until: float, told: _Once | None = None
    ) -> bool:
        """Whether it runs and the libraries are loaded by then; if not, it continues with that."""
        needed = [*libraries]
        if any(
            self._deaths[Owed("", library)] >= _MOST_DEATHS
            for library in needed
        ):
            return False
        if not self._begin() or not self._is_connected(until, told):
            return False
        for library in needed:
            if library not in self._loaded:
                self._loaded[library] = False
                self._send(Owed("", library), {"load": [library]})
        while not all(self._loaded.get(library) for library in needed):
            if not self._has_next(until, told):
                return False
        return True

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
            # The same check as for kernels: bind would only say "path too long".
            if len(path) > _LONGEST_SOCKET_PATH:
                raise OSError(f"{path} is too long for a socket")
            listening.bind(path)
            listening.listen(1)
            # -I: neither the user's site nor the folder may bring modules under the libraries'
            # names.
            argv = [
                self.python,
                "-I",
                "-c",
                _START,
                str(_FOLDER),
                path,
                str(_DATA_BYTES),
            ]
            isolated = furnished(
                best(), argv, _ENV, _FOLDER, Path(room.name), network=False
            )
            self._guarded = Guarded(
                isolated.argv, folder=_FOLDER, env=isolated.env, limits=LIMITS
            )
        except (OSError, KernelStartError):
            self._end()
            # An interpreter that cannot be started once cannot be started later.
            self._n_ends = _MOST_ENDS
            return False
        return True

    def _is_connected(self, until: float, told: _Once | None = None) -> bool:
        if self._connection is not None:
            return True
        assert self._listening is not None and self._guarded is not None
        heard = [self._listening.fileno(), self._guarded.handle]
        ready = _readable(heard, until, told)
        if heard[0] in ready:
            self._connection, _ = self._listening.accept()
            return True
        # The watchdog spoke first: the worker ended before it connected.
        if ready:
            self._end()
        return False

    def _has_next(self, until: float, told: _Once | None = None) -> bool:
        """Whether the next answer came by then; it is kept. Raises OSError, ValueError or WorkerGoneError."""
        assert self._connection is not None
        first = self._owed[0]
        too_late = self._began_s + first.longest_s
        # No longer than the whole question may take, however often it is waited for.
        if not self._heard and not _readable(
            [self._connection.fileno()], min(until, too_late), told
        ):
            if time.monotonic() >= too_late:
                self._died(is_hopeless=True)
                raise WorkerGoneError
            return False
        said = self._line(time.monotonic() + _LINE_S)
        self._owed.popleft()
        self._began_s = time.monotonic()
        # It has answered, so its earlier ends were not due to the interpreter.
        self._n_ends = 0
        if first.library:
            self._loaded[first.library] = True
        else:
            self._keep(first.key, said)
        return True

    def _keep(self, key: str, said: dict[str, Any]) -> None:
        if len(self._answers) >= _MOST_KEPT:
            # The oldest, as dicts keep the order.
            oldest = next(iter(self._answers))
            del self._answers[oldest]
            self._spent_s.pop(oldest, None)
        self._spent_s[key] = said.pop("spent_s", 0.0)
        self._answers[key] = said

    def _send(self, owed: Owed, order: Mapping[str, Any]) -> None:
        assert self._connection is not None
        self._connection.settimeout(_LINE_S)
        if not self._owed:
            self._began_s = time.monotonic()
        self._owed.append(owed)
        self._connection.sendall(json.dumps(order).encode() + b"\n")

    def _line(self, deadline: float) -> dict[str, Any]:
        """Raises OSError if the worker is gone or late, ValueError if it does not answer in JSON."""
        assert self._connection is not None
        said = self._heard
        while b"\n" not in said:
            self._connection.settimeout(max(0.001, deadline - time.monotonic()))
            piece = self._connection.recv(65_536)
            # A worker that writes without end would fill our memory.
            if not piece or len(said) > _MOST_ANSWER:
                raise OSError("the worker is gone, or says too much")
            said += piece
        line, _, self._heard = said.partition(b"\n")
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise ValueError("no answer")
        return answer

    def _died(self, *, is_hopeless: bool) -> None:
        """End what is left of it, and remember over what it died."""
        if self._owed:
            # The first of what it owes is what it was doing.
            self._deaths[self._owed[0]] += _MOST_DEATHS if is_hopeless else 1
        self._end()

    def _end(self) -> None:
        # Only a worker that ran counts as one that ended.
        self._n_ends += self._guarded is not None
        for held in (self._connection, self._listening):
            if held is not None:
                held.close()
        if self._guarded is not None:
            self._guarded.end()
        if self._room is not None:
            # A folder that a dying process still writes to is left to the system.
            with contextlib.suppress(OSError):
                self._room.cleanup()
        self._room = self._guarded = self._listening = self._connection = None
        self._loaded = {}
        self._owed.clear()
        self._heard = b""


class _Once:
    """Calls a function at the first wait that is more than a moment, and never again."""

    def __init__(self, call: Callable[[], None] | None) -> None:
        self._call = call

    def __call__(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()


def _readable(
    handles: list[int], until: float, told: _Once | None
) -> list[int]:
    """Those of the handles that can be read by then, as soon as one can."""
    left_s = max(0.0, until - time.monotonic())
    ready, _, _ = select.select(handles, [], [], min(left_s, _SHORT_WAIT_S))
    # Only long waits are shown: most answers take milliseconds.
    if ready or left_s <= _SHORT_WAIT_S:
        return ready
    if told is not None:
        told()
    return select.select(handles, [], [], max(0.0, until - time.monotonic()))[0]


def _key(order: Mapping[str, Any], libraries: Iterable[str]) -> str:
    """The same for the same question."""
    # default=str, as a question may hold values that JSON has no word for.
    text = json.dumps([order, [*libraries]], default=str)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def library_worker(python: str, kind: str = "") -> LibraryWorker:
    """The worker of an interpreter, kept as long as this process lives; one for each kind of libraries."""
    worker = LibraryWorker(python)
    atexit.register(worker.end)
    return worker
