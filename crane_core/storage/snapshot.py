"""Copies of the database beside it, for processes that only read: DuckDB lets no reader open a file that is written.

The one who writes puts each copy under its final name when it is whole, and removes the older ones. The name says
which copy is newer, the time of the file until when the copy holds everything.
"""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from crane_core import helper_process
from crane_core.errors import StoreError
from crane_core.storage.store import (
    Cursor,
    Store,
    connected_to_read,
    open_store,
)

T = TypeVar("T")
KEPT = 2
"""Copies that stay: the newest, and the one that a reader may be about to open."""
_NAME = "crane-{:020d}.duckdb"
_UNFINISHED = ".unfinished"
_COPY = """
import os, shutil, sys
try:
    for source, copy in zip(sys.argv[1::2], sys.argv[2::2]):
        shutil.copyfile(source, copy)
        with open(copy, "rb") as file:
            os.fsync(file.fileno())
except OSError as error:
    sys.exit(error.strerror)
"""
"""Runs in a separate process: a process that closes a file releases all its locks on it, DuckDB's among them."""


def publish(store: Store, folder: Path, *, at: float) -> Path:
    """Copy the open database into `folder`, remove older copies, and say where the new one is.

    At the time `at` (seconds since 1970) the database held everything. Raises StoreError, for example where the disk
    is full; the copy of before stays then.
    """
    try:
        folder.mkdir(exist_ok=True)
        copy = _whole_copy(store, folder, at)
        for older in _copies(folder)[:-KEPT]:
            older.unlink(missing_ok=True)
    except (OSError, StoreError) as error:
        why = (
            error.strerror if isinstance(error, OSError) else str(error.args[0])
        )
        raise StoreError(
            f"The copy of the database for replicas cannot be written in {folder}: {why}.",
            remedy="Free some space or fix the permissions; replicas show the copy of before until then.",
        ) from error
    return copy


def _whole_copy(store: Store, folder: Path, at: float) -> Path:
    """It gets its name when it is whole. Raises OSError and StoreError; then nothing stays."""
    unfinished = folder / f"{uuid4().hex}{_UNFINISHED}"
    try:
        store.undisturbed(lambda: _copied(store.path, unfinished))
        open_store(
            unfinished
        ).close()  # merges its log into it, and proves that it can be opened
        confirm(unfinished, at)
        return unfinished.rename(
            # By the clock, but always above the newest: the clock may have been set back.
            folder
            / _NAME.format(max(time.time_ns(), _number(newest(folder)) + 1))
        )
    finally:
        for file in (unfinished, _log_of(unfinished)):
            file.unlink(missing_ok=True)


def _copied(database: Path, copy: Path) -> None:
    """Raises StoreError; copies what was not yet merged into the database too."""
    pairs = [(database, copy), (_log_of(database), _log_of(copy))]
    names = [str(name) for pair in pairs if pair[0].exists() for name in pair]
    done = helper_process.run(
        # The child copies files and needs nothing that is installed, so it starts faster and runs no code of
        # others.
        helper_process.python("-c", _COPY, *names, has_site=False)
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise StoreError((said or ["the copy was interrupted"])[-1], remedy="")


def remove_unfinished(folder: Path) -> None:
    """Remove what a process that was killed left."""
    for file in folder.glob(f"*{_UNFINISHED}*"):
        file.unlink(missing_ok=True)


def confirm(copy: Path, at: float) -> None:
    """Note that at this time (seconds since 1970) the copy held everything."""
    os.utime(copy, (at, at))


def newest(folder: Path) -> Path | None:
    """The newest copy, None if there is none."""
    return max(_copies(folder), default=None)


def _copies(folder: Path) -> list[Path]:
    return sorted(folder.glob(_NAME.split("{", maxsplit=1)[0] + "*.duckdb"))


def _number(copy: Path | None) -> int:
    return int(copy.stem.rpartition("-")[2]) if copy else 0


def _log_of(database: Path) -> Path:
    return database.with_name(database.name + ".wal")


class Replica(Store):
    """The newest copy in a folder, opened to read only. `follow` changes to a newer one; open cursors stay valid."""

    def __init__(self, folder: Path, sources: Path | None = None) -> None:
        """sources: as for `open_store`."""
        copy, connection = _opened(folder, sources)
        super().__init__(connection, copy, sources)
        self._folder = folder
        self._held_all_at = copy.stat().st_mtime

    def follow(self) -> None:
        """Change to the newest copy. Raises StoreError if it cannot be opened."""
        with self.loading:
            if newest(self._folder) not in (None, self.path):
                # Who still reads the one before keeps it open.
                self.path, self._connection = _opened(
                    self._folder, self._sources
                )
                self._n_changes += 1

    def write(self, change: Callable[[Cursor], T]) -> T:
        """Raises StoreError always."""
        raise StoreError(
            "This is a read-only copy of the database.",
            remedy="Write where the app runs that keeps it.",
        )

    @property
    def as_of(self) -> datetime:
        """The last time at which the shown copy was known to hold everything (UTC)."""
        if self.path.exists():
            # A copy that is removed while it is read keeps the last time that was known.
            self._held_all_at = self.path.stat().st_mtime
        return datetime.fromtimestamp(self._held_all_at, UTC)


def _opened(folder: Path, sources: Path | None) -> tuple[Path, Cursor]:
    while copy := newest(folder):
        try:
            return copy, connected_to_read(copy, sources)
        # The writer removes old copies: this one may have gone between looking and opening.
        except StoreError:
            if copy.exists():
                raise
    raise StoreError(
        f"There is no copy of the database in {folder}.",
        remedy="Start the app that writes first, with `app --publish 10` and the same data folder.",
    )
