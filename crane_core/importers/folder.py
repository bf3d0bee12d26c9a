"""Listing and reading an unpacked folder without leaving it.

Knows the file system. Refuses to know what the files mean, and reads a file only on request.
"""

import os
from pathlib import Path

from crane_core.errors import SourceError
from crane_core.importers import archive_safety

_CHECK_ACCESS = "Check that the file exists and is readable."


def open_folder(
    root: Path, limits: archive_safety.ArchiveLimits
) -> archive_safety.Contents:
    """List the files under `root`; a link that leads out of it is refused.

    Hidden files and the sockets of kernels that run there are left out.
    """
    contents = archive_safety.Contents(
        read=lambda name: read_file(root / name, limits)
    )
    inside = root.resolve()
    # By itself `os.walk` passes over a folder that it may not list.
    for folder, subfolders, files in os.walk(
        root, onerror=lambda error: _note_unlistable(contents, root, error)
    ):
        subfolders[:] = sorted(
            name for name in subfolders if not name.startswith(".")
        )
        for name in [
            name for name in subfolders if Path(folder, name).is_symlink()
        ]:
            contents.refuse(
                _relative(Path(folder, name), root), "it is a link to a folder"
            )
            subfolders.remove(name)
        for name in sorted(files):
            if not name.startswith(".") and not Path(folder, name).is_socket():
                _add(contents, Path(folder, name), root, inside)
        # Counted on the way, so that a home folder given by mistake is refused before it is read to its end.
        archive_safety.refuse_crowd(len(contents.names), str(root), limits)
    return contents


def read_file(path: Path, limits: archive_safety.ArchiveLimits) -> bytes:
    """The bytes of one ordinary file; SourceError when it is too large or cannot be read."""
    try:
        if path.stat().st_size > limits.file_bytes:
            raise SourceError(
                f"{path.name} is larger than {limits.file_bytes:,} bytes.",
                remedy="Remove large outputs from it.",
            )
        return path.read_bytes()
    except OSError as error:
        raise SourceError(
            f"{path.name} cannot be read: {error.strerror}.",
            remedy=_CHECK_ACCESS,
        ) from error


def _add(
    contents: archive_safety.Contents, file: Path, root: Path, inside: Path
) -> None:
    name = _relative(file, root)
    reason = archive_safety.unsafe_name(name)
    if reason is None and file.is_symlink():
        reason = _why_not_followed(file, inside)
    if reason is None and not file.is_file():
        reason = "it is not a regular file"
    if reason:
        contents.refuse(name, reason)
    else:
        contents.names.append(name)


def _why_not_followed(link: Path, inside: Path) -> str | None:
    try:
        is_inside = link.resolve().is_relative_to(inside)
    except (
        OSError,
        RuntimeError,
    ):  # RuntimeError: what pathlib of Python 3.11 and 3.12 raises
        return "it is a link that leads to itself"
    return None if is_inside else "it is a link to a place outside the folder"


def _relative(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix()


def _note_unlistable(
    contents: archive_safety.Contents, root: Path, error: OSError
) -> None:
    contents.refuse(
        _relative(Path(error.filename), root),
        f"the folder cannot be listed: {error.strerror}",
    )
