"""The worker in its process: kept, bounded in time and memory, replaced when it dies, sealed where that is possible."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crane_core.runtime import library_worker
from crane_core.runtime.library_worker import LibraryWorker
from tests.patience import once

PLENTY_S = 60.0


@pytest.fixture
def worker() -> Iterator[LibraryWorker]:
    started = LibraryWorker(sys.executable)
    yield started
    started.end()


def array(*shape: int, dtype: str = "float64") -> dict[str, Any]:
    return {"facts": {"type": "numpy.ndarray", "shape": shape, "dtype": dtype}}


def order(step: str, name: str, *operands: dict[str, Any]) -> dict[str, Any]:
    return {"step": step, "of": "numpy.ndarray", "name": name, "operands": operands, "keywords": {}}


SUM = order("method", "sum", array(3))
MEAN, MAX = order("method", "mean", array(3)), order("method", "max", array(3))
GAVE = {"gave": {"type": "numpy.float64"}}


def ask(worker: LibraryWorker, what: dict[str, Any], seconds: float = PLENTY_S) -> dict[str, Any] | None:
    return worker.ask(what, ["numpy"], seconds=seconds, start_s=PLENTY_S)


def test_one_process_answers_all_questions(worker: LibraryWorker) -> None:
    assert worker.pid is None
    assert ask(worker, SUM) == GAVE
    first = worker.pid
    assert first
    assert ask(worker, order("method", "reshape", array(6), {"is": 4}))["raised"] == "ValueError"  # type: ignore[index]
    assert worker.pid == first


def test_a_worker_that_is_not_there_yet_is_not_waited_for_and_is_there_later(worker: LibraryWorker) -> None:
    started = time.perf_counter()
    assert worker.ask(SUM, ["numpy"], seconds=PLENTY_S, start_s=0) is None
    assert time.perf_counter() - started < 10
    assert ask(worker, SUM) == GAVE


def test_answers_that_come_at_once_are_taken_one_by_one(worker: LibraryWorker) -> None:
    libraries = ["numpy", "pandas", "scipy"]
    assert ask(worker, SUM) == GAVE
    first = worker.pid
    assert worker.ask(MEAN, libraries, seconds=PLENTY_S, start_s=0) is None
    assert worker._connection is not None
    worker._connection.settimeout(PLENTY_S)
    once(lambda: worker._connection.recv(65_536, socket.MSG_PEEK).count(b"\n") == 2)  # both were loaded meanwhile
    assert ask(worker, MEAN) == GAVE
    assert worker.ask(MEAN, libraries, seconds=PLENTY_S, start_s=0) == GAVE
    assert worker.pid == first


def _innermost(pid: int | None) -> int | None:
    """The process itself: what seals it may be its parent."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return _innermost(int(children[-1])) if children else pid


def kill(worker: LibraryWorker) -> None:
    """What seals the process may be its parent, and dies a moment earlier or later."""
    inner, outer = _innermost(worker.pid), worker.pid
    assert outer is not None
    os.kill(outer, signal.SIGKILL)
    once(lambda: not Path(f"/proc/{inner}").exists())


def test_a_killed_worker_is_replaced(worker: LibraryWorker) -> None:
    assert ask(worker, SUM) == GAVE
    for question in (MEAN, MAX):
        before = worker.pid
        kill(worker)
        assert ask(worker, question) == GAVE
        assert worker.pid != before


LONG = order("operator", "@", array(1_000, 1_000, dtype="int64"), array(1_000, 1_000, dtype="int64"))
ENDLESS = order("operator", "@", array(2_000, 2_000, dtype="int64"), array(2_000, 2_000, dtype="int64"))


def test_an_answer_that_was_not_waited_for_is_there_when_it_is_asked_again(
    worker: LibraryWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_worker, "LONGEST_ANSWER_S", PLENTY_S)
    assert ask(worker, SUM) == GAVE
    before = worker.pid
    waits: list[str] = []
    assert worker.ask(LONG, ["numpy"], seconds=0.0, start_s=0.0, on_wait=lambda: waits.append("hurried")) is None
    assert worker.ask(LONG, ["numpy"], seconds=PLENTY_S, start_s=0.0, on_wait=lambda: waits.append("waited"))
    assert ask(worker, LONG, seconds=0.0) == ask(worker, LONG)
    assert not worker.is_given_up(LONG, ["numpy"])
    assert worker.pid == before
    assert waits == ["waited"]


def test_a_question_that_never_ends_is_given_up_and_the_others_are_answered(
    worker: LibraryWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_worker, "LONGEST_ANSWER_S", 1.0)
    assert ask(worker, SUM) == GAVE
    before = worker.pid
    started = time.perf_counter()
    assert ask(worker, ENDLESS, seconds=0.1) is None
    assert not worker.is_given_up(ENDLESS, ["numpy"])
    assert ask(worker, MEAN) == GAVE
    assert worker.pid != before
    assert worker.is_given_up(ENDLESS, ["numpy"])
    assert ask(worker, ENDLESS) is None
    assert time.perf_counter() - started < 30


def test_a_library_over_which_the_worker_dies_is_given_up_alone(worker: LibraryWorker) -> None:
    waited = worker._has_next

    def dies_over_pandas(*options: Any) -> bool:
        if worker._owed[0].library == "pandas":
            kill(worker)
        return waited(*options)

    worker._has_next = dies_over_pandas  # type: ignore[method-assign]
    assert worker.ask(SUM, ["numpy", "pandas"], seconds=PLENTY_S, start_s=PLENTY_S) is None
    assert worker.is_given_up(SUM, ["numpy", "pandas"])
    assert ask(worker, SUM) == GAVE


def test_libraries_are_loaded_beside_and_questions_get_their_turn(worker: LibraryWorker) -> None:
    loading = threading.Thread(target=worker.load, args=(["pandas", "sklearn"],))
    loading.start()
    assert ask(worker, SUM) == GAVE
    loading.join()
    assert worker.ask(SUM, ["sklearn"], seconds=PLENTY_S, start_s=0.0) == GAVE


def test_a_result_beyond_the_memory_is_unknown_and_the_worker_stays(worker: LibraryWorker) -> None:
    assert ask(worker, SUM) == GAVE
    before = worker.pid
    huge = order("operator", "+", array(1_000_000, 1), array(1, 1_000_000))
    assert ask(worker, huge) == {"unknown": "MemoryError"} or worker.pid is None
    assert ask(worker, SUM) == GAVE
    assert before is not None


def test_a_forked_copy_leaves_the_worker_to_its_owner(worker: LibraryWorker) -> None:
    assert ask(worker, SUM) == GAVE
    mine = worker.pid
    worker._owner = -1  # as a copy of the process would find it
    assert ask(worker, MEAN) == GAVE
    assert worker.pid != mine
    assert mine is not None
    assert Path(f"/proc/{mine}").exists()


def test_without_an_interpreter_there_is_no_answer(tmp_path: Path) -> None:
    missing = LibraryWorker(str(tmp_path / "python"))
    assert ask(missing, SUM) is None
    assert ask(missing, SUM) is None


def test_an_interpreter_that_ends_at_once_is_not_waited_for(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o700)
    started = time.perf_counter()
    assert ask(LibraryWorker(str(broken)), SUM) is None
    assert time.perf_counter() - started < PLENTY_S / 2


def test_its_room_is_gone_with_it(worker: LibraryWorker) -> None:
    assert ask(worker, SUM) == GAVE
    assert worker._room is not None
    room = Path(worker._room.name)
    assert room.is_dir()
    worker.end()
    assert not room.exists()


def test_a_worker_whose_memory_is_nearly_full_ends_itself_and_another_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    first = LibraryWorker(sys.executable)
    try:
        assert ask(first, SUM) == GAVE
        used = int(Path(f"/proc/{_innermost(first.pid)}/statm").read_text().split()[5]) * resource.getpagesize()
    finally:
        first.end()
    monkeypatch.setattr(library_worker, "_DATA_BYTES", int(used * 1.2))
    small = LibraryWorker(sys.executable)
    try:
        for question in (SUM, MEAN, MAX):
            assert ask(small, question) == GAVE
    finally:
        small.end()
