"""Many answers, few writes: all that wait go together, nothing is told before it is on the disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from threading import Barrier, Event, Thread

import pytest

from crane_core import ledger
from crane_core.domain import Record, Run, Setting
from crane_core.errors import LedgerError
from crane_core.pipeline.jobs.work import USUALLY_WAITING, GroupCommit

N_THREADS = 8
N_EACH = 100


def run(thread: int, index: int) -> Run:
    return Run(
        "mine",
        f"case_{thread}",
        "heron",
        Setting.CODE,
        "job",
        index,
        crashes=True,
    )


def kept(path: Path) -> list[Record]:
    return ledger.tail(path).records if path.exists() else []


def test_what_is_told_as_saved_is_on_the_disk_already(tmp_path: Path) -> None:
    path = tmp_path / "job.jsonl"
    told: list[Record] = []

    def saved(records: Sequence[Record]) -> None:
        told.extend(records)
        assert kept(path)[: len(told)] == told

    with GroupCommit(path, saved, Event()) as commit:
        for index in range(1, N_EACH):
            commit.put(run(0, index))
    assert told == kept(path) == [run(0, index) for index in range(1, N_EACH)]


def test_records_of_many_threads_all_arrive_each_thread_in_its_order(
    tmp_path: Path,
) -> None:
    path = tmp_path / "job.jsonl"
    together = Barrier(N_THREADS)

    def put(commit: GroupCommit, thread: int) -> None:
        together.wait()
        for index in range(1, N_EACH + 1):
            commit.put(run(thread, index))

    with GroupCommit(path, lambda _: None, Event()) as commit:
        threads = [
            Thread(target=put, args=(commit, number))
            for number in range(N_THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = kept(path)
    assert len(found) == N_THREADS * N_EACH
    for thread_number in range(N_THREADS):
        mine = [
            record
            for record in found
            if isinstance(record, Run)
            and record.instance_id == f"case_{thread_number}"
        ]
        assert mine == [
            run(thread_number, index) for index in range(1, N_EACH + 1)
        ]


def test_what_waits_while_the_disk_is_busy_goes_in_one_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is made busy by holding its first fsync until the rest has been handed over."""
    handed_over, fsync, n_syncs = Event(), os.fsync, [0]

    def slow(handle: int) -> None:
        n_syncs[0] += 1
        handed_over.wait()
        fsync(handle)

    monkeypatch.setattr(os, "fsync", slow)
    batches: list[int] = []
    with GroupCommit(
        tmp_path / "job.jsonl",
        lambda records: batches.append(len(records)),
        Event(),
    ) as commit:
        for index in range(1, USUALLY_WAITING + 1):
            commit.put(run(0, index))
        handed_over.set()
    assert sum(batches) == USUALLY_WAITING
    assert len(batches) <= 2
    assert (
        n_syncs[0] == len(batches) + 1
    )  # the folder's entry of the new file, too


def put_many(commit: GroupCommit) -> None:
    """More than may wait for the disk."""
    with commit:
        for index in range(1, 2 * USUALLY_WAITING):
            commit.put(run(0, index))


def test_a_disk_that_refuses_stops_the_work_and_is_told_at_the_end(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs" / "job.jsonl"
    path.parent.write_text("a file where a folder is needed")
    stop = Event()
    with pytest.raises(LedgerError, match="cannot be written"):
        put_many(GroupCommit(path, pytest.fail, stop))
    assert stop.is_set()


def test_a_listener_that_raises_stops_the_work_too(tmp_path: Path) -> None:
    stop = Event()

    def refuse(_: Sequence[Record]) -> None:
        raise BrokenPipeError("nobody reads progress any more")

    with pytest.raises(BrokenPipeError):
        put_many(GroupCommit(tmp_path / "job.jsonl", refuse, stop))
    assert stop.is_set()
    assert kept(tmp_path / "job.jsonl")
