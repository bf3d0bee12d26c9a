"""Running code of the notebook in a copy of the process: whatever it does there, the kernel stays as it was.

Knows fork on Linux. The copy has its own memory, so random states, counters, caches and globals of the kernel are out
of its reach; files that are open get their own positions, streams to others are cut, what is printed or displayed is
dropped. Writing, removing, connecting and starting programs are refused: the code meets a PermissionError. It is
killed with all that it forked when the time is up.
"""

from __future__ import annotations

import gc
import io
import json
import os
import select
import signal
import stat
import sys
import time
import warnings
from pathlib import Path
from typing import Any, Callable

from .. import bounds
from ..bounds import Facts
from . import calls

Tell = Callable[[str, Any], None]
Work = Callable[[Tell], None]

MOST_BYTES = 200_000
_OPEN_FILES = "/proc/self/fd"
# Where the kernel is gone before it ends the copy, the system's own alarm does.
_FACTOR_OF_LAST_RESORT = 4
_SEEN_OUTSIDE = (
    "os.remove os.rename os.rmdir os.mkdir os.truncate os.chmod os.chown os.link os.symlink os.utime os.setxattr"
    " os.system os.exec os.fork os.forkpty os.spawn os.posix_spawn os.kill os.killpg subprocess.Popen pty.spawn"
    " shutil.copyfile shutil.move shutil.rmtree tempfile.mkstemp tempfile.mkdtemp signal.pthread_kill"
    " socket.connect socket.bind socket.sendto socket.getaddrinfo urllib.Request ftplib.connect webbrowser.open"
)
_REFUSED = frozenset(_SEEN_OUTSIDE.split())
"""Python's audit events of what would be seen outside the copy."""


def is_possible() -> bool:
    """True where the process can be copied, and where its copy can let go of what is open."""
    # /proc/self/fd is what names the open files; without /proc they could not be cut off.
    return (
        sys.platform == "linux"
        and hasattr(os, "fork")
        and Path(_OPEN_FILES).is_dir()
    )


def facts_of(work: Work, seconds: float) -> Facts:
    """What `work` tells, in the copy, until it is done or the time is up; `unfinished` says why it was not done."""
    deadline = time.perf_counter() + seconds
    reader, writer = os.pipe()
    copy = fork()
    if copy == 0:
        _live(work, writer, seconds)
    try:
        os.close(writer)
        # A crash of the copy (a segmentation fault) ends the pipe: what was told until then is
        # kept.
        said, is_late = _heard(reader, deadline)
    finally:
        os.close(reader)
        end(copy)
    facts = dict(pairs(said))
    if facts.pop("done", False) or "unfinished" in facts:
        return facts
    return dict(
        facts,
        unfinished=f"took more than {seconds:.1g} s"
        if is_late
        else "it ended the process",
    )


def fork() -> int:
    """The copy's number, 0 in the copy; Python's warning about other threads is ours to heed, not the notebook's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


def _heard(reader: int, deadline: float) -> tuple[bytes, bool]:
    """All that the copy says, and whether the time was up before it stopped speaking."""
    said = b""
    while len(said) < MOST_BYTES:
        # The time is measured here, in the kernel: code of the notebook cannot stop this clock.
        ready, _, _ = select.select(
            [reader], [], [], max(0.0, deadline - time.perf_counter())
        )
        if not ready:
            return said, True
        piece = os.read(reader, 65_536)
        if not piece:
            break
        said += piece
    return said, False


def pairs(said: bytes) -> list[Any]:
    """The facts stated in whole lines."""
    # The last line may be cut off in the middle, where the copy was killed while it wrote.
    return [json.loads(line) for line in said.split(b"\n")[:-1]]


def end(copy: int) -> int:
    """Kill the copy and its group, whichever of them are still there; its status as `os.waitpid` returns it."""
    # The group first: once the copy is gone, what it forked would have no leader to be found by.
    _kill(os.killpg, copy)
    _kill(os.kill, copy)
    try:
        return os.waitpid(copy, 0)[1]
    except ChildProcessError:
        return 0  # The notebook has asked not to be told of children; the system takes the status itself.


def _kill(kill: Callable[[int, int], None], copy: int) -> None:
    try:
        kill(copy, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # It does not have its own group yet, or has ended.


# In the copy


def _live(work: Work, writer: int, seconds: float) -> None:
    """Work, tell, end; never comes back."""
    try:
        _seclude(writer, seconds)

        def tell(name: str, fact: Any) -> None:
            os.write(writer, json.dumps([name, fact]).encode() + b"\n")

        try:
            work(tell)
            tell("done", True)
        except BaseException as error:  # noqa: BLE001 - in the copy, that the notebook's code ended is told, not acted on
            tell("unfinished", bounds.why(error))
    finally:
        # os._exit, as sys.exit would run exit handlers of the notebook and flush its buffers twice.
        os._exit(0)


def _seclude(writer: int, seconds: float) -> None:
    # Else a collection in the copy runs finalizers that the kernel will run again.
    gc.disable()
    # Its own group, so that all that it forks can be killed with it, and Ctrl-C does not reach it.
    os.setpgid(0, 0)
    # The notebook may have its own handler, which would keep the copy alive.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds * _FACTOR_OF_LAST_RESORT)
    nowhere = os.open(os.devnull, os.O_RDWR)
    cut_off(writer, nowhere)
    _silence(nowhere)
    _write_nothing()
    _one_thread()
    if calls.is_possible():
        # What is not written in Python asks no audit hook: h5py writes into a file that it opens, ctypes does anything.
        calls.prepare()
        calls.restrict(may_write=False)


def cut_off(writer: int, nowhere: int) -> None:
    """Files are opened again, to have their own position; sockets, pipes and signals to other threads are cut."""
    for handle in [int(path.name) for path in Path(_OPEN_FILES).iterdir()]:
        if handle not in (writer, nowhere):
            _detach(handle, nowhere)


def _detach(handle: int, nowhere: int) -> None:
    try:
        mode = os.fstat(handle).st_mode
    except OSError:
        return  # The handle with which the folder of handles was read.
    if stat.S_ISREG(mode):
        _reopen(handle, nowhere)
    # Folders and devices have no position to share; standard streams are cut whatever they are.
    elif not stat.S_ISDIR(mode) and not stat.S_ISCHR(mode) or handle <= 2:
        os.dup2(nowhere, handle)


def _reopen(handle: int, nowhere: int) -> None:
    try:
        place = os.lseek(handle, 0, os.SEEK_CUR)
        # Through /proc the file is found even if another one has its name by now.
        own = os.open(f"{_OPEN_FILES}/{handle}", os.O_RDONLY)
    except OSError:
        os.dup2(nowhere, handle)
        return
    os.lseek(own, place, os.SEEK_SET)
    os.dup2(own, handle)
    os.close(own)


def _silence(nowhere: int) -> None:
    sys.stdout = sys.stderr = io.TextIOWrapper(
        io.FileIO(nowhere, "w", closefd=False)
    )
    warnings.simplefilter("ignore")
    streams = sys.modules.get("ipykernel.iostream")
    thread = getattr(streams, "IOPubThread", None)
    if thread is not None:
        # It would send what a forked process displays through a new connection.
        thread.schedule = thread.send_multipart = lambda *_, **__: None


def _write_nothing() -> None:
    """Python refuses what would be seen outside; for what is not written in Python, no file can grow."""
    import resource

    # Compiled modules would be written beside the notebook's own, and stay there.
    sys.dont_write_bytecode = True
    sys.addaudithook(_refuse)
    # A limit of 0 bytes stops C code (h5py, sqlite) that raises no audit event.
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, resource.getrlimit(limit)[1]))


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    # Files open for reading are needed: datasets read their samples from them.
    if event in _REFUSED or event == "open" and _is_writing(*arguments):
        raise PermissionError(f"{event} is refused while looking")


def _is_writing(path: Any, mode: Any, flags: Any) -> bool:
    # Paths are compared as they come: fspath of a notebook's object would run its code.
    return (
        type(flags) is int and bool(flags & calls.WRITES) and path != os.devnull
    )


def _one_thread() -> None:
    """The threads of torch's own pool were not copied: it must not wait for them."""
    torch = sys.modules.get("torch")
    # Never imported for this: loading torch takes seconds and memory of the kernel.
    if torch is not None:
        torch.set_num_threads(1)
