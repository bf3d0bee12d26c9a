"""A separate room for a copy of the kernel: no network, folders whose changes are dropped with the copy, a wall around.

Knows Linux's namespaces and overlays, which a user may make where the system allows it, and Landlock, which every
process may use (Linux 5.13 and later). Namespaces alone leave a way out: the links of other processes in /proc (root,
cwd, fd) lead into their view of the disk, where it can be written. Within the wall no file is written outside the
folders that are named, and nothing of other processes is opened.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import Any, Sequence

# CLONE_NEWUSER and the rest: with an own user namespace, no right of root is needed.
_USER, _MOUNTS, _IPC, _NET = 0x10000000, 0x00020000, 0x08000000, 0x40000000
_PRIVATE, _ALL_BELOW, _NO_SUID, _NO_DEVICES, _DETACH = 1 << 18, 1 << 14, 2, 4, 2
_MOUNT_SETATTR, _HERE, _RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1
# A place for the overlays' layers must exist already: the room's own disk is read-only.
_SCRATCH = ("/sys", "/mnt", "/srv", "/media", "/usr")
"""Folders one of which is covered for a moment, until the overlays stand."""
_CREATE_RULES, _ADD_RULE, _RESTRICT = 444, 445, 446
"""System calls of Landlock, with the same numbers on x86-64 and 64-bit Arm."""
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
_HARMLESS = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
)
_NO_NEW_PRIVILEGES = 38


def moved_in(folders: Sequence[str], most_bytes: int) -> list[str] | None:
    """Those of the folders that can be written to in the room; everything else can only be read.

    None where the system does not allow rooms; then nothing is kept apart. All that is written takes `most_bytes`
    of memory at most. Called in a process with one thread.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    # Private first: else a mount in the room would appear on the machine itself.
    if not (
        _is_in_own_spaces(libc)
        and _mount(libc, "none", "/", "", _PRIVATE | _ALL_BELOW, "")
        and _read_only(libc)
    ):
        return None
    wanted = _apart(folders)
    places = (path for path in _SCRATCH if Path(path).is_dir())
    scratch = next((path for path in places if _is_clear(path, wanted)), None)
    size = f"size={most_bytes},mode=700"
    # Bounded, because a tmpfs is memory: a cell that writes without end would take the machine's.
    if scratch is None or not _mount(
        libc, "none", scratch, "tmpfs", _NO_SUID | _NO_DEVICES, size
    ):
        # The room stands, but nothing can be written in it: writing is refused, not dropped.
        return []
    made: list[str] = []
    for place, folder in enumerate(wanted):
        # A folder below one that is covered is covered already.
        is_covered = any(_is_below(folder, above) for above in made)
        if not is_covered and _overlaid(libc, folder, f"{scratch}/{place}"):
            made.append(folder)
    # Only the overlays may still lead to the layers: the cell finds the folder as it was.
    libc.umount2(scratch.encode(), _DETACH)
    _enter_again()
    return made


def _is_in_own_spaces(libc: Any) -> bool:
    """Whether the process has namespaces of its own from now on, with the same numbers for its user and group."""
    user, group = os.geteuid(), os.getegid()
    # All in one call: the new user namespace is what allows the others.
    if libc.unshare(_USER | _MOUNTS | _IPC | _NET) != 0:
        return False
    try:
        # Linux takes a map of groups from an ordinary user only after this.
        Path("/proc/self/setgroups").write_text("deny")
        # The same numbers inside: os.getuid() and who owns a file stay what the cell expects.
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError:
        return False
    return True


def _overlaid(libc: Any, folder: str, scratch: str) -> bool:
    """Whether what is written to the folder is kept in the scratch from now on; not where others are mounted in it."""
    for name in ("up", "work"):
        Path(scratch, name).mkdir(parents=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # A handle instead of a name: names may hold commas and colons.
        layers = f"lowerdir=/proc/self/fd/{handle},upperdir={scratch}/up,workdir={scratch}/work"
        flags = _NO_SUID | _NO_DEVICES
        # userxattr is what an overlay of an ordinary user needs; Linux before 5.11 does not know
        # it.
        return any(
            _mount(libc, "overlay", folder, "overlay", flags, layers + option)
            for option in (",userxattr", "")
        )
    finally:
        os.close(handle)


def _mount(
    libc: Any, source: str, target: str, kind: str, flags: int, data: str
) -> bool:
    return bool(
        libc.mount(
            source.encode(),
            os.fsencode(target),
            kind.encode(),
            flags,
            data.encode(),
        )
        == 0
    )


def _read_only(libc: Any) -> bool:
    import ctypes

    attributes = ctypes.create_string_buffer(
        struct.pack("<QQQQ", _READ_ONLY, 0, 0, 0), 32
    )
    # mount_setattr makes every mount read-only at once; a remount of / leaves those below it.
    return bool(
        # By number: the C library has a function for it only since glibc 2.36.
        libc.syscall(
            _MOUNT_SETATTR,
            _HERE,
            b"/",
            _RECURSIVE,
            attributes,
            ctypes.c_size_t(32),
        )
        == 0
    )


def _enter_again() -> None:
    """The working folder is still the one below the overlay."""
    try:
        os.chdir(os.getcwd())  # noqa: PTH109 - pathlib has no other word for it
    except OSError:
        return  # It has been removed.


def _apart(folders: Sequence[str]) -> list[str]:
    """Those that are there, by their real names, the ones above others first."""
    real = {os.path.realpath(folder) for folder in folders if folder}
    return sorted(
        (folder for folder in real if Path(folder).is_dir()),
        key=lambda folder: (folder.count("/"), folder),
    )


def _is_clear(path: str, folders: Sequence[str]) -> bool:
    return not any(
        _is_below(folder, path) or _is_below(path, folder)
        for folder in folders
        if folder != "/"
    )


def _is_below(path: str, above: str) -> bool:
    return path == above or path.startswith(above.rstrip("/") + "/")


# The wall


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
        _CREATE_RULES,
        ctypes.create_string_buffer(attributes),
        ctypes.c_size_t(size),
        0,
    )
    if rules < 0:
        return False
    try:
        for folder in folders:
            _allow(libc, rules, folder, changes)
        for device in _HARMLESS:
            _allow(libc, rules, device, _WRITE_FILE)
        # Like seccomp, Landlock takes a process only once it can gain no privileges.
        libc.prctl(
            ctypes.c_int(_NO_NEW_PRIVILEGES), *map(ctypes.c_ulong, (1, 0, 0, 0))
        )
        return bool(libc.syscall(_RESTRICT, rules, 0) == 0)
    finally:
        os.close(rules)


def has_landlock() -> bool:
    """Whether the system has Landlock."""
    import ctypes

    return sys.platform == "linux" and _version(ctypes.CDLL(None)) >= 1


def _version(libc: Any) -> int:
    import ctypes

    # Without a record and with this flag the call tells the version, -1 where there is none.
    return int(libc.syscall(_CREATE_RULES, None, ctypes.c_size_t(0), _VERSION))


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
