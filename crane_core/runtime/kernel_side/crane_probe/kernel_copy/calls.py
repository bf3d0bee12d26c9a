"""What the system does not give to a copy of the kernel, below Python either: programs, connections, signals to others.

Knows seccomp on Linux, for x86-64 and 64-bit Arm. What no caller can mistake for an answer ends the copy (SIGSYS).
"""

from __future__ import annotations

import os
import struct
from typing import List, NamedTuple, Tuple

Words = List[Tuple[int, int, int, int]]
"""Instructions of the filter: what to do, how far to jump if it holds and if not, and a number."""


class System(NamedTuple):
    """Numbers of system calls; `never` are those of processes, other processes' memory, mounts and namespaces."""

    audit: int
    clone: int
    signals: tuple[int, ...]
    socket: int
    opens: tuple[tuple[int, int], ...]
    """Number, and which argument holds the flags."""
    never: tuple[int, ...]
    files: tuple[int, ...]
    """Calls that change files and folders by their names."""


_X86_64 = System(
    audit=0xC000003E,
    clone=56,
    signals=(62, 129, 200, 234, 297),
    socket=41,
    opens=((2, 1), (257, 2)),
    never=(57, 58, 59, 322, 101, 311, 424, 165, 166, 442, 272, 308),
    files=(
        *(85, 76, 82, 83, 84, 86, 87, 88, 90, 91, 92, 93, 94, 132, 133, 188, 189, 190, 197, 198, 199, 235),
        *(258, 259, 260, 261, 263, 264, 265, 266, 268, 280, 285, 316, 452),
    ),
)
_ARM_64 = System(
    audit=0xC00000B7,
    clone=220,
    signals=(129, 130, 131, 138, 240),
    socket=198,
    opens=((56, 2),),
    never=(221, 281, 117, 271, 424, 40, 39, 442, 97, 268),
    files=(5, 6, 7, 14, 15, 16, 33, 34, 35, 36, 37, 38, 45, 47, 52, 53, 54, 55, 88, 276, 452),
)
_SYSTEMS = {"x86_64": _X86_64, "aarch64": _ARM_64}
_UNTOLD = (435, 437, 425)
"""clone3, openat2 and io_uring hide what they ask for from a filter; callers fall back to calls that do not."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NO_CALL, _NO_ACCESS = 38, 13
_THREAD = 0x00010000
_OTHER_NUMBERS = 0x40000000
INTERNET = (2, 10)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER, _WITH_PARENT = 38, 22, 2, 1
_SIGKILL = 9


def is_possible() -> bool:
    return os.uname().machine in _SYSTEMS and struct.calcsize("P") == 8


def restrict(*, may_write: bool) -> None:
    """From here on, for this process and its threads; without `may_write` it can change no file either.

    Raises OSError if the system refuses the filter.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    words = _program(_SYSTEMS[os.uname().machine], os.getpid(), may_write=may_write)
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *word) for word in words))
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(words), ctypes.addressof(code)))
    for asked in (
        (_WITH_PARENT, _SIGKILL, 0, 0, 0),
        (_NO_NEW_PRIVILEGES, 1, 0, 0, 0),
        (_SECCOMP, _FILTER, ctypes.addressof(program), 0, 0),
    ):
        if libc.prctl(ctypes.c_int(asked[0]), *map(ctypes.c_ulong, asked[1:])) != 0:
            raise OSError(ctypes.get_errno(), "the system refuses a filter of its calls")


def _program(system: System, own: int, *, may_write: bool) -> Words:
    words = [
        *[(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, system.audit), (_RETURN, 0, 0, _KILL)],
        *[(_LOAD, 0, 0, 0), (_AT_LEAST, 0, 1, _OTHER_NUMBERS), (_RETURN, 0, 0, _KILL)],
        *_only(system.clone, [(_LOAD, 0, 0, _argument(0)), (_ANY_BIT, 1, 0, _THREAD)], _KILL),
    ]
    for number in system.signals:
        words += _only(number, [(_LOAD, 0, 0, _argument(0)), (_EQUAL, 1, 0, own)], _KILL)
    families = [(_EQUAL, len(INTERNET) - place, 0, family) for place, family in enumerate(INTERNET)]
    refused = (_RETURN, 0, 0, _ERRNO | _NO_ACCESS)
    words += _when(system.socket, [(_LOAD, 0, 0, _argument(0)), *families, refused, (_RETURN, 0, 0, _KILL)])
    for number in _UNTOLD:
        words += _when(number, [(_RETURN, 0, 0, _ERRNO | _NO_CALL)])
    for number in system.never if may_write else (*system.never, *system.files):
        words += _when(number, [(_RETURN, 0, 0, _KILL)])
    for number, place in () if may_write else system.opens:
        words += _when(
            number,
            [
                *[(_LOAD, 0, 0, _argument(place)), (_ANY_BIT, 0, 1, _WRITES)],
                *[(_RETURN, 0, 0, _KILL), (_RETURN, 0, 0, _ALLOW)],
            ],
        )
    return [*words, (_RETURN, 0, 0, _ALLOW)]


def _when(number: int, then: Words) -> Words:
    return [(_EQUAL, 0, len(then), number), *then]


def _only(number: int, test: Words, otherwise: int) -> Words:
    """The call is allowed where the test, whose last word jumps by one, holds."""
    return _when(number, [*test, (_RETURN, 0, 0, otherwise), (_RETURN, 0, 0, _ALLOW)])


def _argument(place: int) -> int:
    """Where the lower half of an argument stands; both systems are little-endian."""
    return 16 + 8 * place
