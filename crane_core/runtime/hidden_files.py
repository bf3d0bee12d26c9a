"""What of a folder a sealed kernel is not shown: hidden files, files of keys, and data folders of this program.

Knows names. Refuses to look into files, so that what a secret looks like does not matter.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from crane_core.given_path import special_files

KEY_FILES = (
    *(
        "id_rsa*",
        "id_dsa*",
        "id_ecdsa*",
        "id_ed25519*",
        "*.pem",
        "*.key",
        "*.p12",
        "*.pfx",
        "*.kdbx",
        "*.ppk",
    ),
    *(
        "*.env",
        "netrc",
        "_netrc",
        "kaggle.json",
        "credentials",
        "credentials.*",
        "secrets.*",
        "token.json",
    ),
    *("client_secret*.json", "service[-_]account*.json", "identity.key"),
    # No keys, but thousands of hidden files that no notebook reads.
    "node_modules",
)
"""Names under which keys lie about, beside those that begin with a dot."""
INSTALLED = ("site-packages", "dist-packages")
"""Folders that pip fills."""
_MARKS = ("identity.key", "crane.duckdb", "ledger/.manifest")
"""A folder that holds one of these is a data folder of this program, no matter who uses it."""
# A data folder holds answers and labels of others, which a notebook must not read.
_OF_DATA_FOLDER = (
    "crane.duckdb*",
    "identity.key*",
    "notifications*.json",
    "ledger",
    "replicas",
    "sources",
    "downloads",
    "jobs",
    "logs",
    "states",
)


def is_data_folder(folder: Path) -> bool:
    """Whether a folder holds one of the files by which a data folder of this program is known."""
    return any((folder / mark).exists() for mark in _MARKS)


def hidden_names(folder: str | Path) -> set[str]:
    """Names of this one folder that are not shown; of a data folder, all that this program keeps there."""
    if any(part in INSTALLED for part in Path(folder).parts):
        return (
            set()
        )  # There a hidden name is that of a library (.libs), not of a secret.
    patterns = (
        (*KEY_FILES, *_OF_DATA_FOLDER)
        if is_data_folder(Path(folder))
        else KEY_FILES
    )
    with os.scandir(folder) as entries:
        return {
            entry.name
            for entry in entries
            if _is_hidden(entry.name, patterns) or _holds_data(entry)
        }


def _holds_data(entry: os.DirEntry[str]) -> bool:
    # A link stays a link, and what it leads to is hidden or outside; a link may also lead to itself.
    return entry.is_dir(follow_symlinks=False) and is_data_folder(
        Path(entry.path)
    )


def _is_hidden(name: str, patterns: tuple[str, ...]) -> bool:
    # In lower case, as ID_RSA is found on disks that do not distinguish cases.
    return name.startswith(".") or any(
        fnmatch(name.lower(), pattern) for pattern in patterns
    )


def hidden_below(folder: Path) -> Iterator[Path]:
    """The files and folders in and below a folder that are not shown; what lies in one of them is not named again."""
    for where, folders, _ in os.walk(folder):
        hidden = hidden_names(where)
        yield from (Path(where, name) for name in sorted(hidden))
        # In place: os.walk then does not go into what is hidden.
        folders[:] = [name for name in folders if name not in hidden]


def copy_shown(folder: Path, copy: Path) -> None:
    """Copy a folder without what is hidden; links stay links. The copy's own folder is left out, where it lies inside.

    Raises OSError.
    """

    def left_out(where: str, names: list[str]) -> set[str]:
        # A room inside the notebook's folder would be copied into itself.
        room = (
            {copy.parent.name} if Path(where) == copy.parent.parent else set()
        )
        # Sockets and pipes cannot be copied, and reading one would block.
        return hidden_names(where) | room | special_files(where, names)

    shutil.copytree(folder, copy, symlinks=True, ignore=left_out)


def is_small(folder: Path, *, most_bytes: int, most_files: int) -> bool:
    """Whether what is shown of a folder is small enough to be copied for one run."""
    n_bytes = n_files = 0
    for where, folders, names in os.walk(folder):
        hidden = hidden_names(where)
        folders[:] = [name for name in folders if name not in hidden]
        shown = [name for name in names if name not in hidden]
        n_files += len(shown)
        # lstat: a link counts as itself, as it stays one in the copy.
        n_bytes += sum(
            os.lstat(os.path.join(where, name)).st_size  # noqa: PTH118
            for name in shown
        )
        # Asked after each folder, since a folder of data may have millions of files.
        if n_bytes > most_bytes or n_files > most_files:
            return False
    return True
