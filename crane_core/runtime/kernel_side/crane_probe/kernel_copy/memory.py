"""The memory of a copy of the kernel: none that it shares with others, and no more than it is given."""

from __future__ import annotations

from pathlib import Path

_MAPS = "/proc/self/maps"
# More would take seconds to copy, while the kernel waits.
_MOST_SHARED = 512 * 2**20
_READ, _WRITE, _RUN = 1, 2, 4
_PRIVATE, _FIXED, _ANONYMOUS = 0x02, 0x10, 0x20
# multiprocessing's and joblib's shared arrays are here: memory of the machine, no device.
_IN_MEMORY = ("/dev/shm/", "/dev/zero")  # noqa: S108 - read as names


class SharedMemoryError(Exception):
    """The kernel shares memory that the copy cannot make its own."""


def make_private(*, is_run_in: bool = True) -> None:
    """What is mapped as shared and may be written becomes a copy at the same place. Raises SharedMemoryError.

    is_run_in: code of the notebook runs in the copy, so what could be made writable counts, too.
    """
    shared = _shared(is_run_in=is_run_in)
    if sum(end - start for start, end, _ in shared) > _MOST_SHARED:
        raise SharedMemoryError(
            "the kernel shares more memory with others than can be copied"
        )
    for start, end, rights in shared:
        _copy(start, end - start, rights)


def _shared(*, is_run_in: bool) -> list[tuple[int, int, int]]:
    """Begin, end and rights of each."""
    found = []
    text = Path(_MAPS).read_text("utf-8", "surrogateescape")
    lines = [line.split(None, 5) for line in text.splitlines()]
    for parts in lines:
        place, rights, path = parts[0], parts[1], "".join(parts[5:])
        if "s" not in rights or not ("w" in rights or is_run_in):
            continue
        first, _, after = place.partition("-")
        start, end = int(first, 16), int(after, 16)
        bits = (
            _READ * ("r" in rights)
            | _WRITE * ("w" in rights)
            | _RUN * ("x" in rights)
        )
        if not bits & _WRITE and not _writable_on_demand(
            start, end - start, bits
        ):
            continue
        # Memory of a card or camera cannot be copied: what is written there is done.
        if path.startswith("/dev/") and not path.startswith(_IN_MEMORY):
            raise SharedMemoryError(
                "the kernel works with the memory of a device"
            )
        found.append((start, end, bits))
    return found


def _writable_on_demand(start: int, length: int, rights: int) -> bool:
    """Whether mprotect(2) is all that it takes to write there, as for a file that is open for writing."""
    # A policy may refuse writing and running together, yet allow writing alone: then no answer is certain.
    if rights & _RUN:
        return True
    import ctypes

    # Asked of the system itself: reading smaps walks all pages of the kernel, which waits meanwhile.
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if protect(start, length, rights | _WRITE) != 0:
        return False
    if protect(start, length, rights) != 0:
        raise SharedMemoryError("the kernel shares memory of unknown rights")
    return True


def _copy(start: int, length: int, rights: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        *[ctypes.c_int] * 3,
        ctypes.c_long,
    ]
    # Read before it is replaced at its place, as pointers into it must stay right.
    held = _content(start, length, rights)
    if (
        libc.mmap(
            start, length, _READ | _WRITE, _PRIVATE | _FIXED | _ANONYMOUS, -1, 0
        )
        != start
    ):
        raise SharedMemoryError(
            "the kernel shares memory that could not be copied"
        )
    ctypes.memmove(start, held, length)
    # Code that is mapped for running must be able to run after the copy.
    if (
        rights != _READ | _WRITE
        and libc.mprotect(
            ctypes.c_void_p(start), ctypes.c_size_t(length), rights
        )
        != 0
    ):
        raise SharedMemoryError(
            "the kernel shares memory that could not be copied"
        )


def _content(start: int, length: int, rights: int) -> bytes:
    import ctypes

    if not rights & _READ:
        raise SharedMemoryError("the kernel shares memory that cannot be read")
    return ctypes.string_at(start, length)


def bound(more_bytes: int) -> None:
    """It may take this much more address space than it has."""
    import resource

    # Added to what is mapped now: TensorFlow alone maps many GiB that it never uses.
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    most = pages * resource.getpagesize() + more_bytes
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(
        resource.RLIMIT_AS,
        (most if hard == resource.RLIM_INFINITY else min(most, hard), hard),
    )
    # No dump of a copy that dies, which would hold the notebook's data on the disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
