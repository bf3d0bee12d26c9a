"""The memory of a copy of the kernel: none that it shares with others, and no more than it is given."""

from __future__ import annotations

from pathlib import Path

_MAPS, _DETAILS = "/proc/self/maps", "/proc/self/smaps"
# More would take seconds to copy, while the kernel waits.
_MOST_SHARED = 512 * 2**20
_READ, _WRITE, _RUN = 1, 2, 4
_PRIVATE, _FIXED, _ANONYMOUS = 0x02, 0x10, 0x20
# multiprocessing's and joblib's shared arrays are here: memory of the machine, no device.
_IN_MEMORY = ("/dev/shm/", "/dev/zero")  # noqa: S108 - read as names


class SharedMemoryError(Exception):
    """The kernel shares memory that the copy cannot make its own."""


def make_private() -> None:
    """What is mapped as shared and may be written becomes a copy at the same place. Raises SharedMemoryError."""
    shared = _shared()
    if sum(end - start for start, end, _ in shared) > _MOST_SHARED:
        raise SharedMemoryError(
            "the kernel shares more memory with others than can be copied"
        )
    for start, end, rights in shared:
        _copy(start, end - start, rights)


def _shared() -> list[tuple[int, int, int]]:
    """Begin, end and rights of each."""
    found = []
    text = Path(_MAPS).read_text("utf-8", "surrogateescape")
    lines = [line.split(None, 5) for line in text.splitlines()]
    shared = [parts for parts in lines if "s" in parts[1]]
    # smaps is read only if need be: it is slow for a process with many libraries.
    is_asked = any("w" not in parts[1] for parts in shared)
    may_become_writable = _writable_on_demand() if is_asked else set()
    for parts in shared:
        place, rights, path = parts[0], parts[1], "".join(parts[5:])
        if "w" not in rights and place not in may_become_writable:
            continue
        # Memory of a card or camera cannot be copied: what is written there is done.
        if path.startswith("/dev/") and not path.startswith(_IN_MEMORY):
            raise SharedMemoryError(
                "the kernel works with the memory of a device"
            )
        start, _, end = place.partition("-")
        bits = (
            _READ * ("r" in rights)
            | _WRITE * ("w" in rights)
            | _RUN * ("x" in rights)
        )
        found.append((int(start, 16), int(end, 16), bits))
    return found


def _writable_on_demand() -> set[str]:
    """Places of what is mapped from files that are open for writing: mprotect(2) is all that it takes."""
    found: set[str] = set()
    place = ""
    with open(_DETAILS, encoding="utf-8", errors="surrogateescape") as lines:  # noqa: PTH123 - they are many
        for line in lines:
            first, _, rest = line.partition(" ")
            if first == "VmFlags:" and "mw" in rest.split():
                found.add(place)
            elif not first.endswith(":"):
                place = first
    return found


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
