"""What the system does not give to a copy of the kernel, below Python either: programs, connections, signals to others.

Knows seccomp on Linux, for x86-64 and 64-bit Arm. What no caller can mistake for an answer ends the copy (SIGSYS).
"""

from __future__ import annotations

import os
import struct
from typing import List, NamedTuple, Sequence, Tuple

Words = List[Tuple[int, int, int, int]]
"""Instructions of the filter: what to do, how far to jump if it holds and if not, and a number."""


class System(NamedTuple):
    """Numbers of system calls."""

    audit: int
    clone: int
    socket: int
    opens: tuple[tuple[int, int], ...]
    """Number, and which argument holds the flags."""
    signals: tuple[int, ...]
    """Only to the copy itself, named by its number: 0 would be its group."""
    of_a_process: tuple[int, ...]
    """Their first argument names a process: only the copy itself, or 0, which means it."""
    of_two: tuple[int, ...]
    """As before, and so does the second."""
    priorities: tuple[tuple[int, int], ...]
    """Number, and the first argument by which all processes of a user are meant; else the second names one."""
    send: int
    handles: int
    """fcntl(2)."""
    devices: int
    """ioctl(2)."""
    process: int
    """prctl(2)."""
    never: tuple[int, ...]
    """Of processes, other processes' memory and handles, connections, keys, mounts, namespaces, and the machine."""
    files: tuple[int, ...]
    """Calls that change files and folders by their names, and what System V shares between processes."""


# open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, quotactl_fd and
# open_tree_attr, with the same numbers on both systems: they mount without calling mount(2).
_NEW_MOUNTS = (428, 429, 430, 431, 432, 433, 442, 443, 467)
_NEW_PROCESSES = (424, 438, 440, 448)
"""pidfd_send_signal, pidfd_getfd, process_madvise and process_mrelease, with the same numbers on both systems."""
_X86_64 = System(
    audit=0xC000003E,
    clone=56,
    socket=41,
    # open and openat; creat is among the files, as it always writes.
    opens=((2, 1), (257, 2)),
    # kill, rt_sigqueueinfo, tkill, tgkill, rt_tgsigqueueinfo.
    signals=(62, 129, 200, 234, 297),
    # sched_setparam, sched_setscheduler, sched_setaffinity, migrate_pages, move_pages, prlimit64,
    # sched_setattr, pidfd_open: 0 is allowed because libraries set their own cores and limits so.
    of_a_process=(142, 144, 203, 256, 279, 302, 314, 434),
    # setpgid: a copy may leave its group, it may not move the kernel into another one.
    of_two=(109,),
    # setpriority and ioprio_set can mean all processes of a user: the kernel's among them.
    priorities=((141, 2), (251, 3)),
    send=44,
    handles=72,
    devices=16,
    process=157,
    never=(
        # fork, vfork, execve, execveat, ptrace, process_vm_writev, unshare, setns.
        *(57, 58, 59, 322, 101, 311, 272, 308, *_NEW_PROCESSES),
        # connect, sendmsg, sendmmsg, then the three calls for the user's keyring.
        *(42, 46, 307, 248, 249, 250),
        # pivot_root, chroot, mount, umount2, swap areas, quotas, fanotify_init, open_by_handle_at,
        # which opens a file without a path and so past every folder.
        *(155, 161, 165, 166, *_NEW_MOUNTS, 167, 168, 179, 300, 304),
        *(
            # Log, clock, accounting, reboot, names of the machine, ports, modules of Linux, kexec,
            # perf, bpf: root in a container may have some of them, and a kernel there often runs as
            # root.
            103,
            153,
            159,
            163,
            164,
            169,
            170,
            171,
            172,
            173,
            175,
            176,
            227,
            246,
            298,
            305,
            313,
            320,
            321,
        ),
    ),
    files=(
        *(
            85,
            76,
            82,
            83,
            84,
            86,
            87,
            88,
            90,
            91,
            92,
            93,
            94,
            132,
            133,
            188,
            189,
            190,
            197,
            198,
            199,
            235,
        ),
        # The same with a folder's handle (mkdirat ...), fallocate, renameat2, and what Linux added
        # later.
        *(
            258,
            259,
            260,
            261,
            263,
            264,
            265,
            266,
            268,
            280,
            285,
            316,
            452,
            463,
            466,
            469,
        ),
        # Shared memory, semaphores and message queues of System V and POSIX: others read them.
        *(29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220, 240, 241),
    ),
)
_ARM_64 = System(
    audit=0xC00000B7,
    clone=220,
    socket=198,
    opens=((56, 2),),
    signals=(129, 130, 131, 138, 240),
    of_a_process=(118, 119, 122, 238, 239, 261, 274, 434),
    of_two=(154,),
    priorities=((140, 2), (30, 3)),
    send=206,
    handles=25,
    devices=29,
    process=167,
    never=(
        *(221, 281, 117, 271, 97, 268, *_NEW_PROCESSES),
        *(203, 211, 269, 217, 218, 219),
        *(41, 51, 40, 39, *_NEW_MOUNTS, 224, 225, 60, 262, 265),
        *(
            116,
            58,
            171,
            89,
            170,
            142,
            161,
            162,
            105,
            106,
            112,
            104,
            241,
            266,
            273,
            294,
            280,
        ),
    ),
    files=(
        *(
            5,
            6,
            7,
            14,
            15,
            16,
            33,
            34,
            35,
            36,
            37,
            38,
            45,
            47,
            52,
            53,
            54,
            55,
            88,
            276,
            452,
            463,
            466,
            469,
        ),
        *(180, 181, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196),
    ),
)
_SYSTEMS = {"x86_64": _X86_64, "aarch64": _ARM_64}
_UNTOLD = (435, 437, 425)
"""clone3, openat2 and io_uring hide what they ask for from a filter; callers fall back to calls that do not."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
# "No such call" and "permission denied", as Linux numbers them.
_NO_CALL, _NO_ACCESS = 38, 13
# CLONE_THREAD: a new thread stays inside the filter, a new process could outlive the copy.
_THREAD = 0x00010000
# The bit of x32: the same calls of x86-64 under numbers that this list does not hold.
_OTHER_NUMBERS = 0x40000000
INTERNET = (2, 10)
LOCAL = 1
"""Families of sockets."""
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
"""Flags of open(2), any of which opens a file for writing."""
_OWNER, _OWNER_OF_KIND = 8, 15
"""Requests of fcntl(2) that say whom the system signals when a handle is ready."""
# Among them TIOCSTI, which types into the terminal from which Jupyter was started.
_TERMINALS = (
    *range(0x5402, 0x5405),
    *range(0x5406, 0x5409),
    0x540E,
    0x5410,
    0x5412,
    0x5414,
    0x541C,
    0x541D,
    0x5437,
)
_OWNERS_AND_FLAGS = (
    0x8901,
    0x8902,
    0x40086602,
    0x40046602,
    0x401C5820,
    0x40087602,
    0xC0045877,
    0xC0045878,
    0xC0185879,
)
"""Requests of ioctl(2): a terminal's settings and input; whom a handle signals, flags of files and of their disk."""
# PR_SET_PDEATHSIG would let the copy outlive a kernel that is killed; 62 is PR_SCHED_CORE.
_OF_PROCESS = (1, 62)
"""Requests of prctl(2): when the copy dies, and who shares its cores."""
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER, _WITH_PARENT = 38, 22, 2, 1
_SIGKILL = 9


def is_possible() -> bool:
    """Whether the numbers of this machine's system calls are known: 64-bit x86 or Arm."""
    # A 32-bit Python on a 64-bit system has other numbers for its calls.
    return os.uname().machine in _SYSTEMS and struct.calcsize("P") == 8


def prepare() -> None:
    """Look up the user once: the C library then stops asking its server for names, which would be a connection."""
    import contextlib
    import grp
    import pwd

    with contextlib.suppress(KeyError):  # The system has no name for the user.
        pwd.getpwuid(os.getuid())
    with contextlib.suppress(KeyError):
        grp.getgrgid(os.getgid())


def restrict(*, may_write: bool) -> None:
    """From here on, for this process and its threads; without `may_write` it can change no file either.

    Raises OSError if the system refuses the filter.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    words = _program(
        _SYSTEMS[os.uname().machine], os.getpid(), may_write=may_write
    )
    code = ctypes.create_string_buffer(
        b"".join(struct.pack("<HBBI", *word) for word in words)
    )
    program = ctypes.create_string_buffer(
        struct.pack("<HxxxxxxQ", len(words), ctypes.addressof(code))
    )
    for asked in (
        (_WITH_PARENT, _SIGKILL, 0, 0, 0),
        (_NO_NEW_PRIVILEGES, 1, 0, 0, 0),
        # The order counts: a filter is only taken from a process that gives up new privileges
        # first.
        (_SECCOMP, _FILTER, ctypes.addressof(program), 0, 0),
    ):
        # c_ulong, because the C library reads whole registers of a function with variable
        # arguments.
        if (
            libc.prctl(ctypes.c_int(asked[0]), *map(ctypes.c_ulong, asked[1:]))
            != 0
        ):
            raise OSError(
                ctypes.get_errno(), "the system refuses a filter of its calls"
            )


def _program(system: System, own: int, *, may_write: bool) -> Words:
    words = [
        # Calls of 32-bit programs come under another architecture, with other numbers.
        *[
            (_LOAD, 0, 0, 4),
            (_EQUAL, 1, 0, system.audit),
            (_RETURN, 0, 0, _KILL),
        ],
        *[
            (_LOAD, 0, 0, 0),
            (_AT_LEAST, 0, 1, _OTHER_NUMBERS),
            (_RETURN, 0, 0, _KILL),
        ],
        *_only(
            system.clone,
            [(_LOAD, 0, 0, _argument(0)), (_ANY_BIT, 1, 0, _THREAD)],
            _KILL,
        ),
    ]
    for number in system.signals:
        words += _only(
            number, [(_LOAD, 0, 0, _argument(0)), (_EQUAL, 1, 0, own)], _KILL
        )
    for number in system.of_a_process:
        words += _only(number, _means_itself(0, own), _KILL)
    both = [*_means_itself(1, own, if_not=4), *_means_itself(0, own)]
    for number in system.of_two:
        words += _only(number, both, _KILL)
    for number, of_user in system.priorities:
        is_of_user = [(_LOAD, 0, 0, _argument(0)), (_EQUAL, 3, 0, of_user)]
        words += _only(number, [*is_of_user, *_means_itself(1, own)], _KILL)
    words += _only(system.send, _has_no_address(), _KILL)
    words += _when(system.handles, _not_owned_by_others(own))
    words += _when(system.devices, _but(1, (*_TERMINALS, *_OWNERS_AND_FLAGS)))
    words += _when(system.process, _but(0, _OF_PROCESS))
    # Libraries try a connection and do without: they get an error. Other families (netlink, raw
    # packets) have no such use, so they end the copy.
    connecting = (*INTERNET, LOCAL)
    families = [
        (_EQUAL, len(connecting) - place, 0, family)
        for place, family in enumerate(connecting)
    ]
    refused = (_RETURN, 0, 0, _ERRNO | _NO_ACCESS)
    words += _when(
        system.socket,
        [
            (_LOAD, 0, 0, _argument(0)),
            *families,
            refused,
            (_RETURN, 0, 0, _KILL),
        ],
    )
    for number in _UNTOLD:
        # "No such call" makes glibc use clone and openat, whose flags a filter can read.
        words += _when(number, [(_RETURN, 0, 0, _ERRNO | _NO_CALL)])
    for number in system.never:
        words += _when(number, [(_RETURN, 0, 0, _KILL)])
    if not may_write:
        words += _no_writing(system)
    return [*words, (_RETURN, 0, 0, _ALLOW)]


def _no_writing(system: System) -> Words:
    words: Words = []
    for number in system.files:
        words += _when(number, [(_RETURN, 0, 0, _KILL)])
    for number, place in system.opens:
        test = [(_LOAD, 0, 0, _argument(place)), (_ANY_BIT, 0, 1, WRITES)]
        ends = [(_RETURN, 0, 0, _KILL), (_RETURN, 0, 0, _ALLOW)]
        words += _when(number, [*test, *ends])
    return words


def _when(number: int, then: Words) -> Words:
    return [(_EQUAL, 0, len(then), number), *then]


def _only(number: int, test: Words, otherwise: int) -> Words:
    """The call is allowed where the test, whose last word jumps by one, holds."""
    return _when(
        number, [*test, (_RETURN, 0, 0, otherwise), (_RETURN, 0, 0, _ALLOW)]
    )


def _means_itself(place: int, own: int, if_not: int | None = None) -> Words:
    """Whether an argument is the copy's number or 0. Where `if_not` is given, it is how far to go on if not."""
    load = (_LOAD, 0, 0, _argument(place))
    if if_not is None:
        return [load, (_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, own)]
    return [load, (_EQUAL, 1, 0, 0), (_EQUAL, 0, if_not - 1, own)]


def _has_no_address() -> Words:
    """Whether sendto(2) sends to whom its socket is connected: both halves of its fifth argument are 0."""
    low, high = _argument(4), _argument(4) + 4
    return [
        (_LOAD, 0, 0, low),
        (_EQUAL, 0, 2, 0),
        (_LOAD, 0, 0, high),
        (_EQUAL, 1, 0, 0),
    ]


def _not_owned_by_others(own: int) -> Words:
    return [
        *[
            (_LOAD, 0, 0, _argument(1)),
            (_EQUAL, 4, 0, _OWNER_OF_KIND),
            (_EQUAL, 0, 4, _OWNER),
        ],
        *[
            *_means_itself(2, own),
            (_RETURN, 0, 0, _KILL),
            (_RETURN, 0, 0, _ALLOW),
        ],
    ]


def _but(place: int, refused: Sequence[int]) -> Words:
    """Allowed but for these values of an argument."""
    tests = [
        (_EQUAL, len(refused) - n, 0, value) for n, value in enumerate(refused)
    ]
    return [
        (_LOAD, 0, 0, _argument(place)),
        *tests,
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _KILL),
    ]


def _argument(place: int) -> int:
    """Where the lower half of an argument is; both systems are little-endian."""
    return 16 + 8 * place
