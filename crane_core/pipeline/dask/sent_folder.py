"""The folders of notebooks on their way to a worker: used where they lie if the worker has them too, else sent along.

What lies beside the folders is not sent. Folders of more than 16 MiB are not sent either: every worker has to have them
at the same path.
"""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from crane_core.errors import ClusterError
from crane_core.pipeline.loading.sources import fingerprint

MOST_BYTES = 16 * 2**20
MOST_FILES = 1_000


class Sent(NamedTuple):
    """Paths below `root`: notebooks with their sha256, and all files beside them with their content.

    `files` is None where they are too many to send, or where the worker is on this machine.
    """

    root: Path
    notebooks: dict[str, str]
    files: dict[str, bytes] | None


def sent(root: Path, notebooks: Sequence[Path], *, is_local: bool) -> Sent:
    """These notebooks below `root` with the other files of their folders, but no other notebooks. Raises OSError."""
    top = root.resolve()
    paths = [path.resolve() for path in notebooks]
    marks = {
        path.relative_to(top).as_posix(): fingerprint(path) for path in paths
    }
    return Sent(top, marks, None if is_local else _files(top, paths))


def _files(top: Path, notebooks: Sequence[Path]) -> dict[str, bytes] | None:
    found: dict[str, bytes] = {}
    n_bytes = 0
    for folder in dict.fromkeys(path.parent for path in notebooks):
        for path in sorted(folder.rglob("*")):
            if not _is_sent(path, notebooks):
                continue
            n_bytes += path.stat().st_size
            if n_bytes > MOST_BYTES or len(found) == MOST_FILES:
                return None
            found[path.relative_to(top).as_posix()] = path.read_bytes()
    return found


def _is_sent(path: Path, notebooks: Sequence[Path]) -> bool:
    """A file that a notebook may read; other notebooks are not data."""
    if path.is_symlink() or not path.is_file():
        return False
    return path.suffix != ".ipynb" or path in notebooks


@contextmanager
def received(what: Sent) -> Iterator[Path]:
    """On a worker: the root below which the notebooks lie, its own or a copy for as long as the body runs.

    Raises ClusterError if they are not here and were not sent.
    """
    # By content, not by name: a shared path may hold another version of the notebook.
    if all(
        _is_here(what.root / name, mark)
        for name, mark in what.notebooks.items()
    ):
        yield what.root
        return
    if what.files is None:
        raise ClusterError(
            f"The folder of {next(iter(what.notebooks))} is not on {socket.gethostname()} and too large to be sent.",
            remedy=f"Put it at the same path on every worker; up to {MOST_BYTES // 2**20} MiB are sent.",
        )
    with TemporaryDirectory(prefix="crane-sent-") as place:
        root = Path(place).resolve()
        for name, content in what.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield root


def _is_here(path: Path, mark: str) -> bool:
    return path.is_file() and fingerprint(path) == mark
