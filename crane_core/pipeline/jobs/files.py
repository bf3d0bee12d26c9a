"""A job on the disk: its name, its ledger file with earlier answers, and the lock of the process that works on it."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from crane_core import domain, ledger
from crane_core.errors import DetectorError
from crane_core.importers.published_detectors import slug
from crane_core.pipeline.inventory import inventory
from crane_core.pipeline.jobs.reply_reading import NOTHING_CAME, run_of
from crane_core.pipeline.places import DataFolder
from crane_core.prompts.judge_reply import read_judge_reply
from crane_core.prompts.tokens import count_tokens

NAME_DIGITS = 8
LABELS = ("name", "note")
"""Options that hold what the user calls the job."""
MOST_NAME, MOST_NOTE = 80, 500
"""Characters."""
NOT_SHAPING = frozenset({"prices", *LABELS})
"""Options that are stored with a job but do not shape answers: with other prices it is the same job."""

FOLDER = "runs"


class Spent(NamedTuple):
    """The usage of all requests of a job, including failed ones; `usd` None if no price is known.

    `reported_usd` is the part of it that endpoints reported; the rest is tokens times price. Of `n_uncounted` replies
    the endpoint did not say how many tokens they took: the sums are without them.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0
    n_requests: int = 0
    reported_usd: float = 0.0
    n_uncounted: int = 0

    def plus(self, other: Spent) -> Spent:
        """The sums of both; the cost is unknown only if both are."""
        prices = [usd for usd in (self.usd, other.usd) if usd is not None]
        return Spent(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            usd=sum(prices) if prices else None,
            seconds=self.seconds + other.seconds,
            n_requests=self.n_requests + other.n_requests,
            reported_usd=self.reported_usd + other.reported_usd,
            n_uncounted=self.n_uncounted + other.n_uncounted,
        )


class Standing(NamedTuple):
    """What a job's file holds: the last reply or run of each key (see `key_of`), and their total usage.

    `prompts` are texts by their sha256.
    """

    job: domain.Job | domain.JudgeJob | None
    replies: dict[
        tuple[Any, ...], domain.Reply | domain.JudgeReply | domain.Run
    ]
    prompts: dict[str, str]
    spent: Spent

    def uncounted_tokens(self) -> tuple[int, int]:
        """Input and output tokens, by our own count, of the replies whose tokens the endpoint did not count."""
        replies = [
            reply for reply in self.replies.values() if _is_uncounted(reply)
        ]
        asked = [
            self.prompts.get(reply.prompt_sha256, "")
            for reply in replies
            if isinstance(reply, domain.Reply)
        ]
        said = [
            reply.text or ""
            for reply in replies
            if isinstance(reply, (domain.Reply, domain.JudgeReply))
        ]
        return sum(count_tokens(text).n for text in asked), sum(
            count_tokens(text).n for text in said
        )

    @property
    def answered(self) -> set[tuple[Any, ...]]:
        """Keys that are not asked again, because they have a reply, readable or not."""
        return {key for key, reply in self.replies.items() if came(reply)}


def now() -> str:
    """UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def came(reply: domain.Reply | domain.JudgeReply | domain.Run) -> bool:
    """Whether anything came back."""
    return (
        reply.crashes is not None
        if isinstance(reply, domain.Run)
        else reply.text is not None
    )


def key_of(
    reply: domain.Reply | domain.JudgeReply | domain.Run,
) -> tuple[Any, ...]:
    """The key of a question in its job."""
    if isinstance(reply, domain.JudgeReply):
        verdict = (reply.instance_id, reply.detector, str(reply.setting))
        return (*verdict, reply.run_index, reply.repetition, reply.presentation)
    return reply.instance_id, reply.run_index


def job_name(*parts: str, options: domain.JsonObject) -> str:
    """The job's name: its subject, and a digest of everything that affects its answers."""
    shaping = {
        name: value
        for name, value in options.items()
        if name not in NOT_SHAPING
    }
    # Sorted and in ASCII, so that the digest is the same on every machine and in every version.
    exact = json.dumps([parts, shaping], sort_keys=True, ensure_ascii=True)
    # A slug drops the sign, and `runtime+` and `runtime` would read alike.
    readable = slug("-".join(parts).replace("+", "-plus-"))
    return (
        f"{readable}-{hashlib.sha256(exact.encode()).hexdigest()[:NAME_DIGITS]}"
    )


def labels_of(job: domain.Job | domain.JudgeJob | None) -> dict[str, str]:
    """What the user calls the job."""
    options = json.loads(job.options) if job is not None else {}
    return {label: options[label] for label in LABELS if label in options}


def encoded(options: domain.JsonObject) -> str:
    """Options as the JSON text that a job stores."""
    return json.dumps(options, sort_keys=True, ensure_ascii=False)


def sayable(text: str) -> str:
    """The text as a ledger line can hold it: characters that UTF-8 cannot encode are escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def job_file(folder: DataFolder, job: str) -> Path:
    """The ledger file of a run."""
    return folder.ledger / FOLDER / f"{job}.jsonl"


def batch_file(folder: DataFolder, job: str) -> Path:
    """What names the batch that the job waits for; it is there only as long as its replies are not."""
    return job_file(folder, job).with_suffix(".batch")


def chosen_name(folder: DataFolder, base: str, *, again: bool) -> str:
    """The job to continue with: the newest repeat; with `again` the next repeat, which has not begun."""
    number = 1
    # Repeats are numbered without gaps, so the first missing one ends them.
    while job_file(folder, _repeat(base, number + 1)).exists():
        number += 1
    if again and job_file(folder, base).exists():
        number += 1
    return _repeat(base, number)


def _repeat(base: str, number: int) -> str:
    return base if number == 1 else f"{base}-{number}"


def standing(folder: DataFolder, job: str) -> Standing:
    """What the job's file holds; empty if there is none yet."""
    path = job_file(folder, job)
    records = ledger.tail(path).records if path.exists() else []
    # The newest: a later start may have changed what the user calls the job, or the prices.
    found = next(
        (
            record
            for record in reversed(records)
            if isinstance(record, (domain.Job, domain.JudgeJob))
        ),
        None,
    )
    replies = [
        record
        for record in records
        if isinstance(record, (domain.Reply, domain.JudgeReply, domain.Run))
    ]
    return Standing(
        job=found,
        replies={key_of(reply): reply for reply in replies},
        prompts={
            record.sha256: record.text
            for record in records
            if isinstance(record, domain.Prompt)
        },
        spent=spent_on(replies),
    )


def spent_on(
    replies: Iterable[domain.Reply | domain.JudgeReply | domain.Run],
) -> Spent:
    """The sums over replies; an answer of a detector that runs on this machine takes no tokens."""
    asked = [
        reply
        for reply in replies
        if isinstance(reply, (domain.Reply, domain.JudgeReply))
    ]
    prices = [reply.usd for reply in asked if reply.usd is not None]
    reported = [reply.usd for reply in asked if reply.is_usd_reported]
    return Spent(
        input_tokens=_sum(reply.input_tokens for reply in asked),
        output_tokens=_sum(reply.output_tokens for reply in asked),
        usd=sum(prices) if prices else None,
        seconds=sum(filter(None, (reply.seconds for reply in asked)), 0.0),
        n_requests=sum(reply.attempts for reply in asked),
        reported_usd=sum(filter(None, reported), 0.0),
        n_uncounted=sum(map(_is_uncounted, asked)),
    )


def _sum(counts: Iterable[int | None]) -> int:
    """What an endpoint did not count adds nothing."""
    return sum(filter(None, counts))


def _is_uncounted(reply: domain.Reply | domain.JudgeReply | domain.Run) -> bool:
    """Whether a model replied and the endpoint did not say how many tokens that took."""
    if isinstance(reply, domain.Run) or reply.text is None:
        return False
    return reply.input_tokens is None or reply.output_tokens is None


def why_unanswered(
    replies: Iterable[domain.Reply | domain.JudgeReply | domain.Run],
) -> tuple[Counter[str], Counter[str]]:
    """Reasons with counts: of questions without a reply, and of replies without a readable answer."""
    troubles: Counter[str] = Counter()
    unreadable: Counter[str] = Counter()
    for reply in replies:
        if (reason := _why_unanswered(reply)) is not None:
            (unreadable if came(reply) else troubles)[reason] += 1
    return troubles, unreadable


def _why_unanswered(
    reply: domain.Reply | domain.JudgeReply | domain.Run,
) -> str | None:
    if isinstance(reply, domain.JudgeReply) and reply.text is not None:
        return read_judge_reply(
            reply.text, reply.finish_reason, reply.labels
        ).trouble
    if isinstance(reply, domain.JudgeReply):
        return reply.trouble or NOTHING_CAME
    run = run_of(reply) if isinstance(reply, domain.Reply) else reply
    return (run.unanswered or NOTHING_CAME) if run.crashes is None else None


@contextmanager
def alone(folder: DataFolder, job: str) -> Iterator[None]:
    """Hold the job for this process. Raises DetectorError while another one works on it.

    The operating system releases the lock when the process ends; the empty file stays.
    """
    if act := inventory(folder).removed.get((domain.Listed.RUN, job)):
        raise DetectorError(
            f"The run {job} was removed by {act.acted_by} at {act.acted_at[:16]}.",
            remedy=f"Bring it back with `restore run {job}`, or start a separate repeat with --again.",
        )
    path = _lock_file(folder, job)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DetectorError(
                f"Another process is running the job {job}.",
                remedy="Let it finish or stop it; start a separate repeat with --again.",
            ) from error
        yield


def is_held(folder: DataFolder, job: str) -> bool:
    """Whether a process works on the job at this moment."""
    path = _lock_file(folder, job)
    if not path.exists():
        return False
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _lock_file(folder: DataFolder, job: str) -> Path:
    return job_file(folder, job).with_suffix(".lock")
