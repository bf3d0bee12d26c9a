"""Runs that this server started: each is the command `detect` in a process of its own, watched and stopped from here.

Knows processes and their last word. A run goes on when nobody looks, and a stopped one goes on from where it was.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from crane_core.errors import DetectorError
from crane_core.pipeline.places import CHECKOUT
from crane_core.ui import data

MAX_TOLD = 20_000
AT_ONCE = 4
"""Runs that this server has at work at the same time, whoever starts them."""
_JOB = re.compile(r"^job ([\w.-]+)", re.MULTILINE)


@dataclass(slots=True)
class Started:
    """One process. `arguments` are those of `detect`; `told` is the file that holds what it says."""

    arguments: list[str]
    process: subprocess.Popen[bytes]
    told: Path
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    @property
    def words(self) -> str:
        """What it said, the last of it."""
        return self.told.read_bytes()[-MAX_TOLD:].decode("utf-8", "replace").strip()

    @property
    def last_words(self) -> str:
        """Its last line."""
        return next(reversed(self.words.splitlines()), "")

    @property
    def job(self) -> str | None:
        """The name of the job it works on, once it has said it."""
        return job_in(self.words)

    @property
    def state(self) -> str:
        """In a word or two."""
        if self.is_running:
            return "at work"
        return "done" if self.process.returncode == 0 else "ended early"

    def stop(self) -> None:
        """As Ctrl+C does: what is under way is finished and saved."""
        if self.is_running:
            self.process.send_signal(signal.SIGINT)


def job_in(words: str) -> str | None:
    """The job that `detect` names in what it says."""
    found = _JOB.search(words)
    return found[1] if found else None


@st.cache_resource(show_spinner=False)
def started_runs() -> list[Started]:
    """Those that this server started, the newest last."""
    return []


def start(arguments: list[str]) -> Started:
    """Start `detect` with these arguments on the data folder of this server.

    Raises DetectorError where too many are at work.
    """
    if sum(run.is_running for run in started_runs()) >= AT_ONCE:
        raise DetectorError(
            f"{AT_ONCE} runs that this page started are at work.", remedy="Let one finish, or stop one."
        )
    with tempfile.NamedTemporaryFile(prefix="crane-detect-", suffix=".log", delete=False) as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "crane_core", "--data", str(data.folder().path), "detect", *arguments],
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    run = Started(arguments, process, Path(file.name))
    started_runs().append(run)
    return run
