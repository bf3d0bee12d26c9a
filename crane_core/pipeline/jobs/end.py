"""The end of a job as an event that people are notified of, and why it ended before its last question where it did.

Knows counts and the name of the job. Refuses to know questions and answers: a message leaves this machine.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event as ThreadEvent

from crane_core.pipeline.jobs import ask_models, files, work
from crane_core.pipeline.notifications.announce import Event, announce_found
from crane_core.pipeline.notifications.channels import EventKind
from crane_core.pipeline.notifications.sending import Message
from crane_core.pipeline.places import DataFolder


class WatchedWorker:
    """A worker that remembers whether it was called: a job that another process holds has not begun here.

    `outcome` is set by the caller once the job has ended well.
    """

    def __init__(self, worker: work.Worker) -> None:
        self._worker = worker
        self.has_begun = False
        self.outcome: work.JobOutcome | None = None

    def __call__(
        self, items: Sequence[work.Key], keep: work.Keep, stop: ThreadEvent
    ) -> str | None:
        """Do the work."""
        self.has_begun = True
        return self._worker(items, keep, stop)


@contextmanager
def end_announced(
    folder: DataFolder, job: str, worker: work.Worker
) -> Iterator[WatchedWorker]:
    """Announce how the body ended that lets this worker work: with an outcome, else with an error.

    Nothing is announced of a job that had no open question: that command did no work.
    """
    watched = WatchedWorker(worker)
    try:
        yield watched
    finally:
        if watched.has_begun:
            outcome = watched.outcome
            announce_found(
                folder,
                lambda: end_of(outcome) if outcome else _failure(folder, job),
            )


def end_of(outcome: work.JobOutcome) -> Event:
    """The event of a job that ended with this outcome."""
    n_replied = outcome.n_all - outcome.n_open
    kinds: tuple[EventKind, ...] = (EventKind.JOB_ENDED,)
    title, how = "job ended", "ended"
    if ask_models.is_over_budget(outcome.ended):
        kinds = (EventKind.BUDGET_REACHED, EventKind.JOB_ENDED)
        title, how = "budget reached", "stopped at its budget"
    elif outcome.ended == work.INTERRUPTED:
        title, how = "job stopped", "was stopped"
    elif outcome.n_open:
        title, how = "job ended with open questions", "ended"
    resume = "; the same command resumes there" if outcome.n_open else ""
    counts = f"{n_replied:,} of {outcome.n_all:,} questions have a reply"
    # A job that is started again and gets no further has no news; one that asked more has.
    progress = f"{n_replied} of {outcome.n_all}, {outcome.spent.n_requests}"
    return Event(
        key=f"job {outcome.job}: {title}, {progress}",
        kinds=kinds,
        message=_message(title, f"Job {outcome.job} {how}: {counts}{resume}."),
    )


def _failure(folder: DataFolder, job: str) -> Event:
    """The event of a job that an error ended. Its words may quote code and addresses, so they are left out."""
    file = files.job_file(folder, job)
    n_bytes = file.stat().st_size if file.exists() else 0
    title = "job failed"
    return Event(
        key=f"job {job}: {title}, {n_bytes}",
        kinds=(EventKind.JOB_ENDED,),
        message=_message(
            title,
            f"Job {job} was ended by an error, which its log tells; the same command resumes it.",
        ),
    )


def _message(title: str, body: str) -> Message:
    return Message(f"Crane Workbench: {title}", body)
