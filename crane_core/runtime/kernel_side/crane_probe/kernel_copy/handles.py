"""Open files, folders, pipes and sockets in a copy of the kernel: each becomes its own, or leads nowhere.

A copied handle shares its position, its locks and its way to the disk with the kernel's. What is opened again by its
name in the copy's room does not, and what is written there is dropped.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path
from typing import Sequence

_OPEN_FILES = "/proc/self/fd"
_STANDARD = 2
"""The last of standard input, output and error, which lead nowhere without an error."""
# Libraries keep these open (random seeds); they share no position and tell others nothing.
_HARMLESS_DEVICES = {os.makedev(1, minor) for minor in (3, 5, 7, 8, 9)}
"""null, zero, full, random and urandom."""
_TO_OTHERS = {stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFBLK, stat.S_IFCHR}
# Larger ones are rarely scratch files, and the copy's memory is bounded.
_MOST_NAMELESS = 64 * 2**20
_PIECE = 2**20
# O_CREAT and O_TRUNC are left out: opening again must not empty the file.
_KEPT_FLAGS = os.O_ACCMODE | os.O_APPEND | os.O_NONBLOCK


class SharedFileError(Exception):
    """The kernel has a file open of which the copy cannot have its own."""


def cut_off(kept: Sequence[int], nowhere: int) -> None:
    """What leads to others leads nowhere: sockets, pipes, devices. Reading and writing there is an error."""
    # O_PATH makes a handle on which every read and write fails with EBADF, rather than "sent".
    closed = os.open(os.devnull, os.O_PATH)
    for handle, mode, device in _open(kept):
        # Prints to a closed stream would raise where the kernel's own would not.
        if handle <= _STANDARD:
            os.dup2(nowhere, handle)
        elif (
            stat.S_IFMT(mode) in _TO_OTHERS and device not in _HARMLESS_DEVICES
        ):
            os.dup2(closed, handle)
        elif stat.S_IFMT(mode) == 0:
            # Counters of events, of libraries that end the process where they cannot be written.
            os.dup2(nowhere, handle)
    os.close(closed)


def open_again(
    kept: Sequence[int], nowhere: int, writable: Sequence[str]
) -> None:
    """Files and folders by their names, in the room that the process is in by now; files keep their positions.

    They may be written to in and below the folders `writable`. A file without a name is copied into memory. Raises
    SharedFileError if it is too large, OSError if it cannot be read.
    """
    for handle, mode, _ in _open(kept):
        # Handles on folders lead below the overlay, where changes reach the disk: open them by
        # name.
        if stat.S_ISDIR(mode):
            _replace(handle, _folder_again(handle, nowhere), nowhere)
        elif stat.S_ISREG(mode):
            _replace(handle, _file_again(handle, nowhere, writable), nowhere)


def _open(kept: Sequence[int]) -> list[tuple[int, int, int]]:
    """Each handle with its mode and, of a device, its number."""
    found = []
    # A list first: the folder is read through a handle that is itself in it.
    for handle in sorted(
        int(path.name) for path in Path(_OPEN_FILES).iterdir()
    ):
        try:
            status = os.fstat(handle)
        except OSError:
            continue  # The handle with which the folder of handles was read.
        if handle not in kept:
            found.append((handle, status.st_mode, status.st_rdev))
    return found


def _replace(handle: int, own: int, nowhere: int) -> None:
    os.dup2(own, handle, inheritable=os.get_inheritable(handle))
    if own != nowhere:
        os.close(own)


def _folder_again(handle: int, nowhere: int) -> int:
    try:
        return os.open(
            os.readlink(f"{_OPEN_FILES}/{handle}"), os.O_RDONLY | os.O_DIRECTORY
        )
    except OSError:
        return nowhere  # It has been removed.


def _file_again(handle: int, nowhere: int, writable: Sequence[str]) -> int:
    name = os.readlink(f"{_OPEN_FILES}/{handle}")
    flags = fcntl.fcntl(handle, fcntl.F_GETFL)
    # Of a handle with O_PATH nothing can be read, and fcntl has no position for it.
    if flags & os.O_PATH:
        return nowhere
    try:
        # The position is copied: a reader that is half through a file continues there.
        place = os.lseek(handle, 0, os.SEEK_CUR)
        own = _by_name(handle, name, flags, writable)
        if own is None:
            own = _in_memory(handle)
        os.lseek(own, place, os.SEEK_SET)
    except PermissionError:
        return nowhere  # It could be opened once, by a user that the kernel no longer is.
    return own


def _by_name(
    handle: int, name: str, flags: int, writable: Sequence[str]
) -> int | None:
    """None where another file has the name now, or none has it."""
    # Outside these folders nothing can be dropped, so the file is opened for reading alone.
    is_dropped = any(
        name == folder or name.startswith(folder.rstrip("/") + "/")
        for folder in writable
    )
    try:
        own = _with_flags(
            name, flags & _KEPT_FLAGS if is_dropped else os.O_RDONLY
        )
    # A file deleted or replaced after it was opened: its name leads to another content.
    except (FileNotFoundError, NotADirectoryError):
        return None
    if _is_same(os.fstat(handle), os.fstat(own), is_overlaid=is_dropped):
        return own
    os.close(own)
    return None


def _with_flags(name: str, flags: int) -> int:
    try:
        return os.open(name, flags)
    except OSError:
        # The room has no space for a copy of a large file: it can be read.
        return os.open(name, os.O_RDONLY)


def _is_same(
    one: os.stat_result, other: os.stat_result, *, is_overlaid: bool
) -> bool:
    """An overlay may give its files other numbers."""
    # Nothing else tells the file behind a handle from a new one with its name.
    facts = [
        (found.st_size, found.st_mtime_ns, found.st_nlink > 0)
        for found in (one, other)
    ]
    is_numbered_alike = (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    return is_numbered_alike or is_overlaid and facts[0] == facts[1]


def _in_memory(handle: int) -> int:
    size = os.fstat(handle).st_size
    if size > _MOST_NAMELESS:
        # Copying it would take the memory that the cell itself is given.
        raise SharedFileError("the kernel has a large file without a name open")
    readable = os.open(f"{_OPEN_FILES}/{handle}", os.O_RDONLY)
    own = os.memfd_create("copied")
    try:
        place = 0
        # pread, because the position of this handle is shared with the kernel's.
        while piece := os.pread(readable, _PIECE, place):
            os.write(own, piece)
            place += len(piece)
    finally:
        os.close(readable)
    return own
