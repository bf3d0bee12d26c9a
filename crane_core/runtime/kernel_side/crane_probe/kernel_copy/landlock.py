"""A wall around a copy of the kernel that Linux's Landlock puts up: what it may change, and whom it may reach.

Knows the system calls of Landlock, which every process may use (Linux 5.13 and later). Namespaces alone leave a way
out: the links of other processes in /proc (root, cwd, fd) lead into their view of the disk, where it can be written.
Within the wall no file is written outside the folders that are named, and nothing of other processes is opened.
"""

from __future__ import annotations

import os
import struct
import sys
from typing import Any, Sequence

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
"""The numbers are the same on x86-64 and 64-bit Arm."""
_VERSION, _PATH_BENEATH = 1, 1
# LANDLOCK_ACCESS_FS_WRITE_FILE, and the bits from REMOVE_DIR to MAKE_SYM: no reading is bounded.
_WRITE_FILE = 1 << 1
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
# Moving between folders and truncating: an older system refuses rules that name them.
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_SCOPES = 0b11
"""No abstract sockets and no signals out of the wall (from the sixth version on)."""
_SINCE_REFER, _SINCE_TRUNCATE, _SINCE_SCOPES = 2, 3, 6
# Programs write to these without changing anything.
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_NO_NEW_PRIVILEGES = 38


def walled_in(folders: Sequence[str]) -> bool:
    """Whether the wall is up; files may be changed in and below the folders. For the calling thread and its children.

    False where the system has no Landlock.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    version = _version(libc)
    if version < 1:
        return False
    changes = _changes(version)
    attributes = struct.pack("<QQQ", changes, 0, _SCOPES)
    # Versions before the sixth know only the first number, and refuse a longer record.
    size = len(attributes) if version >= _SINCE_SCOPES else 8
    rules = libc.syscall(
        _CREATE, ctypes.create_string_buffer(attributes), ctypes.c_size_t(size), 0
    )
    if rules < 0:
        return False
    try:
        for folder in folders:
            _allow(libc, rules, folder, changes)
        for device in _DEVICES:
            _allow(libc, rules, device, _WRITE_FILE)
        # Like seccomp, Landlock takes a process only once it can gain no privileges.
        libc.prctl(ctypes.c_int(_NO_NEW_PRIVILEGES), *map(ctypes.c_ulong, (1, 0, 0, 0)))
        return bool(libc.syscall(_RESTRICT, rules, 0) == 0)
    finally:
        os.close(rules)


def is_there() -> bool:
    """Whether the system has Landlock."""
    import ctypes

    return sys.platform == "linux" and _version(ctypes.CDLL(None)) >= 1


def _version(libc: Any) -> int:
    import ctypes

    # Without a record and with this flag the call tells the version, -1 where there is none.
    return int(libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION))


def _changes(version: int) -> int:
    changes = _WRITE_FILE | _REMOVE_AND_MAKE
    if version >= _SINCE_REFER:
        changes |= _REFER
    if version >= _SINCE_TRUNCATE:
        changes |= _TRUNCATE
    return changes


def _allow(libc: Any, rules: int, path: str, changes: int) -> None:
    """A path that is not there needs no rule; one whose rule the system refuses stays closed."""
    import ctypes

    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = ctypes.create_string_buffer(struct.pack("<Qi", changes, handle))
        libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0)
    finally:
        os.close(handle)
