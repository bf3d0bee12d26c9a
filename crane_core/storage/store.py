"""The open database: one connection per process, a fresh cursor per use, writes in the order of the requests.

DuckDB lets one process hold a file for writing and refuses a connection shared between threads (it raises instead
of waiting), so every reader gets its own cursor and every write goes through one single-threaded queue.
"""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import RLock
from typing import TypeVar
from uuid import uuid4

import duckdb

from crane_core.errors import StoreError
from crane_core.storage import partitions, schema

T = TypeVar("T")
DatabaseError = duckdb.Error
"""What DuckDB raises in the middle of a query, such as for a damaged block."""
_BLOCK_BYTES = 65_536
"""Of a new file. There are many small tables: with DuckDB's own 262,144 the file is half as large again."""
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "default_block_size": _BLOCK_BYTES,
    "allocator_background_threads": True,  # else what a query needed stays with DuckDB's allocator: 150 MB of 300
}
DAMAGED_REMEDY = "Run `python -m crane_core rebuild`: it is rebuilt from sources and ledger, which hold everything."
Cursor = duckdb.DuckDBPyConnection
"""The argument of a change or a query."""
IN_MEMORY = Path(":memory:")
HELD = "Could not set lock on file"
"""DuckDB's message if another process has the file open; one about a damaged "block" differs."""
_HOLDER = re.compile(r"lock is held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")
_FULL = "No space left on device"
_READER = "in read-only mode"
"""DuckDB's hint if the other process only reads."""


class StoreHeldError(StoreError):
    """Another process has the database open; `by_reader` if it only reads, so that other readers can open it too."""

    def __init__(self, message: str, *, remedy: str, by_reader: bool) -> None:
        super().__init__(message, remedy=remedy)
        self.by_reader = by_reader


class Store:
    """An open database. Create it with `open_store`; close it when the process is done with it."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        sources: Path | None = None,
    ) -> None:
        self._connection = connection
        self._sources = sources
        self._views: tuple[str, list[str]] | None = None
        # One thread, in the order of the requests: DuckDB aborts one of two transactions that touch the same
        # row.
        self._writer = ThreadPoolExecutor(
            max_workers=1, thread_name_prefix="store-writer"
        )
        self.path = path
        self.loading = RLock()
        self._opened = uuid4().hex
        self._n_changes = 0

    @property
    def version(self) -> str:
        """Differs between any two openings, and after every change; constant while every query's result is."""
        return f"{self._opened}/{self._n_changes}"

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A new cursor for the caller, over the tables and what stays in Parquet; never share one between threads.

        Raises StoreError if a Parquet file is gone or damaged.
        """
        cursor = self.bare_cursor()
        version = self.version
        try:
            # Views over Parquet files belong to a cursor, but their text changes only with what is loaded.
            if self._views is None or self._views[0] != version:
                made = (
                    []
                    if self._sources is None
                    else partitions.views(cursor, self._sources)
                )
                self._views = version, made
            for statement in self._views[1]:
                cursor.execute(statement)
        except duckdb.Error as error:
            raise StoreError(
                f"A kept Parquet file cannot be read: {_one_line(error)}",
                remedy="Restore it from a backup; `doctor` lists losses, `rebuild --accept-loss` goes without them.",
            ) from error
        return cursor

    def bare_cursor(self) -> duckdb.DuckDBPyConnection:
        """The same over the tables alone, for those who keep the books of what is loaded."""
        return self._connection.cursor()

    def write(self, change: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Run `change` in one transaction, after all earlier writes; all of it is committed or nothing.

        Raises StoreError if the database rejects a row.
        """
        return self._writer.submit(self._in_transaction, change).result()

    def undisturbed(self, work: Callable[[], T]) -> T:
        """Run `work` after all earlier writes and before any later one, while the file does not change."""
        return self._writer.submit(work).result()

    def _in_transaction(
        self, change: Callable[[duckdb.DuckDBPyConnection], T]
    ) -> T:
        try:
            with schema.transaction(self.bare_cursor()) as cursor:
                return change(cursor)
        except duckdb.Error as error:
            is_full = _FULL in str(error)
            raise StoreError(
                f"The database refused a change: {_one_line(error)}.",
                remedy="Free some space, then do it again."
                if is_full
                else "Nothing was loaded; correct the source, or report the problem.",
            ) from error
        # Counted even when it failed: a cache that is cleared in vain is cheaper than one that is stale.
        finally:
            self._n_changes += 1

    def close(self) -> None:
        """Wait for the writes that were begun, then close the file."""
        self._writer.shutdown(wait=True)
        self._connection.close()


def open_store(
    path: Path, sources: Path | None = None, *, with_comments: bool = False
) -> Store:
    """Open the database at `path`, or in memory for `IN_MEMORY`; a new one gets the schema.

    sources: the folder of kept sources, the only one whose files the database may read; None: no file at all.
    with_comments: whether a new one says what its tables and columns hold, for people who ask it.
    Raises StoreHeldError if another process holds it, OtherVersionError if another version made it, StoreError if it
    is not a database of this app.
    """
    store = Store(_connected(path, sources), path, sources)
    try:
        schema.make_schema(store.bare_cursor(), with_comments=with_comments)
    except duckdb.Error as error:
        store.close()
        raise _refusal(path, error) from error
    # Also for Ctrl+C: an open connection would keep the file locked until the process ends.
    except BaseException:
        store.close()
        raise
    return store


def open_as_it_is(
    path: Path, sources: Path | None = None, *, read_only: bool = False
) -> Store:
    """Open a database of any version, to count what it holds before it is built again.

    Raises StoreHeldError if another process holds it, StoreError if it is not a database.
    """
    return Store(_connected(path, sources, read_only=read_only), path, sources)


def open_to_read(path: Path, sources: Path | None = None) -> Store:
    """Open the database read-only, beside other readers. Raises StoreError as `open_store` does."""
    return Store(connected_to_read(path, sources), path, sources)


def connected_to_read(
    path: Path, sources: Path | None = None
) -> duckdb.DuckDBPyConnection:
    """The connection of `open_to_read`."""
    connection = _connected(path, sources, read_only=True)
    try:
        schema.refuse_other_version(connection.cursor())
    except (duckdb.Error, StoreError) as error:
        connection.close()
        raise (
            error if isinstance(error, StoreError) else _refusal(path, error)
        ) from error
    return connection


def _connected(
    path: Path, sources: Path | None, *, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    try:
        if sources is None:
            return duckdb.connect(
                str(path),
                read_only=read_only,
                config=_CONFIG | {"enable_external_access": False},
            )
        connection = duckdb.connect(
            str(path), read_only=read_only, config=_CONFIG
        )
        # Open in this process already, it is the same database, and closed: then nothing can be set, or has to be.
        [(is_unset,)] = connection.execute(
            "SELECT current_setting('enable_external_access')"
        ).fetchall()
        # DuckDB allows this to be switched off and never on again, so a query cannot undo it.
        if is_unset:
            connection.execute(
                f"SET allowed_directories = [{partitions.quoted(str(sources.resolve()))}]"
            )
            connection.execute("SET enable_external_access = false")
        return connection
    except duckdb.Error as error:
        raise _refusal(path, error) from error


def _refusal(path: Path, error: duckdb.Error) -> StoreError:
    if HELD in str(error):
        return _held(path, str(error))
    return StoreError(
        f"{path} cannot be opened as a database: {_one_line(error)}",
        remedy=DAMAGED_REMEDY,
    )


def _held(path: Path, said: str) -> StoreHeldError:
    """The process that has the database open, as DuckDB's message names it."""
    found = _HOLDER.search(said)
    who = (
        f"{Path(found['program']).name}, process {found['pid']}"
        if found
        else "unknown process"
    )
    if _READER in said:
        return StoreHeldError(
            f"Another program is reading {path} ({who}), so it cannot be changed.",
            remedy="Close that program; `report`, `doctor` and `export` work at the same time.",
            by_reader=True,
        )
    if found and not Path(found["program"]).name.startswith("python"):
        return StoreHeldError(
            f"{path} is open in a program that is not this app ({who}).",
            remedy="Close it; to ask the database something beside the app, use `sql`.",
            by_reader=False,
        )
    return StoreHeldError(
        f"{path} is open in another process ({who}), most likely the running app.",
        remedy="Stop the app, or use its Data page.",
        by_reader=False,
    )


def damaged(error: duckdb.Error) -> StoreError:
    """What DuckDB raised in the middle of a query, as a StoreError."""
    return StoreError(
        f"The database cannot answer: {_one_line(error)}.",
        remedy=DAMAGED_REMEDY,
    )


def _one_line(error: duckdb.Error) -> str:
    return str(error).splitlines()[0]
