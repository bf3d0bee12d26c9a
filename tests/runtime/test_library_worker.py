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
from crane_core.runtime.library_worker import LibraryWorker, Owed
from tests.patience import PATIENCE_S, once
from tests.runtime.surrogate_orders import array


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No question and no library is given up because the machine is busy."""
    for name in ("LONGEST_ANSWER_S", "LONGEST_LOADING_S", "_LINE_S"):
        monkeypatch.setattr(library_worker, name, PATIENCE_S)


@pytest.fixture
def worker() -> Iterator[LibraryWorker]:
    started = LibraryWorker(sys.executable)
    yield started
    started.end()


def order(step: str, name: str, *operands: dict[str, Any]) -> dict[str, Any]:
    return {
        "step": step,
        "of": "numpy.ndarray",
        "name": name,
        "operands": operands,
        "keywords": {},
    }


SUM = order("method", "sum", array(3))
MEAN, MAX = order("method", "mean", array(3)), order("method", "max", array(3))
GAVE = {"gave": {"type": "numpy.float64"}}


def ask(
    worker: LibraryWorker, what: dict[str, Any], seconds: float = PATIENCE_S
) -> dict[str, Any] | None:
    return worker.ask(what, ["numpy"], seconds=seconds, start_s=PATIENCE_S)


def test_one_process_answers_all_questions(worker: LibraryWorker) -> None:
    assert worker.pid is None
    assert ask(worker, SUM) == GAVE
    first = worker.pid
    assert first
    assert (
        ask(worker, order("method", "reshape", array(6), {"is": 4}))["raised"]
        == "ValueError"
    )  # type: ignore[index]
    assert worker.pid == first


def test_a_worker_that_is_not_there_yet_is_not_waited_for_and_is_there_later(
    worker: LibraryWorker,
) -> None:
    assert worker.ask(SUM, ["numpy"], seconds=PATIENCE_S, start_s=0) is None
    assert ask(worker, SUM) == GAVE


def n_answers(worker: LibraryWorker) -> int:
    """Lines that it has said and nobody has taken."""
    assert worker._connection is not None
    worker._connection.setblocking(False)
    try:
        return worker._connection.recv(65_536, socket.MSG_PEEK).count(b"\n")
    except BlockingIOError:
        return 0


def test_answers_that_come_at_once_are_taken_one_by_one(
    worker: LibraryWorker,
) -> None:
    libraries = ["matplotlib", "numpy", "scipy"]
    assert ask(worker, SUM) == GAVE
    first = worker.pid
    assert worker.ask(MEAN, libraries, seconds=PATIENCE_S, start_s=0) is None
    once(lambda: n_answers(worker) == 2)  # both were loaded meanwhile
    assert ask(worker, MEAN) == GAVE
    assert worker.ask(MEAN, libraries, seconds=PATIENCE_S, start_s=0) == GAVE
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


def halt(worker: LibraryWorker) -> None:
    """From now on it does not answer, however long it is waited for."""
    inner = _innermost(worker.pid)
    assert inner is not None
    os.kill(inner, signal.SIGSTOP)


def let_on(worker: LibraryWorker) -> None:
    inner = _innermost(worker.pid)
    assert inner is not None
    os.kill(inner, signal.SIGCONT)


def test_an_answer_that_was_not_waited_for_is_there_when_it_is_asked_again(
    worker: LibraryWorker,
) -> None:
    assert ask(worker, SUM) == GAVE
    before = worker.pid
    waits: list[str] = []

    def waited() -> None:
        waits.append("waited")
        let_on(worker)

    halt(worker)
    assert (
        worker.ask(
            MEAN,
            ["numpy"],
            seconds=0.0,
            start_s=0.0,
            on_wait=lambda: waits.append("hurried"),
        )
        is None
    )
    assert (
        worker.ask(
            MEAN, ["numpy"], seconds=PATIENCE_S, start_s=0.0, on_wait=waited
        )
        == GAVE
    )
    halt(worker)
    assert ask(worker, MEAN, seconds=0.0) == GAVE
    assert not worker.is_given_up(MEAN, ["numpy"])
    assert worker.pid == before
    assert waits == ["waited"]


def test_a_question_that_never_ends_is_given_up_and_the_others_are_answered(
    worker: LibraryWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = Owed(library_worker._key(MAX, ("numpy",)))
    monkeypatch.setattr(
        Owed,
        "longest_s",
        property(lambda owed: 1.0 if owed == endless else PATIENCE_S),
    )
    assert ask(worker, SUM) == GAVE
    before = worker.pid
    halt(worker)
    assert ask(worker, MAX, seconds=0.1) is None
    assert not worker.is_given_up(MAX, ["numpy"])
    assert ask(worker, MEAN) == GAVE
    assert worker.pid != before
    assert worker.is_given_up(MAX, ["numpy"])
    assert ask(worker, MAX) is None


@pytest.mark.slow
def test_a_library_over_which_the_worker_dies_is_given_up_alone(
    worker: LibraryWorker,
) -> None:
    waited = worker._has_next

    def dies_over_pandas(*options: Any) -> bool:
        if worker._owed[0].library == "pandas":
            kill(worker)
        return waited(*options)

    worker._has_next = dies_over_pandas  # type: ignore[method-assign]
    assert (
        worker.ask(
            SUM, ["numpy", "pandas"], seconds=PATIENCE_S, start_s=PATIENCE_S
        )
        is None
    )
    assert worker.is_given_up(SUM, ["numpy", "pandas"])
    assert ask(worker, SUM) == GAVE


def test_libraries_are_loaded_beside_and_questions_get_their_turn(
    worker: LibraryWorker,
) -> None:
    loading = threading.Thread(
        target=worker.load, args=(["matplotlib", "scipy"],)
    )
    loading.start()
    assert ask(worker, SUM) == GAVE
    loading.join()
    assert worker.ask(SUM, ["scipy"], seconds=PATIENCE_S, start_s=0.0) == GAVE


def test_a_result_beyond_the_memory_is_unknown_and_the_worker_stays(
    worker: LibraryWorker,
) -> None:
    assert ask(worker, SUM) == GAVE
    before = worker.pid
    huge = order("operator", "+", array(1_000_000, 1), array(1, 1_000_000))
    assert ask(worker, huge) == {"unknown": "MemoryError"} or worker.pid is None
    assert ask(worker, SUM) == GAVE
    assert before is not None


def test_a_forked_copy_leaves_the_worker_to_its_owner(
    worker: LibraryWorker,
) -> None:
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


def test_an_interpreter_that_ends_at_once_is_not_waited_for(
    tmp_path: Path,
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o700)
    started = time.perf_counter()
    assert ask(LibraryWorker(str(broken)), SUM) is None
    assert time.perf_counter() - started < PATIENCE_S / 2


def test_its_room_is_gone_with_it(worker: LibraryWorker) -> None:
    assert ask(worker, SUM) == GAVE
    assert worker._room is not None
    room = Path(worker._room.name)
    assert room.is_dir()
    worker.end()
    assert not room.exists()


@pytest.mark.slow
def test_a_worker_whose_memory_is_nearly_full_ends_itself_and_another_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = LibraryWorker(sys.executable)
    try:
        assert ask(first, SUM) == GAVE
        used = (
            int(
                Path(f"/proc/{_innermost(first.pid)}/statm")
                .read_text()
                .split()[5]
            )
            * resource.getpagesize()
        )
    finally:
        first.end()
    monkeypatch.setattr(library_worker, "_DATA_BYTES", int(used * 1.2))
    small = LibraryWorker(sys.executable)
    try:
        for question in (SUM, MEAN, MAX):
            assert ask(small, question) == GAVE
    finally:
        small.end()
