"""The open database: who may have it, what a broken one says, and writes in the order they were asked for."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import PIPE
from threading import Event

import duckdb
import pytest

from crane_core.errors import StoreError
from crane_core.storage.schema import OtherVersionError
from crane_core.storage.store import (
    IN_MEMORY,
    Cursor,
    Store,
    StoreHeldError,
    open_store,
    open_to_read,
)
from tests.patience import PATIENCE_S

N_THREADS = 20
N_WRITES = 50


def put(thread: int, index: int) -> Callable[[Cursor], None]:
    def change(cursor: Cursor) -> None:
        cursor.execute(
            "INSERT INTO landed VALUES (nextval('place'), ?, ?)",
            [thread, index],
        )

    return change


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = open_store(tmp_path / "crane.duckdb")
    opened.cursor().execute("CREATE SEQUENCE place")
    opened.cursor().execute(
        "CREATE TABLE landed (place INTEGER, thread INTEGER, index INTEGER)"
    )
    return opened


@pytest.mark.slow
def test_twenty_threads_write_in_order_while_others_read(store: Store) -> None:
    done = Event()

    def write(thread: int) -> None:
        for index in range(N_WRITES):
            store.write(put(thread, index))

    def read() -> list[int]:
        counts = []
        while not done.is_set():
            counts += [
                row[0]
                for row in store.cursor()
                .execute("SELECT count(*) FROM landed")
                .fetchall()
            ]
        return counts

    with ThreadPoolExecutor(N_THREADS + 2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for written in [
            pool.submit(write, thread) for thread in range(N_THREADS)
        ]:
            written.result()
        done.set()
    for reader in readers:
        assert reader.result() == sorted(reader.result())
    rows = (
        store.cursor()
        .execute("SELECT thread, index FROM landed ORDER BY place")
        .fetchall()
    )
    assert len(rows) == N_THREADS * N_WRITES
    for thread in range(N_THREADS):
        assert [index for t, index in rows if t == thread] == list(
            range(N_WRITES)
        )
    store.close()


def test_a_change_that_raises_leaves_nothing_and_the_next_one_runs(
    store: Store,
) -> None:
    def half(cursor: Cursor) -> None:
        put(1, 1)(cursor)
        raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        store.write(half)
    store.write(put(2, 2))
    assert store.cursor().execute(
        "SELECT thread, index FROM landed"
    ).fetchall() == [(2, 2)]
    store.close()


def test_a_reader_sees_a_change_whole_or_not_at_all(store: Store) -> None:
    started, go_on = Event(), Event()

    def slow(cursor: Cursor) -> None:
        put(1, 1)(cursor)
        started.set()
        assert go_on.wait(PATIENCE_S)
        put(1, 2)(cursor)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(store.write, slow)
        assert started.wait(PATIENCE_S)
        assert store.cursor().execute(
            "SELECT count(*) FROM landed"
        ).fetchall() == [(0,)]
        go_on.set()
        writing.result()
    assert store.cursor().execute("SELECT count(*) FROM landed").fetchall() == [
        (2,)
    ]
    store.close()


def test_database_held_by_another_process(
    tmp_path: Path, held: Callable[[Path], AbstractContextManager[None]]
) -> None:
    path = tmp_path / "crane.duckdb"
    open_store(path).close()
    with (
        held(path),
        pytest.raises(
            StoreHeldError, match="open in another process"
        ) as refused,
    ):
        open_store(path)
    assert "Stop the app" in refused.value.remedy
    open_store(path).close()


def test_database_read_by_another_process_says_so(
    tmp_path: Path, held: Callable[..., AbstractContextManager[None]]
) -> None:
    path = tmp_path / "crane.duckdb"
    open_store(path).close()
    with held(path, "to read"):
        with pytest.raises(
            StoreHeldError,
            match=r"Another program is reading .* \(python\S*, process \d+\)",
        ) as refused:
            open_store(path)
        assert (refused.value.by_reader, "app" in str(refused.value)) == (
            True,
            False,
        )
        store = open_to_read(path)
        assert store.cursor().execute(
            "SELECT count(*) FROM cases"
        ).fetchall() == [(0,)]
        with pytest.raises(StoreError, match="read-only"):
            store.write(lambda cursor: cursor.execute("DELETE FROM cases"))
        store.close()


def test_a_database_of_another_version_is_not_read_as_it_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "crane.duckdb"
    store = open_store(path)
    store.cursor().execute("UPDATE schema_version SET number = number - 1")
    store.close()
    with pytest.raises(OtherVersionError, match="earlier version"):
        open_to_read(path)


def damaged(whole: bytes, kind: str) -> bytes:
    noise = random.Random(kind).randbytes(64)
    return {
        "text": b"this is not a database" * 500,
        "one byte": whole[:1],
        "cut short": whole[:20_000],
        "header": noise + whole[64:],
        "block header": whole[:4096] + noise + whole[4160:],
        "first block": whole[:12288] + noise + whole[12352:],
    }[kind]


@pytest.mark.parametrize(
    "kind",
    ["text", "one byte", "cut short", "header", "block header", "first block"],
)
def test_broken_file_is_refused_with_a_remedy(
    tmp_path: Path, kind: str
) -> None:
    """In a folder whose name holds the word by which DuckDB tells that a file is held."""
    path = tmp_path / "locks" / "crane.duckdb"
    path.parent.mkdir()
    store = open_store(path)
    store.cursor().execute(
        "CREATE TABLE filling AS SELECT range AS a, hash(range) AS b FROM range(100000)"
    )
    store.close()
    path.write_bytes(damaged(path.read_bytes(), kind))
    with pytest.raises(
        StoreError, match="cannot be opened as a database"
    ) as refused:
        open_store(path)
    assert not isinstance(refused.value, StoreHeldError)
    assert "crane_core rebuild" in refused.value.remedy
    assert "\n" not in str(refused.value)


def test_database_of_somebody_else_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "crane.duckdb"
    with duckdb.connect(str(path)) as theirs:
        theirs.execute("CREATE TABLE cases AS SELECT 42 AS answer")
    with pytest.raises(StoreError, match="not one of this app"):
        open_store(path)
    with duckdb.connect(str(path), read_only=True) as theirs:
        assert theirs.execute("FROM cases").fetchall() == [(42,)]


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="directory"):
        open_store(tmp_path)


def test_the_version_differs_after_a_change_and_between_openings(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path / "a.duckdb")
    before = store.version
    assert store.version == before
    store.write(lambda cursor: cursor.execute("CREATE TABLE mine (a INTEGER)"))
    after = store.version
    assert after != before
    with pytest.raises(StoreError):
        store.write(lambda cursor: cursor.execute("SELECT * FROM nothing"))
    store.close()
    reopened = open_store(tmp_path / "a.duckdb")
    assert reopened.version not in (before, after)
    reopened.close()


def test_a_program_that_is_not_the_app_is_told_as_such(tmp_path: Path) -> None:
    shell = Path(
        shutil.copy(Path(sys.executable).resolve(), tmp_path / "duckdb")
    )
    path = tmp_path / "crane.duckdb"
    program = f"import sys, duckdb; kept = duckdb.connect({str(path)!r}); print('open', flush=True); sys.stdin.read()"
    environment = os.environ | {
        "PYTHONHOME": sys.base_prefix,
        "PYTHONPATH": sysconfig.get_path("purelib"),
    }
    with subprocess.Popen(
        [shell, "-c", program], stdin=PIPE, stdout=PIPE, env=environment
    ) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(
            StoreHeldError, match=r"not this app \(duckdb, process \d+\)"
        ):
            open_store(path)
        holder.stdin.close()


def test_what_queries_needed_is_given_back() -> None:
    """DuckDB's allocator returns free memory by background threads, which are off by default."""
    store = open_store(IN_MEMORY)
    try:
        assert store.cursor().sql(
            "SELECT current_setting('allocator_background_threads')"
        ).fetchall() == [(True,)]
    finally:
        store.close()


def test_a_database_opens_again_in_the_same_process_and_reads_no_other_files(
    tmp_path: Path,
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "other.csv").write_text("a\n1\n")
    first = open_store(tmp_path / "crane.duckdb", tmp_path / "kept")
    try:
        again = open_store(tmp_path / "crane.duckdb", tmp_path / "kept")
        try:
            for store in (first, again):
                with pytest.raises(duckdb.PermissionException):
                    store.cursor().execute(
                        f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')"
                    )
        finally:
            again.close()
    finally:
        first.close()
