"""What shells in this process are kept from, and the table of the corpus at the end of a run of tests."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from tests.live.shell import Shell


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tables = [
        told
        for report in terminalreporter.getreports("passed")
        + terminalreporter.getreports("failed")
        for name, told in report.user_properties
        if name == "corpus"
    ]
    for told in tables:
        terminalreporter.section("cells asked about and run in open kernels")
        terminalreporter.write_line(told)


@pytest.fixture(autouse=True)
def alone_in_the_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep from shells of this process what the test run and earlier tests left in it: that is not of a notebook.

    A look tells of every thread, handler and signal that may act beside a cell. Here these are servers of other tests,
    threads of the test runner's plugins, and handlers that nobody has collected yet.
    """
    known: dict[int, threading.Thread] = threading._active  # type: ignore[attr-defined]
    earlier = {
        ident: known.get(ident)
        for ident in sys._current_frames()
        if ident != threading.get_ident()
    }
    frames, running = sys._current_frames, threading.enumerate

    def is_earlier(ident: int | None) -> bool:
        # The number of a thread that has ended is given to the next one.
        return ident in earlier and earlier[ident] is known.get(ident)

    def later_frames() -> dict[int, FrameType]:
        return {
            ident: frame
            for ident, frame in frames().items()
            if not is_earlier(ident)
        }

    monkeypatch.setattr(sys, "_current_frames", later_frames)
    monkeypatch.setattr(
        threading,
        "enumerate",
        lambda: [one for one in running() if not is_earlier(one.ident)],
    )
    monkeypatch.setattr(logging.Logger.manager, "loggerDict", {})
    left = {
        number: signal.getsignal(number)
        for number in (signal.SIGUSR1, signal.SIGUSR2)
    }
    for number in left:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in left.items():
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


@pytest.fixture(autouse=True, scope="module")
def main_stays() -> Iterator[None]:
    """A shell puts its module in the place of the program's, which processes that other tests start are made from."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="module")
def lasting() -> Iterator[Shell]:
    """A shell with the extension loaded, and one process beside it for all tests that leave that process alone."""
    made = Shell()
    made.shell.run_line_magic("load_ext", "crane_core")
    yield made
    made.end()
