"""Runs that this server started: each is the command `detect` in a process of its own, watched and stopped from here.

Knows processes and their last word. A run goes on when nobody looks, and a stopped one goes on from where it was.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from crane_core.pipeline.places import CHECKOUT
from crane_core.ui import data

MAX_TOLD = 20_000


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
    def last_words(self) -> str:
        """The last line of progress while it runs; everything at the end."""
        text = self.told.read_bytes()[-MAX_TOLD:].decode("utf-8", "replace").strip()
        return text.splitlines()[-1] if self.is_running and text else text

    def stop(self) -> None:
        """As Ctrl+C does: what is under way is finished and saved."""
        if self.is_running:
            self.process.send_signal(signal.SIGINT)


@st.cache_resource(show_spinner=False)
def started_runs() -> list[Started]:
    """Those that this server started, the newest last."""
    return []


def start(arguments: list[str]) -> Started:
    """Start `detect` with these arguments on the data folder of this server."""
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
