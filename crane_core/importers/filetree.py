"""One view of a source of files: a folder, an archive or a few single files.

Knows names and bytes. Refuses to know what the files mean, and to return anything from outside the source.

An unpacked folder is listed without leaving it, and a file of it read only on request.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from crane_core.domain import LoadProblem
from crane_core.errors import SourceError
from crane_core.importers import archive_safety
from crane_core.importers.tar_archive import open_tar
from crane_core.importers.zip_archive import open_zip

_OPENERS: dict[
    str, Callable[[Path, archive_safety.ArchiveLimits], archive_safety.Contents]
] = {
    ".tar.gz": open_tar,
    ".tgz": open_tar,
    ".tar": open_tar,
    ".zip": open_zip,
    ".eval": open_zip,
}
"""`.eval`: a log of Inspect AI."""
_CHECK_ACCESS = "Check that the file exists and is readable."


class FileTree:
    """Files by their POSIX path relative to the source, sorted; a single common top folder is left out.

    `name` is the source's name without its suffix, `top` the folder left out, "" or with a slash. `problems` are
    refused members, which are not in `paths`.
    """

    def __init__(self, name: str, contents: archive_safety.Contents) -> None:
        # GitHub's archives hold everything in one folder, named after repository and release.
        top = _common_top(contents.names)
        self.name = name
        self.paths: list[str] = sorted(
            path[len(top) :] for path in contents.names
        )
        self.problems: list[LoadProblem] = list(contents.problems)
        self.top = top
        self._known = set(self.paths)
        self._read = contents.read

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def read(self, path: str) -> bytes:
        """The file's bytes. Raises SourceError if there is no such file or it cannot be read."""
        if path not in self._known:
            raise SourceError(
                f"{path} is not in {self.name}.", remedy="Check the path."
            )
        return self._read(self.top + path)

    def by_folder(self) -> dict[str, list[str]]:
        """The paths grouped by the folder they lie in ("" for the top), both in order."""
        groups: dict[str, list[str]] = {}
        for path in self.paths:
            groups.setdefault(path.rpartition("/")[0], []).append(path)
        return groups


def open_tree(
    path: Path,
    limits: archive_safety.ArchiveLimits = archive_safety.DEFAULT_LIMITS,
) -> FileTree:
    """Open a folder, a .tar, .tar.gz, .tgz, .zip or .eval archive, or a single file as a tree of one file.

    Raises SourceError if the path does not exist or its archive is damaged, cut short or a bomb.
    """
    if path.is_dir():
        return FileTree(path.resolve().name, open_folder(path, limits))
    if not path.is_file():
        raise SourceError(
            f"{path} does not exist or is not a file.", remedy="Check the path."
        )
    for suffix, opener in _OPENERS.items():
        if path.name.lower().endswith(suffix):
            return FileTree(
                path.name[: -len(suffix)], _opened(opener, path, limits)
            )
    return open_files([path], path.stem, limits)


def open_files(
    paths: Sequence[Path],
    name: str,
    limits: archive_safety.ArchiveLimits = archive_safety.DEFAULT_LIMITS,
) -> FileTree:
    """A tree of single files, such as the two notebooks of a pair; raises SourceError when two share a name."""
    files = {path.name: path for path in paths}
    if len(files) < len(paths):
        raise SourceError(
            f"Two of the files of {name} have the same name.",
            remedy="Import their folder instead.",
        )
    for path in paths:
        if not path.is_file():
            raise SourceError(
                f"{path} does not exist or is not a file.",
                remedy="Check the path.",
            )
    return FileTree(
        name,
        archive_safety.Contents(
            read=lambda file: read_file(files[file], limits), names=list(files)
        ),
    )


def _opened(
    opener: Callable[
        [Path, archive_safety.ArchiveLimits], archive_safety.Contents
    ],
    path: Path,
    limits: archive_safety.ArchiveLimits,
) -> archive_safety.Contents:
    try:
        return opener(path, limits)
    except OSError as error:
        raise SourceError(
            f"{path.name} cannot be read: {error.strerror}.",
            remedy="Check the permissions of the file.",
        ) from error


def _common_top(names: Iterable[str]) -> str:
    tops = {name.partition("/")[0] if "/" in name else "" for name in names}
    return f"{tops.pop()}/" if len(tops) == 1 and "" not in tops else ""


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
