"""What an archive or folder from elsewhere may hold: which names are safe and how much is too much.

Knows limits and names only. Refuses to know any archive format or what the files mean.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from crane_core.domain import LoadProblem
from crane_core.errors import SourceError

MEBIBYTE = 1024 * 1024
_BROUGHT_BY_MACOS = "__MACOSX"


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Sizes in bytes. The published archive of 18,009 files unpacks to 39 MiB at a ratio of 23.

    `ratio` (unpacked to packed size) counts only above `ratio_from_bytes`, since small texts may shrink a lot.
    """

    files: int = 200_000
    file_bytes: int = 64 * MEBIBYTE
    total_bytes: int = 1024 * MEBIBYTE
    ratio: float = 250.0
    ratio_from_bytes: int = 64 * MEBIBYTE


DEFAULT_LIMITS = ArchiveLimits()


@dataclass(slots=True)
class Contents:
    """The contents of a container: the names that may be read, how to read one, and what was refused."""

    read: Callable[[str], bytes]
    names: list[str] = field(default_factory=list)
    problems: list[LoadProblem] = field(default_factory=list)

    def refuse(self, name: str, reason: str) -> None:
        """Leave a member out and note why, under a name that can be printed."""
        self.problems.append(
            LoadProblem(
                _printable(name), "archive member", f"{reason}; skipped"
            )
        )


def normal_name(name: str) -> str:
    """The member's name with forward slashes and without a leading "./", as archives made on Windows need it."""
    name = name.replace("\\", "/")
    return name[2:] if name.startswith("./") else name


def unsafe_name(name: str) -> str | None:
    """Why this member's name must not be used as a path, or None when it is safe."""
    if not name or "\0" in name or not _is_text(name):
        return "the name is not valid Unicode"
    # A drive letter makes a path absolute on Windows, where archives may be unpacked later.
    if name.startswith("/") or name[1:2] == ":":
        return "the name is an absolute path"
    if ".." in name.split("/"):
        return "the name leaves the archive"
    return None


def is_hidden(name: str) -> bool:
    """Whether the path lies in a hidden folder or is a hidden file: caches, checkpoints, version control."""
    # macOS adds a shadow of each file to archives, which is not part of the source.
    return name.startswith((".", _BROUGHT_BY_MACOS)) or "/." in name


def refuse_bomb(
    unpacked_bytes: int, packed_bytes: int, source: str, limits: ArchiveLimits
) -> None:
    """Raise SourceError if the unpacked size is beyond the limits for this packed size (all in bytes)."""
    remedy = (
        "Check its origin; if you trust it, unpack it and import the folder."
    )
    if unpacked_bytes > limits.total_bytes:
        raise SourceError(
            f"{source} unpacks to more than {limits.total_bytes:,} bytes.",
            remedy=remedy,
        )
    # Texts that repeat shrink a lot without any harm, so the ratio alone refuses no small archive.
    if (
        unpacked_bytes > limits.ratio_from_bytes
        and unpacked_bytes > limits.ratio * max(packed_bytes, 1)
    ):
        raise SourceError(
            f"{source} unpacks to more than {limits.ratio:.0f} times its size.",
            remedy=remedy,
        )


def refuse_crowd(n_files: int, source: str, limits: ArchiveLimits) -> None:
    """Raise SourceError if there are more files than any benchmark has."""
    if n_files > limits.files:
        raise SourceError(
            f"{source} contains more than {limits.files:,} files.",
            remedy="Import the folder of the benchmark itself, not one above it.",
        )


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _printable(name: str) -> str:
    return (
        name.encode("utf-8", "backslashreplace")
        .decode("utf-8")
        .replace("\0", "\\0")
    )
