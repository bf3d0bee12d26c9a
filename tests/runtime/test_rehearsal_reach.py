"""What a rehearsed cell can reach outside its copy: nothing of its kernel, of other processes or of the disk changes.

Each attack is a cell that is rehearsed in one process with IPython's shell, as in a kernel; what it aims at is looked
at before and after. It is told as unknown, unless the attack is harmless in a copy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="copies of a kernel need Linux"
)

BEGIN = """
import ctypes, fcntl, io, mmap, multiprocessing, os, resource, signal, socket, sys, tempfile, threading
from multiprocessing import shared_memory
libc = ctypes.CDLL(None, use_errno=True)
own, here = os.getpid(), os.getcwd()
SYS = dict(zip(NAMES, NUMBERS))
def call(name, *arguments):
    return libc.syscall(SYS[name], *arguments)
open('log.txt', 'w').write('kept'); open('other.txt', 'w').write('kept')
log = open('log.txt', 'r+')
folder = os.open('.', os.O_RDONLY | os.O_DIRECTORY)
lock = open('lock.txt', 'w'); fcntl.flock(lock, fcntl.LOCK_EX)
memory = os.memfd_create('kept'); os.write(memory, b'kept')
nameless = tempfile.TemporaryFile(); nameless.write(b'kept'); nameless.flush()
mapped = libc.mmap
mapped.restype = ctypes.c_void_p
mapped.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
guarded_file = open('mapped.bin', 'w+b'); guarded_file.write(b'kept'.ljust(4096)); guarded_file.flush()
guarded = mapped(None, 4096, 1, 1, guarded_file.fileno(), 0)
reader, writer = os.pipe(); os.set_blocking(reader, False)
shared = shared_memory.SharedMemory(create=True, size=64); shared.buf[0] = 1
turns = multiprocessing.get_context('fork').Semaphore(3)
segment = libc.shmget(0, 4096, 0o1600); libc.shmat.restype = ctypes.c_void_p
attached = libc.shmat(segment, None, 0); ctypes.memset(attached, 1, 1)
server = socket.socket(socket.AF_UNIX); server.bind('served'); server.listen(); server.setblocking(False)
class Pair(ctypes.Structure): _fields_ = [('a', ctypes.c_ulong), ('b', ctypes.c_ulong)]
def arrived():
    try:
        server.accept()
        return True
    except BlockingIOError:
        return False
def piped():
    try:
        return os.read(reader, 100)
    except BlockingIOError:
        return None
def free():
    with open('lock.txt') as again:
        try:
            fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
def niced(which=1):
    return call('ioprio_get', which, own)
def text(name):
    return open(os.path.join(here, name)).read()
"""
NAMES = """ioprio_set ioprio_get sched_setattr pidfd_open pidfd_getfd process_madvise migrate_pages add_key prlimit64
bpf setns process_vm_writev ptrace open_tree"""
NUMBERS = {
    "x86_64": (
        251,
        252,
        314,
        434,
        438,
        440,
        256,
        248,
        302,
        321,
        308,
        311,
        101,
        428,
    ),
    "aarch64": (
        30,
        31,
        274,
        434,
        438,
        440,
        238,
        217,
        261,
        280,
        268,
        271,
        117,
        428,
    ),
}


class Attack(NamedTuple):
    """`aim` is looked at in the kernel before and after; `harmless`: it may run through, as it meets the copy alone."""

    code: str
    aim: str = "None"
    harmless: bool = False


QUIETLY = "\ntry:\n    {}\nexcept Exception:\n    pass"
ATTACKS = {
    "limits": Attack(
        "resource.prlimit(own, resource.RLIMIT_NOFILE, (99, 99))",
        "resource.getrlimit(resource.RLIMIT_NOFILE)",
    ),
    "limits below Python": Attack(
        "call('prlimit64', own, resource.RLIMIT_NOFILE, ctypes.byref(Pair(99, 99)), None)",
        "resource.getrlimit(resource.RLIMIT_NOFILE)",
    ),
    "processors": Attack(
        "os.sched_setaffinity(own, {max(os.sched_getaffinity(0))})",
        "os.sched_getaffinity(0)",
    ),
    "priority": Attack(
        "os.setpriority(os.PRIO_PROCESS, own, 7)",
        "os.getpriority(os.PRIO_PROCESS, 0)",
    ),
    "priority of a group": Attack(
        "os.setpriority(os.PRIO_PGRP, os.getpgid(own), 7)",
        "os.getpriority(0, 0)",
    ),
    "priority of a user": Attack("libc.setpriority(2, 54321, 7)"),
    "priority of the disk": Attack(
        "call('ioprio_set', 1, own, (2 << 13) | 7)", "niced()"
    ),
    "priority of a user's disk": Attack(
        "call('ioprio_set', 3, 54321, (2 << 13) | 7)"
    ),
    "scheduler": Attack(
        "os.sched_setscheduler(own, os.SCHED_BATCH, os.sched_param(0))",
        "os.sched_getscheduler(0)",
    ),
    "parameters of the scheduler": Attack(
        "os.sched_setparam(own, os.sched_param(0))"
    ),
    "attributes of the scheduler": Attack(
        "call('sched_setattr', own, ctypes.create_string_buffer(48), 0)"
    ),
    "group of processes": Attack("libc.setpgid(os.getppid(), 0)"),
    "pages of memory": Attack(
        "call('migrate_pages', own, 1, ctypes.byref(ctypes.c_ulong(1)), ctypes.byref(ctypes.c_ulong(1)))"
    ),
    "a handle on the process": Attack("os.pidfd_open(own)"),
    "handles of the process": Attack("call('pidfd_getfd', 3, writer, 0)"),
    "advice on memory": Attack("call('process_madvise', 3, None, 0, 21, 0)"),
    "memory": Attack("call('process_vm_writev', own, None, 0, None, 0, 0)"),
    "memory as a file": Attack("open(f'/proc/{own}/mem', 'r+b')"),
    "tracing": Attack("call('ptrace', 16, own, 0, 0)"),
    "cookies of cores": Attack("libc.prctl(62, 2, own, 0, 0)"),
    "keys": Attack("call('add_key', b'user', b'crane-test', b'x', 1, -3)"),
    "programs in the system": Attack("call('bpf', 0, None, 0)"),
    "namespaces": Attack("call('setns', 0, 0)"),
    "mounts": Attack("call('open_tree', -100, b'/', 1)"),
    "signals of files": Attack(
        "a, b = socket.socketpair(); fcntl.fcntl(a, fcntl.F_SETOWN, own);"
        " fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_ASYNC); b.send(b'x')"
    ),
    "keys typed": Attack("libc.ioctl(0, 0x5412, b'x')"),
    "a link to an open file": Attack(
        "open(f'/proc/self/fd/{log.fileno()}', 'w').write('gone')",
        "text('log.txt')",
        True,
    ),
    "a link below Python": Attack(
        "fd = libc.open(b'/proc/self/fd/%d' % log.fileno(), 1); libc.write(fd, b'gone', 4)",
        "text('log.txt')",
        True,
    ),
    "the kernel's root": Attack(
        "open(f'/proc/{own}/root{here}/other.txt', 'w').write('gone')",
        "text('other.txt')",
    ),
    "the kernel's root below Python": Attack(
        "fd = libc.open(os.fsencode(f'/proc/{own}/root{here}/other.txt'), 1); libc.write(fd, b'gone', 4)",
        "text('other.txt')",
        True,
    ),
    "the kernel's folder": Attack(
        "open(f'/proc/{own}/cwd/other.txt', 'w').write('gone')",
        "text('other.txt')",
    ),
    "the kernel's open files": Attack(
        "fd = libc.open(b'/proc/%d/fd/%d' % (own, log.fileno()), 1); libc.write(fd, b'gone', 4)",
        "text('log.txt')",
        True,
    ),
    "another process's root": Attack(
        "fd = libc.open(os.fsencode(f'/proc/{os.getppid()}/root{here}/other.txt'), 1); libc.write(fd, b'gone', 4)",
        "text('other.txt')",
        True,
    ),
    "an open folder": Attack(
        "os.close(os.open('made.txt', os.O_WRONLY | os.O_CREAT, dir_fd=folder))",
        "sorted(os.listdir(here))",
        True,
    ),
    "removing in an open folder": Attack(
        "os.unlink('other.txt', dir_fd=folder)",
        "sorted(os.listdir(here))",
        True,
    ),
    "an open folder below Python": Attack(
        "libc.unlinkat(folder, b'other.txt', 0)",
        "sorted(os.listdir(here))",
        True,
    ),
    "into an open folder": Attack(
        "os.fchdir(folder); open('other.txt', 'w').write('gone')",
        "(text('other.txt'), os.getcwd())",
        True,
    ),
    "rights of an open file": Attack(
        "os.chmod(log.fileno(), 0o777)", "oct(os.stat('log.txt').st_mode)", True
    ),
    "times of an open file": Attack(
        "os.utime(log.fileno(), (1, 1))", "os.stat('log.txt').st_mtime", True
    ),
    "an open file": Attack(
        "log.seek(0); log.write('gone'); log.flush()",
        "(text('log.txt'), log.tell())",
        True,
    ),
    "a nameless file": Attack(
        "nameless.write(b'gone'); nameless.flush()",
        "os.pread(nameless.fileno(), 9, 0)",
        True,
    ),
    "a nameless file by its link": Attack(
        "open(f'/proc/self/fd/{nameless.fileno()}', 'r+b').write(b'gone')",
        "os.pread(nameless.fileno(), 9, 0)",
        True,
    ),
    "a file in memory": Attack(
        "os.pwrite(memory, b'gone', 0)", "os.pread(memory, 9, 0)", True
    ),
    "a file in memory by its link": Attack(
        "fd = libc.open(b'/proc/self/fd/%d' % memory, 1); libc.write(fd, b'gone', 4)",
        "os.pread(memory, 9, 0)",
        True,
    ),
    "a mapping that may be written": Attack(
        "libc.mprotect(ctypes.c_void_p(guarded), 4096, 3); ctypes.memset(guarded, 7, 4)",
        "open('mapped.bin', 'rb').read(4)",
        True,
    ),
    "a lock": Attack("fcntl.flock(lock, fcntl.LOCK_UN)", "free()", True),
    "a pipe": Attack("os.write(writer, b'gone')", "piped()", True),
    "shared memory": Attack("shared.buf[0] = 9", "shared.buf[0]", True),
    "shared memory by name": Attack(
        "shared_memory.SharedMemory(shared.name).buf[0] = 9",
        "shared.buf[0]",
        True,
    ),
    "a semaphore": Attack("turns.acquire()", "turns.get_value()", True),
    "a segment": Attack(
        "ctypes.memset(attached, 9, 1)", "ctypes.string_at(attached, 1)", True
    ),
    "a segment by number": Attack(
        "again = libc.shmat(segment, None, 0)\nif again not in (None, 2**64 - 1): ctypes.memset(again, 9, 1)",
        "ctypes.string_at(attached, 1)",
        True,
    ),
    "removing a segment": Attack(
        "libc.shmctl(segment, 0, None)",
        "libc.shmctl(segment, 2, ctypes.create_string_buffer(200))",
        True,
    ),
    "a socket with a name": Attack(
        "socket.socket(socket.AF_UNIX).connect('served')", "arrived()"
    ),
    "a socket below Python": Attack(
        "fd = libc.socket(1, 1, 0); libc.connect(fd, b'\\1\\0served\\0', 9); libc.write(fd, b'x', 1)",
        "arrived()",
    ),
    "the name of a process": Attack(
        "open(f'/proc/{own}/comm', 'w').write('gone')",
        "open('/proc/self/comm').read()",
    ),
    "the next to be killed": Attack(
        "fd = libc.open(b'/proc/%d/oom_score_adj' % own, 1); libc.write(fd, b'500', 3)",
        "open('/proc/self/oom_score_adj').read()",
        True,
    ),
    "settings of the machine": Attack(
        "fd = libc.open(b'/proc/sys/kernel/printk_delay', 1); libc.write(fd, b'1', 1)",
        "open('/proc/sys/kernel/printk_delay').read()",
        True,
    ),
    "a device": Attack(
        "libc.open(b'/dev/kmsg', 1) >= 0 and 1 / 0", harmless=True
    ),
    "a terminal": Attack(
        "libc.open(b'/dev/tty', 2) >= 0 and 1 / 0", harmless=True
    ),
    "a terminal that is made": Attack(
        "libc.open(b'/dev/ptmx', 2) >= 0 and 1 / 0", harmless=True
    ),
}
OWN = {
    "own processors": "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    "own priority": "os.setpriority(os.PRIO_PROCESS, 0, 19)",
    "own limits": "resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))",
    "own signals": "signal.raise_signal(signal.SIGURG)",
    "an open file": "assert log.read() == 'kept'; log.write('more'); log.flush(); assert text('log.txt') == 'keptmore'",
    "an open folder": "assert 'log.txt' in os.listdir(folder)",
    "a nameless file": "nameless.seek(0); assert nameless.read() == b'kept'",
    "a file in memory": "assert os.pread(memory, 9, 0) == b'kept'",
    "what is shared": "assert shared.buf[0] == 1 and turns.get_value() == 3",
    "what is mapped": "assert ctypes.string_at(guarded, 4) == b'kept'",
    "facts of the machine": "assert open('/proc/cpuinfo').read() and open('/proc/self/status').read()",
    "randomness": "assert os.urandom(3) and open('/dev/urandom', 'rb').read(3) and not open('/dev/null').read()",
    "its user": "import pwd; assert pwd.getpwuid(os.getuid()).pw_name",
    "a pair of sockets": "a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'; a.close(); b.close()",
    "threads": "t = threading.Thread(target=sum, args=([1],)); t.start(); t.join()",
}
RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
sys.path.insert(0, sys.argv[1])
from crane_probe import rehearsal
from crane_probe.kernel_copy import isolation
order = json.load(sys.stdin)
if order["lacks"] == "rooms":
    isolation.moved_in = lambda *_: None
elif order["lacks"] == "walls":
    isolation.walled_in = lambda *_: False
shell = InteractiveShell.instance()
shell.user_ns.update(NAMES=order["names"], NUMBERS=order["numbers"])
def done(code):
    result = shell.run_cell(code, store_history=False, silent=True)
    assert result.success, result.error_in_exec
done(order["begin"])
found = {}
def aimed(expression):
    return repr(eval(expression, shell.user_ns))
for name, (code, aim) in order["attacks"].items():
    before = aimed(aim)
    request = {"target": code, "seconds": 10.0, "memory_bytes": 2**30, "disk_bytes": 2**26, "again": None}
    told = json.loads(rehearsal.rehearse(request, shell, None))
    found[name] = [told, before, aimed(aim)]
done("shared.close(); shared.unlink(); libc.shmctl(segment, 0, None)")
print(json.dumps(found))
"""


def rehearsed(
    folder: Path,
    root: Path,
    attacks: dict[str, tuple[str, str]],
    lacks: str = "",
) -> dict[str, Any]:
    """What each rehearsal tells, and what its aim was before and after."""
    order = {
        "names": NAMES.split(),
        "numbers": NUMBERS[os.uname().machine],
        "begin": BEGIN,
        "attacks": attacks,
        "lacks": lacks,
    }
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            RUN,
            str(root / "crane_core" / "runtime" / "kernel_side"),
        ],
        input=json.dumps(order),
        cwd=folder,
        env=os.environ | {"IPYTHONDIR": str(folder / "ipython")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    "lacks",
    [
        "nothing",
        pytest.param("walls", marks=pytest.mark.slow),
        pytest.param("rooms", marks=pytest.mark.slow),
    ],
)
def test_nothing_outside_the_copy_changes_and_no_attack_is_told_as_done(
    lacks: str, tmp_path: Path, root: Path
) -> None:
    quietly = {
        f"{name}, quietly": one._replace(code=QUIETLY.format(one.code))
        for name, one in ATTACKS.items()
        if "\n" not in one.code
    }
    attacks = {**ATTACKS, **quietly}
    found = rehearsed(
        tmp_path,
        root,
        {name: (one.code, one.aim) for name, one in attacks.items()},
        lacks,
    )
    changed = {
        name: (before, after)
        for name, (_, before, after) in found.items()
        if before != after
    }
    assert changed == {}
    told = {
        name: told
        for name, (told, *_) in found.items()
        if told["outcome"] != "unknown"
    }
    assert {
        name: one for name, one in told.items() if not attacks[name].harmless
    } == {}


def test_what_a_cell_does_to_itself_runs_through(
    tmp_path: Path, root: Path
) -> None:
    found = rehearsed(
        tmp_path, root, {name: (code, "None") for name, code in OWN.items()}
    )
    told = {name: told for name, (told, *_) in found.items()}
    if {one["writes"] for one in told.values()} != {"dropped"}:
        pytest.skip("this system gives no rooms")
    assert {
        name: one
        for name, one in told.items()
        if one["outcome"] != "ran through"
    } == {}
