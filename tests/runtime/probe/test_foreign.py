"""Code of the notebook that is run for a fact: bounded, silent, and as if it had never been."""

from __future__ import annotations

import ctypes
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from crane_core.runtime.kernel_side.crane_probe.kernel_copy import (
    foreign,
    forked,
)
from crane_core.runtime.kernel_side.crane_probe.limits import LookLimits
from tests.patience import PATIENCE_S

from .looks import needs_copy

Tell = Callable[[str, Any], None]
FactsOf = Callable[..., dict[str, Any]]
WAYS = [
    pytest.param(forked.facts_of, marks=needs_copy, id="forked"),
    pytest.param(foreign.facts_in_place, id="held"),
]
AMPLE_S = PATIENCE_S


class FakeLook(NamedTuple):
    seconds_left: float
    limits: LookLimits = LookLimits()


@pytest.mark.parametrize("facts_of", WAYS)
def test_what_is_told_arrives(facts_of: FactsOf) -> None:
    def work(tell: Tell) -> None:
        tell("length", 3)
        tell("shapes", {"input": [[2, 3], []]})

    assert facts_of(work, AMPLE_S) == {
        "length": 3,
        "shapes": {"input": [[2, 3], []]},
    }


@pytest.mark.parametrize("facts_of", WAYS)
def test_random_states_stay(facts_of: FactsOf) -> None:
    def work(tell: Tell) -> None:
        random.random()
        np.random.random(3)
        tell("done it", True)

    before = random.getstate(), np.random.get_state(legacy=False)
    facts = facts_of(work, AMPLE_S)
    after = random.getstate(), np.random.get_state(legacy=False)
    assert facts == {"done it": True}
    np.testing.assert_equal(after, before)


@pytest.mark.parametrize("facts_of", WAYS)
def test_what_takes_too_long_is_ended_and_the_facts_before_are_kept(
    facts_of: FactsOf,
) -> None:
    def work(tell: Tell) -> None:
        tell("length", 3)
        try:
            while True:
                time.sleep(60)
        except Exception:  # noqa: BLE001 - as a notebook may have it
            tell("caught", True)

    for seconds in (0.2, 2.0, 20.0, 200.0):
        facts = facts_of(work, seconds)
        if "length" in facts:  # on a busy machine the work begins late
            break
    assert facts == {
        "length": 3,
        "unfinished": f"took more than {seconds:.1g} s",
    }


@pytest.mark.parametrize("facts_of", WAYS)
def test_what_is_printed_is_dropped(
    facts_of: FactsOf, capfd: pytest.CaptureFixture[str]
) -> None:
    def work(tell: Tell) -> None:
        sys.stdout.write("out")
        sys.stderr.write("err")

    facts_of(work, AMPLE_S)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("facts_of", WAYS)
def test_leaving_is_told_and_not_done(facts_of: FactsOf) -> None:
    def work(tell: Tell) -> None:
        tell("length", 3)
        raise SystemExit(7)

    facts = facts_of(work, AMPLE_S)
    assert facts["length"] == 3
    assert facts["unfinished"]


@needs_copy
def test_a_copy_that_dies_leaves_its_facts() -> None:
    def work(tell: Tell) -> None:
        tell("length", 3)
        os._exit(3)

    assert forked.facts_of(work, AMPLE_S) == {
        "length": 3,
        "unfinished": "it ended the process",
    }


@needs_copy
def test_nothing_that_the_copy_changes_reaches_us(tmp_path: Path) -> None:
    counters = {"calls": 0}
    lines = tmp_path / "lines.txt"
    lines.write_text("one\ntwo\nthree\n")

    def work(tell: Tell) -> None:
        counters["calls"] += 1
        tell("read", file.readline())

    with lines.open(buffering=1) as file:
        first = os.read(file.fileno(), 4)
        facts = forked.facts_of(work, AMPLE_S)
        assert (first, facts) == (b"one\n", {"read": "two\n"})
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == 4
    assert counters == {"calls": 0}


REFUSED: dict[str, Callable[[Path], Any]] = {
    "write": lambda folder: (folder / "there.txt").write_text("other"),
    "append": lambda folder: (folder / "there.txt").open("a"),
    "new file": lambda folder: (folder / "new.txt").touch(),
    "remove": lambda folder: (folder / "there.txt").unlink(),
    "rename": lambda folder: (folder / "there.txt").rename(
        folder / "moved.txt"
    ),
    "new folder": lambda folder: (folder / "new").mkdir(),
    "program": lambda folder: subprocess.run(
        [sys.executable, "--version"], check=False
    ),
    "shell": lambda folder: os.system("true"),
    "connection": lambda folder: socket.create_connection(
        ("127.0.0.1", 9), timeout=1
    ),
}


@needs_copy
@pytest.mark.parametrize("name", REFUSED)
def test_what_would_be_seen_outside_is_refused(
    name: str, tmp_path: Path
) -> None:
    there = tmp_path / "there.txt"
    there.write_text("as it was")

    def work(tell: Tell) -> None:
        try:
            REFUSED[name](tmp_path)
        except PermissionError as refused:
            tell("refused", str(refused).endswith("is refused while looking"))

    assert forked.facts_of(work, AMPLE_S) == {"refused": True}
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("there.txt", "as it was")
    ]


@needs_copy
def test_a_file_open_for_writing_stays_as_it_is(tmp_path: Path) -> None:
    def work(tell: Tell) -> None:
        try:
            os.write(log.fileno(), b"lost")
        except OSError:
            tell("refused", True)

    with (tmp_path / "log.txt").open("wb", buffering=0) as log:
        log.write(b"kept")
        assert forked.facts_of(work, AMPLE_S) == {"refused": True}
    assert (tmp_path / "log.txt").read_bytes() == b"kept"


@needs_copy
def test_streams_to_others_are_cut() -> None:
    reader, writer = os.pipe()

    def work(tell: Tell) -> None:
        os.write(writer, b"lost")
        tell("read", os.read(reader, 10).decode())

    try:
        os.write(writer, b"kept")
        assert forked.facts_of(work, AMPLE_S) == {"read": ""}
        assert os.read(reader, 10) == b"kept"
    finally:
        os.close(reader)
        os.close(writer)


@needs_copy
@pytest.mark.parametrize(
    "attack",
    [
        lambda own: ctypes.CDLL(None).fork(),
        lambda own: os.setpriority(os.PRIO_PROCESS, own, 19),
        lambda own: os.sched_setaffinity(own, {max(os.sched_getaffinity(0))}),
        lambda own: resource.prlimit(own, resource.RLIMIT_CORE, (0, 0)),
        lambda own: ctypes.CDLL(None).open(
            b"below-python", os.O_WRONLY | os.O_CREAT, 0o600
        ),
    ],
)
def test_a_look_that_would_change_something_below_python_is_ended(
    attack: Callable[[int], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    own = os.getpid()

    def state() -> list[object]:
        limits = resource.getrlimit(resource.RLIMIT_CORE)
        return [
            os.getpriority(os.PRIO_PROCESS, 0),
            os.sched_getaffinity(0),
            limits,
            list(tmp_path.iterdir()),
        ]

    before = state()
    # That no process is left is shown after each test (see conftest.py).
    assert forked.facts_of(lambda tell: tell("done", attack(own)), AMPLE_S) == {
        "unfinished": "it ended the process"
    }
    assert state() == before


@needs_copy
def test_the_copy_goes_on_with_the_random_numbers_of_the_kernel() -> None:
    look = FakeLook(AMPLE_S)
    state = random.getstate()
    told = [
        foreign.facts_of(lambda tell: tell("drawn", random.random()), look)[
            "drawn"
        ]
        for _ in range(2)
    ]
    assert random.getstate() == state
    assert told == [random.random()] * 2
    random.setstate(state)


@pytest.mark.parametrize(
    ("look", "why"),
    [
        (FakeLook(0.0), "no time is left for it"),
        (
            FakeLook(AMPLE_S, LookLimits(foreign=False)),
            "needs code of the notebook",
        ),
    ],
)
def test_where_it_may_not_be_run_it_is_not_begun(
    look: FakeLook, why: str
) -> None:
    ran: list[str] = []
    told = foreign.facts_of(lambda tell: ran.append("ran"), look)
    assert (told, ran) == ({"unfinished": why}, [])


def test_an_alarm_of_the_notebook_rings_all_the_same() -> None:
    rung: list[int] = []
    before = signal.signal(
        signal.SIGALRM, lambda number, frame: rung.append(number)
    )
    try:
        signal.setitimer(signal.ITIMER_REAL, 300.0)
        foreign.facts_in_place(lambda tell: tell("length", 1), AMPLE_S)
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.raise_signal(signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert 0 < left <= 300
    assert rung == [signal.SIGALRM]


def test_where_it_cannot_be_bounded_it_is_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forked, "is_possible", lambda: False)
    told: list[dict[str, Any]] = []
    ran: list[str] = []

    def ask() -> None:
        told.append(
            foreign.facts_of(lambda tell: ran.append("ran"), FakeLook(AMPLE_S))
        )

    aside = threading.Thread(target=ask)
    aside.start()
    aside.join()
    assert told == [
        {
            "unfinished": "needs code of the notebook, which this system cannot bound"
        }
    ]
    assert ran == []
