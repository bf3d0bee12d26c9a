"""Copies of an open database: whole or not there at all, also where the disk is full or the process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from crane_core.errors import StoreError
from crane_core.storage import snapshot
from crane_core.storage.snapshot import (
    Replica,
    confirm,
    newest,
    publish,
    remove_unfinished,
)
from crane_core.storage.store import Cursor, Store, StoreHeldError, open_store
from tests.patience import PATIENCE_S

COUNT = "SELECT count(*) FROM landed"


def put(cursor: Cursor) -> None:
    cursor.execute("INSERT INTO landed VALUES (1)")


def counted(store: Store) -> int:
    [(n_rows,)] = store.cursor().execute(COUNT).fetchall()
    return int(n_rows)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "crane.duckdb")
    opened.cursor().execute("CREATE TABLE landed (number INTEGER)")
    opened.write(put)
    yield opened
    opened.close()


def test_a_reader_follows_to_the_newest_copy_without_a_restart(
    store: Store, tmp_path: Path
) -> None:
    first = publish(store, tmp_path / "replicas", at=1_000.0)
    replica = Replica(tmp_path / "replicas")
    version = replica.version
    assert (counted(replica), replica.as_of.timestamp()) == (1, 1_000.0)
    replica.follow()
    assert replica.version == version
    reading = replica.cursor().execute(COUNT)
    store.write(put)
    publish(store, tmp_path / "replicas", at=2_000.0)
    assert counted(replica) == 1
    replica.follow()
    assert replica.version != version
    assert (counted(replica), replica.as_of.timestamp()) == (2, 2_000.0)
    assert reading.fetchall() == [(1,)]
    confirm(replica.path, 3_000.0)
    assert replica.as_of.timestamp() == 3_000.0
    assert first < replica.path


def test_a_copy_is_made_while_others_read_and_has_what_is_not_merged_yet(
    store: Store, tmp_path: Path
) -> None:
    reading = store.cursor()
    reading.execute("BEGIN TRANSACTION")
    reading.execute(COUNT).fetchall()
    store.write(put)
    assert store.path.with_name("crane.duckdb.wal").stat().st_size
    publish(store, tmp_path / "replicas", at=time.time())
    assert counted(Replica(tmp_path / "replicas")) == 2
    assert [file.suffix for file in (tmp_path / "replicas").iterdir()] == [
        ".duckdb"
    ]


def test_the_lock_on_the_database_outlives_a_copy(
    store: Store, tmp_path: Path
) -> None:
    publish(store, tmp_path / "replicas", at=time.time())
    other = "import sys, pathlib, crane_core.storage.store as s; s.open_store(pathlib.Path(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", other, str(store.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert StoreHeldError.__name__ in done.stderr


def test_only_the_newest_copies_stay_also_where_the_clock_goes_back(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = [
        publish(store, tmp_path / "replicas", at=time.time()) for _ in range(4)
    ]
    monkeypatch.setattr(snapshot.time, "time_ns", lambda: 0)
    copies.append(publish(store, tmp_path / "replicas", at=time.time()))
    assert copies == sorted(copies)
    assert sorted((tmp_path / "replicas").iterdir()) == copies[-2:]


def test_nothing_is_written_through_a_replica(
    store: Store, tmp_path: Path
) -> None:
    publish(store, tmp_path / "replicas", at=time.time())
    replica = Replica(tmp_path / "replicas")
    with pytest.raises(StoreError, match="read-only copy"):
        replica.write(put)
    with pytest.raises(Exception, match="read-only"):
        put(replica.cursor())


def test_a_full_disk_leaves_the_copy_of_before_and_is_told(
    store: Store, tmp_path: Path
) -> None:
    import resource

    copy = publish(store, tmp_path / "replicas", at=time.time())
    store.write(put)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, limits[1]))
    try:
        with pytest.raises(StoreError, match="File too large") as refused:
            publish(store, tmp_path / "replicas", at=time.time())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert "Free some space" in refused.value.remedy
    assert list((tmp_path / "replicas").iterdir()) == [copy]
    assert counted(Replica(tmp_path / "replicas")) == 1


def test_a_folder_that_cannot_be_made_is_told(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "replicas").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be written"):
        publish(store, tmp_path / "replicas", at=time.time())


def test_without_a_copy_a_replica_says_what_to_start(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no copy of the database") as refused:
        Replica(tmp_path / "replicas")
    assert "app --publish" in refused.value.remedy


@pytest.mark.parametrize(
    "delays_ms",
    [
        pytest.param((0, 24), id="two moments"),
        pytest.param(
            range(0, 240, 12), marks=pytest.mark.slow, id="twenty moments"
        ),
    ],
)
def test_a_writer_that_is_killed_while_it_copies_leaves_no_half_copy(
    tmp_path: Path, delays_ms: Sequence[int]
) -> None:
    folder = tmp_path / "replicas"
    for delay_ms in (*delays_ms, None):
        writer = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _WRITER,
                str(tmp_path / "crane.duckdb"),
                str(folder),
            ],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert writer.stdout
        assert writer.stdout.readline() == b"open\n"
        if delay_ms is None:
            assert writer.stdout.readline() == b"published\n"
        else:
            time.sleep(
                delay_ms / 1e3
            )  # so that the kill meets another moment of the copy each time
        os.killpg(writer.pid, signal.SIGKILL)
        writer.wait(PATIENCE_S)
        writer.stdout.close()
        if newest(folder):
            replica = Replica(folder)
            assert counted(replica) == 200_000
            replica.close()
    remove_unfinished(folder)
    assert all(file.suffix == ".duckdb" for file in folder.iterdir())
    assert newest(folder)


_WRITER = """
import sys, time
from pathlib import Path
from crane_core.storage.snapshot import publish
from crane_core.storage.store import open_store
store = open_store(Path(sys.argv[1]))
store.cursor().execute("CREATE TABLE IF NOT EXISTS landed AS SELECT hash(range) AS number FROM range(200000)")
print("open", flush=True)
while True:
    publish(store, Path(sys.argv[2]), at=time.time())
    print("published", flush=True)
"""
