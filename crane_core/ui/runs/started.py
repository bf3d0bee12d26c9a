"""Runs that this server started: each is the command `detect` in a separate process, watched and stopped from here.

Knows processes, their last word, and the progress that it tells. A run goes on when no page is open, and a stopped one
resumes where it was.
"""

import re
import signal
import subprocess
import time
from collections.abc import Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

import streamlit as st

from crane_core import helper_process
from crane_core.errors import DetectorError
from crane_core.pipeline.audit import Actor, environment_of
from crane_core.pipeline.places import CHECKOUT
from crane_core.pipeline.results.measures import Credit, VoteRule, rate_table
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data
from crane_core.ui.words import count, interval, literal, percent

MAX_TOLD = 20_000
LOGS = "logs"
"""The folder, within that of what changes, where each run leaves what it says."""

KEPT_LOGS = 20
"""Logs that stay, the newest, besides those of running ones."""

SILENCE_S = 10.0
"""After so long a page says that a running one is silent: an endpoint that fails is asked again after pauses."""

AT_ONCE = 4
"""Runs that this server works on at the same time, for all visitors together."""

STOPPED = (130, -signal.SIGINT)
"""How a process ends that had to stop."""
_JOB = re.compile(r"^job ([\w.-]+)", re.MULTILINE)


@dataclass(slots=True)
class Started:
    """One process. `arguments` are those of `detect`; `told` is the file that holds what it says."""

    arguments: list[str]
    process: subprocess.Popen[bytes]
    told: Path
    at: str = field(
        default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds")
    )

    @property
    def is_running(self) -> bool:
        """Whether the process that was started here still runs."""
        return self.process.poll() is None

    @property
    def words(self) -> str:
        """What it said, the last of it; nothing once the log is gone."""
        if not self.told.exists():
            return ""
        return (
            self.told.read_bytes()[-MAX_TOLD:]
            .decode("utf-8", "replace")
            .strip()
        )

    @property
    def last_line(self) -> str:
        """The last line of what it said."""
        return next(reversed(self.words.splitlines()), "")

    @property
    def silent_s(self) -> float:
        """For how long a running one has said nothing; 0 for one that ended."""
        is_quiet = self.is_running and self.told.exists()
        return time.time() - self.told.stat().st_mtime if is_quiet else 0.0

    @property
    def job(self) -> str | None:
        """The name of the job it works on, of several the last, once it has said it."""
        return job_in(self.words)

    @property
    def state(self) -> str:
        """In a word."""
        if self.is_running:
            return "Running"
        if self.process.returncode in STOPPED:
            return "Cancelled"
        return "Finished" if self.process.returncode == 0 else "Failed"

    def stop(self) -> None:
        """As Ctrl+C does: what is under way is finished and saved."""
        if self.is_running:
            # The command handles Ctrl+C: it saves what came, and the same command resumes.
            self.process.send_signal(signal.SIGINT)


def job_in(words: str) -> str | None:
    """The last job that `detect` names in what it says."""
    found = _JOB.findall(words)
    return found[-1] if found else None


@st.cache_resource(show_spinner=False)
def started_runs() -> list[Started]:
    """Those that this server started, the newest last."""
    return []


def start(arguments: list[str], actor: Actor | None = None) -> Started:
    """Start `detect` with these arguments on the data folder of this server; the audit log names the actor.

    Raises DetectorError if too many are running.
    """
    if sum(run.is_running for run in started_runs()) >= AT_ONCE:
        raise DetectorError(
            f"{AT_ONCE} runs are running already, the maximum.",
            remedy="Wait for one to finish, or stop one.",
        )
    folder = data.folder().path
    # A file instead of a pipe: a pipe that no page reads would stop the run once it is full.
    with _new_log(folder / LOGS) as file:
        process = helper_process.start(
            helper_process.own_module(
                "crane_core", "--data", str(folder), "detect", *arguments
            ),
            folder=CHECKOUT,
            # The command asks models with the keys of this server.
            env=helper_process.environment_with_keys()
            | (environment_of(actor) if actor else {}),
            stdout=file,
            stderr=subprocess.STDOUT,
            # Its own session, so that Ctrl+C at the server's terminal does not end the runs.
            own_session=True,
        )
    run = Started(arguments, process, Path(file.name))
    started_runs().append(run)
    forget_logs(
        folder / LOGS, {each.told for each in started_runs() if each.is_running}
    )
    return run


def _new_log(folder: Path) -> IO[bytes]:
    """A file whose name begins with the time, so that names sort by age."""
    folder.mkdir(exist_ok=True)
    at = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    return (folder / f"detect-{at}.log").open("xb")


def forget_logs(folder: Path, at_work: Set[Path]) -> None:
    """Remove all but the newest logs and those of running ones."""
    for path in sorted(folder.glob("detect-*.log"))[:-KEPT_LOGS]:
        if path not in at_work:
            path.unlink(missing_ok=True)


_FAR = re.compile(
    r"^(?:job \S+: )?([\d,]+) of ([\d,]+) (?:questions )?answered(?: so far)?(?:, (.*))?$",
    re.MULTILINE,
)
STARTING = "Starting: reading the notebooks and their states"


class Far(NamedTuple):
    """`n_done` of `n_all` questions are answered; `more` is the rest of the line: rate, cost, time left."""

    n_done: int
    n_all: int
    more: str

    @property
    def share(self) -> float:
        """How much is done, 0 to 1; 1 where there was nothing to do."""
        return min(1.0, self.n_done / self.n_all) if self.n_all else 1.0

    @property
    def words(self) -> str:
        """How many answers there are, and what else the line said."""
        return ", ".join(
            part
            for part in (
                f"{count(self.n_done)} of {count(self.n_all)} answers",
                self.more,
            )
            if part
        )


def far_in(words: str) -> Far | None:
    """The last progress line of a run; None before the first."""
    found = _FAR.findall(words)
    if not found:
        return None
    n_done, n_all, more = found[-1]
    return Far(int(n_done.replace(",", "")), int(n_all.replace(",", "")), more)


def draw_bar(words: str, job: str | None) -> None:
    """The bar of a running run; `words` is its output so far."""
    far = far_in(words)
    if far is None:
        st.progress(0.0, STARTING)
        return
    st.progress(far.share, literal(far.words))
    if job and (said := accuracy_words(job)):
        st.caption(said)


def accuracy_words(job: str) -> str:
    """Detection accuracy so far: majority of what was answered; empty before anything can be compared."""
    verdicts = data.verdicts()
    mine = verdicts[verdicts["experiment"] == job]
    table = rate_table(
        mine,
        by=["experiment"],
        rate="Accuracy",
        rule=VoteRule.MAJORITY,
        credit=Credit.DETECTION,
    )
    # Nothing to say before an instance has a majority.
    if table.empty or table["value"].isna().all():
        return ""
    [row] = as_rows(table)
    bounds = interval(row["low"], row["high"])
    return f"Detection accuracy so far {percent(row['value'])} ({bounds}, n {count(row['n'])})."
