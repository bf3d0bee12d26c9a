"""The process between us and a kernel: starts it, watches it, and ends it with everything it ever started.

Its own program (`python -I -S watchdog.py`, standard library only): it is not held up by what its caller does, and
ends the kernel when the caller is killed. Knows processes, memory, bytes and time. Refuses to know notebooks.

Its one argument is the order as JSON (see `WatchOrder`); folder and environment are its own. Standard input takes JSON
lines `{"allow_s": seconds or null}`, the time that the kernel may take from now on; the end of the input is the order
to end all. Standard output holds `{"pid": ...}` or `{"failed": ...}` at the start, and an account of the end (see
`account`).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from typing import Any, NamedTuple

TICK_S = 0.05
"""How often memory and processes are looked at."""
DISK_TICK_S = 0.25
"""How often folders are measured at the most; a look takes no more than a tenth of the time."""
GRACE_S = 10.0
"""How long killed processes may take to be gone: a full memory dump or a dead network disk can hold one."""
KEPT_OUTPUT = 4_000
"""Bytes of the kernel's own last words that are handed on."""
SEAL = "bwrap"
"""The program that seals a kernel off, where one does."""
MAX_TOLD = 20
"""Left-over processes that are named."""
MAX_NAME = 200
_SIGNALLED = 128
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
"""Options of Linux's prctl(2)."""
_KEYCTL, _JOIN_SESSION_KEYRING = {"x86_64": 250, "aarch64": 219}, 1
"""Numbers of keyctl(2), and its request for a new, empty keyring."""
_FLAGS, _PF_EXITING = 6, 0x4
"""Where proc(5) has a thread's flags, counted after its name, and the one that says that it is ending."""
_ORDERS, _OUTPUT, _WAKE = "orders", "output", "wake"


class WatchOrder(NamedTuple):
    """What to start, and how much of memory, raw output, processes and, in `watched` folders, disk it may use."""

    argv: list[str]
    memory_bytes: int
    output_bytes: int
    processes: int
    watched: list[str]
    disk_bytes: int


class KernelWatch:
    """One kernel under watch. `why` says what ended it: asked, exit, time, memory, output, processes or disk."""

    def __init__(
        self, order: WatchOrder, kernel: subprocess.Popen[bytes]
    ) -> None:
        self.order = order
        self.kernel = kernel
        self.status: int | None = None
        self.deadline: float | None = None
        self.why: str | None = None
        self.last_words = b""
        self.n_output = 0
        self._unread = b""
        self._at_start = sum(map(stored_bytes, order.watched))
        self._next_disk_look = 0.0

    def run(self, wake: int) -> None:
        """Watch until there is a reason to end."""
        assert self.kernel.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(sys.stdin.fileno(), selectors.EVENT_READ, _ORDERS)
            selector.register(
                self.kernel.stdout.fileno(), selectors.EVENT_READ, _OUTPUT
            )
            selector.register(wake, selectors.EVENT_READ, _WAKE)
            next_look = time.monotonic()
            while self.why is None:
                for key, _ in selector.select(
                    max(0.0, self._wait_until(next_look) - time.monotonic())
                ):
                    if not self._take(key.fd, key.data):
                        # An input at its end stays readable: it would be reported without pause.
                        selector.unregister(key.fd)
                self._reap()
                if time.monotonic() >= next_look:
                    self._look()
                    next_look = time.monotonic() + TICK_S
                # Measured here, so that a busy caller cannot lengthen the time.
                if (
                    self.deadline is not None
                    and time.monotonic() >= self.deadline
                ):
                    self._end("time")

    def _wait_until(self, next_look: float) -> float:
        return (
            next_look
            if self.deadline is None
            else min(next_look, self.deadline)
        )

    def _end(self, why: str) -> None:
        self.why = self.why or why

    def _take(self, handle: int, what: str) -> bool:
        """Read what is there; False at the end of it."""
        data = os.read(handle, 65_536)
        if what == _ORDERS:
            self._obey(data)
        elif what == _OUTPUT:
            self.n_output += len(data)
            # The last words alone: a kernel that prints megabytes before it dies says why at the
            # end.
            self.last_words = (self.last_words + data)[-KEPT_OUTPUT:]
            if self.n_output > self.order.output_bytes:
                self._end("output")
        return bool(data)

    def _obey(self, data: bytes) -> None:
        if not data:
            # Who asks for the end because the kernel fell silent is to hear how it ended by itself.
            until = time.monotonic() + GRACE_S
            while (
                self.status is None
                and self._ends_by_itself()
                and time.monotonic() < until
            ):
                time.sleep(0.001)
                self._reap()
            self._end("asked")
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            allowed = json.loads(line)["allow_s"]
            # The monotonic clock: a machine that sets its time must not end a cell.
            self.deadline = (
                None if allowed is None else time.monotonic() + allowed
            )

    def _reap(self) -> None:
        for pid, status in reaped()[0]:
            if pid == self.kernel.pid:
                self.status = self.kernel.returncode = (
                    os.waitstatus_to_exitcode(status)
                )
                self._end("exit")

    def _look(self) -> None:
        # Of ourselves: orphans are our children, too.
        tree = descendants(os.getpid())
        if len(tree) > self.order.processes:
            self._end("processes")
        limit = self.order.memory_bytes
        # Forked processes share pages, which the cheap sum counts once for each of them.
        if (
            sum(map(resident_bytes, tree)) > limit
            and sum(map(own_bytes, tree)) > limit
        ):
            self._end("memory")
        if self.order.watched and time.monotonic() >= self._next_disk_look:
            started = time.monotonic()
            # Only growth counts: the folder's own data may be larger than the limit.
            if (
                sum(map(stored_bytes, self.order.watched)) - self._at_start
                > self.order.disk_bytes
            ):
                self._end("disk")
            self._next_disk_look = time.monotonic() + max(
                DISK_TICK_S, 10 * (time.monotonic() - started)
            )

    def account(self) -> dict[str, Any]:
        """End everything; why, what was still running beside the kernel, and what could not be killed."""
        its_own = self._its_own()
        # Zombies have no memory: they are not "left running".
        others = [
            pid
            for pid in descendants(os.getpid())
            if pid not in its_own and resident_bytes(pid)
        ]
        left_running = [name_of(pid) for pid in others[:MAX_TOLD]]
        survivors, status = end_all(self.kernel.pid)
        status = self.status if self.status is not None else status
        if self._is_sealed() and status is not None and status > _SIGNALLED:
            status = (
                _SIGNALLED - status
            )  # bubblewrap tells a signal as shells do
        return {
            "why": self.why,
            "status": status,
            "left_running": left_running,
            "survivors": survivors,
            "last_words": self.last_words.decode("utf-8", "replace"),
        }

    def _ends_by_itself(self) -> bool:
        """Whether the kernel is on its way out; bubblewrap follows it a moment later."""
        its_own = self._its_own()
        is_gone = self._is_sealed() and len(its_own) < 3
        return is_gone or any(is_ending(pid) for pid in its_own)

    def _is_sealed(self) -> bool:
        return self.order.argv[0].rpartition("/")[2] == SEAL

    def _its_own(self) -> set[int]:
        """The kernel, and bubblewrap's two processes around it."""
        found = {self.kernel.pid}
        if self._is_sealed():
            first = _children(self.kernel.pid)[:1]
            found |= {
                *first,
                *(pid for parent in first for pid in _children(parent)[:1]),
            }
        return found


def descendants(pid: int) -> list[int]:
    """Every process below this one, parents before children; empty if there is no /proc."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    """The children of all threads of a process; none when it is gone."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - this is asked twenty times a second
            found += map(
                int, _read(f"/proc/{pid}/task/{thread}/children").split()
            )
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return found
    return found


def _read(path: str) -> str:
    """The text of a file of /proc, "" when its process ended in the meantime or is another user's."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as above
            return file.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""


def resident_bytes(pid: int) -> int:
    """Memory that a process has in use, with what it shares; 0 when it has ended."""
    # statm is cheap: it is read for all processes twenty times a second.
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * _PAGE if fields else 0


def stored_bytes(folder: str) -> int:
    """What the files below a folder take on the disk, links not followed; what goes meanwhile counts nothing."""
    # On the disk: sparse files take less than their size, small ones more.
    total, waiting = 0, [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return total


def own_bytes(pid: int) -> int:
    """Memory of a process with shared pages divided among those who share them; dearer to know."""
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    # Older kernels of Linux and other users' processes have no smaps_rollup.
    return resident_bytes(pid)


def name_of(pid: int) -> str:
    """The command line of a process, cut; its short name where it has none."""
    words = (
        _read(f"/proc/{pid}/cmdline").replace("\0", " ").strip()
        or _read(f"/proc/{pid}/comm").strip()
    )
    return words[:MAX_NAME] or "a process that has ended"


def is_ending(pid: int) -> bool:
    """Whether a child is on its way out: its sockets are closed a moment before it can be waited for."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - as above
    except FileNotFoundError:
        return False
    stats = [
        _read(f"/proc/{pid}/task/{thread}/stat").rpartition(")")[2].split()
        for thread in threads
    ]
    # Flags of all threads: one of them may still run.
    return all(int(fields[_FLAGS]) & _PF_EXITING for fields in stats if fields)


def reaped() -> tuple[list[tuple[int, int]], bool]:
    """Children that have ended, with their wait status, and whether there are others."""
    found: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found, False
        if pid == 0:
            return found, True
        found.append((pid, status))


def end_all(kernel: int) -> tuple[list[int], int | None]:
    """Kill the kernel's group and all descendants until none is left; what is left after GRACE_S, the kernel's status.

    Orphans become our children (`adopt_orphans`), so having no child means that nothing is left, whatever
    session or group a process moved to.
    """
    until = time.monotonic() + GRACE_S
    pause_s, status = 0.0005, None
    while True:
        _kill(os.killpg, kernel)
        # Descendants again: setsid takes a process out of the group.
        for pid in descendants(os.getpid()):
            _kill(os.kill, pid)
        ended, has_others = reaped()
        status = next(
            (
                os.waitstatus_to_exitcode(how)
                for pid, how in ended
                if pid == kernel
            ),
            status,
        )
        if not has_others:
            return [], status
        # A process in an uninterruptible wait (a dead network disk) cannot be killed.
        if time.monotonic() > until:
            return descendants(os.getpid()), status
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, TICK_S)


def _kill(how: Any, pid: int) -> None:
    try:
        how(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def adopt_orphans(libc: ctypes.CDLL) -> None:
    """A process whose parent ends becomes our child instead of init's: so nothing can slip away by forking twice."""
    if sys.platform == "linux":
        libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def leave_keyring(libc: ctypes.CDLL) -> None:
    """The keys that the system keeps for our session stay out of reach; namespaces do not part them."""
    number = _KEYCTL.get(os.uname().machine)
    if number is not None:
        libc.syscall(number, _JOIN_SESSION_KEYRING, None)


def start(order: WatchOrder, libc: ctypes.CDLL) -> subprocess.Popen[bytes]:
    """The kernel, in its own session; it dies when this process dies, and leaves no core file."""

    def prepare() -> None:
        if sys.platform == "linux":
            libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            leave_keyring(libc)
        # No core file: it would hold the notebook's memory, and fill the disk.
        resource.setrlimit(
            resource.RLIMIT_CORE,
            (0, resource.getrlimit(resource.RLIMIT_CORE)[1]),
        )

    return subprocess.Popen(
        order.argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        # Both streams in one: only the order of the last words is of interest.
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=prepare,
    )


def wake_on_child() -> int:
    """A handle that becomes readable when a child ends."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # A pipe, because select cannot wait for SIGCHLD itself.
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader


def say(event: dict[str, Any]) -> None:
    """One line to the caller, who may be gone: then there is no reader."""
    try:
        os.write(sys.stdout.fileno(), json.dumps(event).encode() + b"\n")
    except BrokenPipeError:
        return


def main() -> None:
    """Start what the first argument orders, watch it, and write an account of its end."""
    libc = ctypes.CDLL(None)
    adopt_orphans(libc)
    order = WatchOrder(**json.loads(sys.argv[1]))
    try:
        kernel = start(order, libc)
    except (OSError, subprocess.SubprocessError) as error:
        say({"failed": str(error)})
        return
    say({"pid": kernel.pid})
    watch = KernelWatch(order, kernel)
    watch.run(wake_on_child())
    say(watch.account())


if __name__ == "__main__":
    main()
