"""What a cell asks for in a copy of the kernel and is not given: noted, so that no answer rests on it.

Knows Python's audit events. What is not written in Python is refused by the system itself (kernel_copy/calls.py).
"""

from __future__ import annotations

import os
import sys
from typing import Any, Sequence

from .calls import INTERNET, LOCAL, WRITES

_PROGRAMS = "os.system os.exec os.fork os.forkpty os.spawn os.posix_spawn subprocess.Popen pty.spawn"
_NETWORK = (
    "socket.connect socket.bind socket.sendto socket.sendmsg socket.getaddrinfo socket.gethostbyname"
    " socket.gethostbyaddr socket.getnameinfo urllib.Request ftplib.connect smtplib.connect webbrowser.open"
)
_SIGNALS = "os.kill os.killpg signal.pthread_kill"
_FILES = (
    "os.remove os.rename os.rmdir os.mkdir os.truncate os.chmod os.chown os.link os.symlink os.utime os.setxattr"
    " os.removexattr shutil.copyfile shutil.move shutil.rmtree tempfile.mkstemp tempfile.mkdtemp"
)
PROGRAM = "the cell starts other programs"
NETWORK = "the cell uses the network"
SIGNAL = "the cell sends signals to processes"
FILE = "the cell writes files where the copy must not"
INPUT = "the cell waits for input"
LEAVES = "the cell ends the kernel"
_WORDS = {
    **dict.fromkeys(_PROGRAMS.split(), PROGRAM),
    **dict.fromkeys(_NETWORK.split(), NETWORK),
    **dict.fromkeys(_SIGNALS.split(), SIGNAL),
    **dict.fromkeys(_FILES.split(), FILE),
    "builtins.input": INPUT,
}
_COUNTS_CORES = "lscpu"
"""joblib asks this program how many cores there are, and goes on without an answer."""
_TRIES_IPV6 = ("urllib3.util.connection", "_has_ipv6")
"""urllib3 tries at its import whether a socket can be had, and goes on without one; TensorFlow imports it."""
_DEEPEST = 4
_PROCESSES = "/proc/"


class Refusals:
    """Reasons why the answer is not known, in the order in which they came up."""

    def __init__(self, writable: Sequence[str]) -> None:
        """`writable` are folders whose changes are dropped with the copy."""
        self._writable = tuple(writable)
        self.reasons: list[str] = []

    def begin(self) -> None:
        """From now on, to the end of the process, Python's audit events are checked."""
        # Audit hooks cannot be taken away again, not even by the cell: the copy keeps it to its
        # end.
        sys.addaudithook(self._heed)

    def note(self, reason: str) -> None:
        """Add a reason why the answer is not known."""
        self.reasons.append(reason)

    def _heed(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            reason = FILE if self._is_writing(*arguments) else None
        elif event == "socket.__new__":
            # multiprocessing makes local pairs of sockets by wrapping handles; making one means a
            # service.
            is_made = arguments[1] == LOCAL and _is_made()
            reason = NETWORK if arguments[1] in INTERNET or is_made else None
        else:
            reason = _WORDS.get(event)
            if reason == FILE and self._are_writable(arguments):
                reason = None
        if reason is None:
            return
        # What a library tries and does without does not decide how the cell ends.
        if not (
            event == "subprocess.Popen"
            and arguments[0] == _COUNTS_CORES
            or reason == NETWORK
            and _is_tried()
        ):
            # Noted too where the cell catches the PermissionError: in the kernel the call would
            # succeed.
            self.note(reason)
        raise PermissionError(f"{event} is refused in a copy of the kernel")

    def _is_writing(self, path: Any, mode: Any, flags: Any) -> bool:
        # An integer is a handle that is open already: that one was opened in the room.
        if type(path) is int or type(flags) is not int or not flags & WRITES:
            return False
        return path != os.devnull and not self._are_writable((path,))

    def _are_writable(self, arguments: Sequence[Any]) -> bool:
        """Whether every path among an event's arguments lies where changes are dropped."""
        return all(
            self._is_dropped(argument)
            for argument in arguments
            if isinstance(argument, (str, bytes))
        )

    def _is_dropped(self, path: Any) -> bool:
        name = os.fsdecode(path)
        if os.path.abspath(name).startswith(_PROCESSES):  # noqa: PTH100 - links are not followed
            return False  # A process's link to its root leads past the folders that are dropped.
        # realpath, as a link in a writable folder may lead out of it.
        real = os.path.realpath(name)
        return any(
            real == folder or real.startswith(folder.rstrip("/") + "/")
            for folder in self._writable
        )


def _is_made() -> bool:
    """Whether a socket is made, rather than wrapped: asyncio talks to itself through a pair."""
    frame = sys._getframe(2)
    is_of_socket = (
        frame.f_code.co_name == "__init__"
        and frame.f_globals.get("__name__") == "socket"
    )
    # In socket.__init__ a given `fileno` means that the pair is made already.
    return not is_of_socket or frame.f_locals.get("fileno") is None


def _is_tried() -> bool:
    """Whether urllib3 asks, from whom the hook was called: its own frame and that of `socket` lie between."""
    frame = sys._getframe(1)
    for _ in range(_DEEPEST):
        if frame.f_back is None:
            return False
        frame = frame.f_back
        if (
            frame.f_globals.get("__name__"),
            frame.f_code.co_name,
        ) == _TRIES_IPV6:
            return True
    return False
