"""Runs a job: every answer goes to its ledger file before it counts as done.

Knows the list of questions, the file, progress and the end. How answers are obtained is up to a worker: `ask_models`
asks a model, `detection.here` runs a detector on this machine. A job that was stopped, killed or spent continues where
it was.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Queue
from threading import Event
from types import TracebackType
from typing import Any, NamedTuple

from crane_core import domain, ledger
from crane_core.domain import Record
from crane_core.pipeline.jobs import files
from crane_core.pipeline.places import DataFolder

Answer = domain.Reply | domain.JudgeReply | domain.Run
Key = tuple[Any, ...]
"""The key of a question in its job; see `jobs.files.key_of`."""
Keep = Callable[[Answer, domain.Prompt | None], None]
"""Passes an answer on to be saved, with the prompt that it answers; it may be called from any thread."""
Worker = Callable[[Sequence[Key], Keep, Event], str | None]
"""Answers the keys in their order until the event is set; why it ended before the last one, or None."""
INTERRUPTED = "it was stopped"


USUALLY_WAITING = 16


class GroupCommit:
    """A writer thread. `put` from any thread; `on_saved` is called with saved records, from the writer's thread.

    When the disk refuses, or `on_saved` raises, `stop` is set, nothing more is written, and leaving the context raises
    that error. `max_waiting` records may wait for the disk, and a caller with more waits too: so a crash loses few
    records. As many again may be in the current write.
    """

    def __init__(
        self,
        path: Path,
        on_saved: Callable[[Sequence[Record]], None],
        stop: Event,
        *,
        max_waiting: int = USUALLY_WAITING,
    ) -> None:
        self._path = path
        self._on_saved = on_saved
        self._stop = stop
        self._max_waiting = max_waiting
        self._waiting: Queue[Record | None] = Queue(max_waiting)
        self._is_open = True
        self._writer = ThreadPoolExecutor(
            max_workers=1, thread_name_prefix="group-commit"
        )

    def __enter__(self) -> GroupCommit:
        self._end = self._writer.submit(self._write_all)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The mark of the end, behind everything that waits.
        self._waiting.put(None)
        self._writer.shutdown(wait=True)
        self._end.result()

    def put(self, *records: Record) -> None:
        """Hand records over; they are saved in this order."""
        for record in records:
            self._waiting.put(record)

    def _write_all(self) -> None:
        try:
            # Callers may be waiting for room in the queue: it is emptied until the end, or they would wait
            # for ever.
            while self._is_open:
                self._save(self._next())
        except BaseException:
            self._stop.set()
            while self._is_open:
                self._next()
            raise

    def _next(self) -> list[Record]:
        """All waiting entries, at least one."""
        batch = [self._waiting.get()]
        while len(batch) < self._max_waiting and not self._waiting.empty():
            batch.append(self._waiting.get())
        self._is_open = None not in batch
        return [record for record in batch if record is not None]

    def _save(self, records: list[Record]) -> None:
        if records:
            ledger.append(self._path, *records)
            self._on_saved(records)


@dataclass(frozen=True, slots=True)
class Work:
    """A job to run now: all its questions in order, and the earlier content of its file."""

    job: domain.Job | domain.JudgeJob
    items: Sequence[Key]
    before: files.Standing
    detector: domain.Detector | None = None

    @property
    def open(self) -> list[Key]:
        """The questions without a reply."""
        answered = self.before.answered
        return [item for item in self.items if item not in answered]


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Progress of a job. `n_done` of `n_all` have an answer on the disk; `n_now` of them since this start.

    `n_troubles` are questions without a reply at this start; they are asked again at the next one. `spent` is
    of the whole job. `left_s` is None until it can be estimated.
    """

    n_all: int
    n_done: int
    n_now: int
    n_troubles: int
    spent: files.Spent
    elapsed_s: float

    @property
    def per_s(self) -> float:
        """Questions dealt with per second since this start."""
        return (
            (self.n_now + self.n_troubles) / self.elapsed_s
            if self.elapsed_s > 0
            else 0.0
        )

    @property
    def left_s(self) -> float | None:
        """Seconds until all questions are dealt with at today's rate; None while nothing came yet."""
        left = self.n_all - self.n_done - self.n_troubles
        return left / self.per_s if self.per_s > 0 else None


class JobOutcome(NamedTuple):
    """The outcome of a job, over all its questions.

    `troubles` are questions without a reply, `unreadable` replies without a readable answer, by reason; `n_answered`
    are the other replies. `ended` is why it ended before its last question, None when it did not.
    """

    job: str
    n_all: int
    n_answered: int
    troubles: Counter[str]
    unreadable: Counter[str]
    spent: files.Spent
    elapsed_s: float
    ended: str | None

    @property
    def n_open(self) -> int:
        """Questions that the same command asks next time."""
        return self.n_all - self.n_answered - self.unreadable.total()


def carry_out(
    folder: DataFolder,
    work: Work,
    worker: Worker,
    *,
    progress: Callable[[JobProgress], None] = lambda _: None,
    stop: Event | None = None,
    at_once: int = USUALLY_WAITING,
) -> JobOutcome:
    """Answer the open questions. Raises DetectorError or LedgerError; finished answers stay.

    `progress` is called from another thread, whenever answers have reached the disk. `at_once` is how many the worker
    asks at once: as many may wait for the disk, so that it never keeps them from asking.
    """
    stopped = stop or Event()
    began = time.monotonic()
    ended = None
    with files.alone(folder, work.job.job):
        # Read again under the lock: another process may have answered since the plan was made.
        now = replace(work, before=files.standing(folder, work.job.job))
        if now.open:
            watch = _Watch(now, progress, began)
            path = files.job_file(folder, now.job.job)
            with GroupCommit(
                path, watch.saved, stopped, max_waiting=max(1, at_once)
            ) as commit:
                ended = worker(now.open, _keeping(now, commit), stopped)
        # Nothing to do but a new name or note, which is a line of the ledger too.
        elif files.labels_of(now.before.job) != files.labels_of(work.job):
            ledger.append(files.job_file(folder, work.job.job), work.job)
    return _outcome(folder, work, time.monotonic() - began, ended)


def _keeping(work: Work, commit: GroupCommit) -> Keep:
    """Saves an answer after the records it refers to: detector and job once, and its prompt once."""
    written = set(work.before.prompts)
    header: list[domain.Record] = []
    if work.before.job != work.job:
        header += [*([work.detector] if work.detector else []), work.job]

    def keep(answer: Answer, prompt: domain.Prompt | None) -> None:
        # Detector and job come with the first answer: a job without one leaves no file.
        first = [*header]
        header.clear()
        if prompt is not None and prompt.sha256 not in written:
            written.add(prompt.sha256)
            first.append(prompt)
        commit.put(*first, answer)

    return keep


class _Watch:
    """Counts the answers on disk and reports progress."""

    def __init__(
        self, work: Work, progress: Callable[[JobProgress], None], began: float
    ) -> None:
        answered = work.before.answered
        self._n_all = len(work.items)
        self._progress = progress
        self._began = began
        self._n_before = sum(item in answered for item in work.items)
        self._n_now = 0
        self._n_troubles = 0
        self._spent = work.before.spent

    def saved(self, records: Sequence[domain.Record]) -> None:
        """Count records that are on the disk now and report the progress; called from the writer's thread."""
        answers = [
            record
            for record in records
            if isinstance(record, (domain.Reply, domain.JudgeReply, domain.Run))
        ]
        if not answers:
            return
        n_came = sum(map(files.came, answers))
        self._n_now += n_came
        self._n_troubles += len(answers) - n_came
        self._spent = self._spent.plus(files.spent_on(answers))
        self._progress(
            JobProgress(
                n_all=self._n_all,
                n_done=self._n_before + self._n_now,
                n_now=self._n_now,
                n_troubles=self._n_troubles,
                spent=self._spent,
                elapsed_s=time.monotonic() - self._began,
            )
        )


def _outcome(
    folder: DataFolder, work: Work, elapsed_s: float, ended: str | None
) -> JobOutcome:
    """Computed from the file, whose content decides."""
    after = files.standing(folder, work.job.job)
    wanted = set(work.items)
    replies = [reply for key, reply in after.replies.items() if key in wanted]
    troubles, unreadable = files.why_unanswered(replies)
    n_answered = len(replies) - troubles.total() - unreadable.total()
    return JobOutcome(
        job=work.job.job,
        n_all=len(work.items),
        n_answered=n_answered,
        troubles=troubles,
        unreadable=unreadable,
        spent=after.spent,
        elapsed_s=elapsed_s,
        ended=ended,
    )
