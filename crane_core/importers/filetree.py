"""One view of a source of files: a folder, an archive or a few single files.

Knows names and bytes. Refuses to know what the files mean, and to return anything from outside the source.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from crane_core.domain import LoadProblem
from crane_core.errors import SourceError
from crane_core.importers import archive_safety
from crane_core.importers.folder import open_folder, read_file
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
