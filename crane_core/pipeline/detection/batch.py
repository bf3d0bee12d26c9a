"""A model as a detector through its provider's batches: one file of questions, waited for, and read reply by reply.

Knows the file beside the job that names the batch: it is written before the wait, so that a start that was interrupted
is followed by one that goes on waiting, and goes away once every reply is on the disk. One batch at a time.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Event
from typing import NamedTuple

from crane_core.domain import JsonObject
from crane_core.errors import DetectorError
from crane_core.llm import question
from crane_core.llm.batch import (
    COMPLETED,
    MOST_BYTES,
    MOST_REQUESTS,
    Batch,
    BatchClient,
    BatchError,
    BatchLine,
    Learned,
)
from crane_core.llm.retrying import FailureScope, RetryPatience
from crane_core.pipeline.detection.detect import JobPlan
from crane_core.pipeline.detection.models import prompt_for, reply_for
from crane_core.pipeline.jobs import ask_models, files
from crane_core.pipeline.jobs.work import INTERRUPTED, Keep, Key
from crane_core.pipeline.places import DataFolder
from crane_core.prompts.reply import DETECTION, SCHEMA_NAME, reply_schema
from crane_core.prompts.tokens import count_tokens

LONGEST_WAIT_S = 30 * 3600.0
"""How long one start waits; providers promise a batch within 24 hours."""

_LOOK_S = 0.1
_MOST_ROUNDS = 8
"""Batches of one start in which the endpoint may refuse one parameter after the other."""
_PASSING = (
    FailureScope.TRANSIENT,
    FailureScope.BUSY,
    FailureScope.SILENT,
    FailureScope.UNREACHABLE,
)
_NO_REPLY = "the batch ended without a reply to this question"
_SPARE_LINES = 100
_DIGITS = 24


class SubmittedBatch(NamedTuple):
    """A batch that was handed over: its questions with the sha256 of their prompts, and how they were sent.

    `batch` is empty from just before the batch is created until its name is known.
    """

    input_file: str
    batch: str
    asked: Mapping[Key, str]
    learned: Learned

    @property
    def name(self) -> str:
        """What messages call the batch: its id, or its input file while the id is unknown."""
        return self.batch or f"of {self.input_file}"


class BatchWorker:
    """A worker that sends the open questions as a batch, or waits for the one that was submitted before.

    Each call does one batch; call `settle` when its replies are on the disk. `tell` hears how the batch is.
    """

    def __init__(
        self,
        folder: DataFolder,
        plan: JobPlan,
        asked: ask_models.AskingOptions,
        tell: Callable[[str], None],
        patience: RetryPatience | None = None,
    ) -> None:
        self._folder = folder
        self._plan = plan
        self._asked = asked
        self._tell = tell
        self._patience = patience or RetryPatience(
            asked.retries + 1, LONGEST_WAIT_S, first_s=1.0, longest_s=60.0
        )
        self._path = files.batch_file(folder, plan.job.job)
        self._learned: Learned | None = None
        self._settled: set[Key] = set()
        self._n_rounds = 0
        self._is_read = self._goes_on = False
        self._why_cut = ""

    def __call__(
        self, items: Sequence[Key], keep: Keep, stop: Event
    ) -> str | None:
        # What an earlier batch of this start settled is not sent again, though its replies may hold no
        # answer.
        return asyncio.run(
            self._work(
                [key for key in items if key not in self._settled], keep, stop
            )
        )

    def unsubmitted(self) -> list[Key]:
        """The open questions that no batch holds. Raises DetectorError if the batch is of other questions."""
        waiting = self._waiting()
        return [
            key
            for key in self._plan.work.open
            if waiting is None or key not in waiting.asked
        ]

    def settle(self) -> bool:
        """Forget the batch that was read; whether the next one is to be submitted at once."""
        if self._is_read:
            self._path.unlink(missing_ok=True)
            self._is_read = False
            return self._goes_on
        return False

    async def _work(
        self, items: Sequence[Key], keep: Keep, stop: Event
    ) -> str | None:
        waiting = self._waiting()
        is_cut = False
        self._n_rounds += 1
        async with BatchClient(
            self._asked.endpoint, waiting.learned if waiting else self._learned
        ) as client:
            if waiting is None:
                keys, requests, is_cut = self._requests(client, items)
                if not keys:
                    return (
                        ask_models.over_budget(self._why_cut)
                        if is_cut
                        else None
                    )
                waiting = await self._uploaded(client, keys, requests, stop)
                if waiting is None:
                    return INTERRUPTED
                waiting = await self._created(client, waiting)
            # The last start ended between creating the batch and noting its id: it may be there, and would be
            # paid for twice.
            elif not waiting.batch:
                found = await client.find(waiting.input_file)
                waiting = await self._created(client, waiting, found)
            batch = await self._awaited(client, waiting, stop)
            if batch is None:
                return (
                    INTERRUPTED
                    if stop.is_set()
                    else f"the batch {waiting.name} did not end; it is still waited for"
                )
            return await self._read(
                client, waiting, batch, items, keep, stop, is_cut=is_cut
            )

    def _requests(
        self, client: BatchClient, items: Sequence[Key]
    ) -> tuple[list[Key], bytes, bool]:
        """The questions for the next batch, its input file, and whether the caps leave no room for more of them."""
        budget = self._asked.budget(
            files.standing(self._folder, self._plan.job.job)
        )
        if budget.is_capped and not client.has_limit:
            raise DetectorError(
                "The endpoint accepts no token limit, so a budget cannot be enforced.",
                remedy="Run without a budget.",
            )
        n_schema = count_tokens(json.dumps(self._schema())).n
        lines = bytearray()
        for n_taken, key in enumerate(items):
            line = client.request_line(_custom_id(key), self._question(key))
            # What does not fit into this batch goes into the next one.
            if n_taken == MOST_REQUESTS or len(lines) + len(line) > MOST_BYTES:
                return list(items[:n_taken]), bytes(lines), False
            n_tokens = self._plan.inputs[key[0]].n_tokens + n_schema
            if (
                budget.reserve(n_tokens, self._asked.endpoint.max_output_tokens)
                is None
            ):
                self._why_cut = budget.why_refused
                return list(items[:n_taken]), bytes(lines), True
            lines += line
        return list(items), bytes(lines), False

    def _schema(self) -> JsonObject:
        return reply_schema(self._plan.request.template)

    def _question(self, key: Key) -> question.Question:
        seed = (
            None
            if self._asked.seed is None
            else self._asked.seed + int(key[1]) - 1
        )
        return question.Question(
            key,
            prompt_for(self._plan, key).text,
            self._schema(),
            SCHEMA_NAME,
            seed,
            DETECTION,
        )

    async def _uploaded(
        self,
        client: BatchClient,
        keys: Sequence[Key],
        requests: bytes,
        stop: Event,
    ) -> SubmittedBatch | None:
        """What is known before the batch is created; None if it was stopped before that."""
        input_file = await client.upload(requests)
        if stop.is_set():
            return None
        asked = {key: prompt_for(self._plan, key).sha256 for key in keys}
        return self._noted(
            SubmittedBatch(input_file, "", asked, client.learned)
        )

    async def _created(
        self,
        client: BatchClient,
        waiting: SubmittedBatch,
        found: Batch | None = None,
    ) -> SubmittedBatch:
        """The batch that an earlier start created, else a new one. What the endpoint refuses is not waited for."""
        try:
            batch = found or await client.create(waiting.input_file)
        except BatchError as error:
            # Refused for good, so there is no batch to look for; after a time-out or a server's error there
            # may be one.
            if (
                error.status is not None
                and error.status < 500
                and error.status != 408
            ):
                self._path.unlink(missing_ok=True)
            raise
        self._tell(
            f"batch {batch.batch}: {len(waiting.asked):,} questions submitted; the same command resumes the wait"
        )
        return self._noted(waiting._replace(batch=batch.batch))

    async def _awaited(
        self, client: BatchClient, waiting: SubmittedBatch, stop: Event
    ) -> Batch | None:
        """The batch when it has ended; None if it was stopped, or the patience is spent."""
        clock = asyncio.get_running_loop().time
        until = clock() + self._patience.total_s
        pause_s, n_failed, told = self._patience.first_s, 0, ""
        while not stop.is_set():
            asked_to_wait_s = 0.0
            try:
                batch = await client.look(waiting.batch)
            except BatchError as error:
                n_failed += 1
                self._raise_for_good(error, waiting, n_failed)
                # As long as the endpoint asks for, but never longer than the patience for one wait.
                asked_to_wait_s = min(
                    error.failure.retry_after_s or 0.0,
                    self._patience.longest_wait_s,
                )
            else:
                n_failed = 0
                words = _words(batch, waiting)
                if words != told:
                    self._tell(words)
                    told = words
                if batch.is_over:
                    return batch
            next_look = clock() + max(pause_s, asked_to_wait_s)
            if next_look > until:
                return None
            while (
                not stop.is_set() and clock() < next_look
            ):  # an event must not be waited for where a signal sets it
                await asyncio.sleep(min(_LOOK_S, max(0.0, next_look - clock())))
            pause_s = min(2 * pause_s, self._patience.longest_s)
        return None

    def _raise_for_good(
        self, error: BatchError, waiting: SubmittedBatch, n_failed: int
    ) -> None:
        if error.is_gone:
            raise DetectorError(
                f"The endpoint no longer has the batch {waiting.batch}: {error.failure.why}.",
                remedy=f"To have its questions asked again, delete {self._path}.",
            ) from None
        if (
            error.failure.kind not in _PASSING
            or n_failed >= self._patience.max_attempts
        ):
            raise error

    async def _read(
        self,
        client: BatchClient,
        waiting: SubmittedBatch,
        batch: Batch,
        items: Sequence[Key],
        keep: Keep,
        stop: Event,
        *,
        is_cut: bool,
    ) -> str | None:
        """Keep what came. Why the job ended before its last question, or None."""
        pending = set(waiting.asked) & set(items)
        key_of = {_custom_id(key): key for key in waiting.asked}
        questions = {
            custom_id: self._question(key) for custom_id, key in key_of.items()
        }
        reading = _Reading(
            client, questions, may_ask_again=self._n_rounds < _MOST_ROUNDS
        )
        n_replied = 0

        def hear(text: bytes) -> bool:
            nonlocal n_replied
            line = reading.heard(text)
            if line is not None and key_of[line.custom_id] in pending:
                answer = _answer(key_of[line.custom_id], line)
                n_replied += answer.text is not None
                self._keep(key_of[line.custom_id], answer, keep)
            return (
                not stop.is_set()
                and reading.n_foreign <= len(questions) + _SPARE_LINES
            )

        for file in batch.files:
            await client.lines(file, hear)
            if stop.is_set():
                return INTERRUPTED
        if reading.n_foreign:
            self._tell(
                f"batch {waiting.batch}: {reading.n_foreign:,} lines answer no question of it; they are left out"
            )
        is_complete = batch.status == COMPLETED
        if is_complete:
            # An expired or cancelled batch leaves its other questions open; only of a complete one nothing
            # more will come.
            lost = [
                key for key in pending if _custom_id(key) not in reading.seen
            ]
            for key in sorted(lost):
                self._keep(key, question.Answer(key, trouble=_NO_REPLY), keep)
        self._is_read = True
        self._learned = reading.learned or self._learned
        # Questions whose parameter was refused stay open: the next batch is sent without it.
        self._settled |= pending - {
            key_of[custom_id] for custom_id in reading.refused
        }
        is_settled = self._settled.issuperset(items)
        self._goes_on = is_complete and not is_cut and not is_settled
        if is_complete:
            return ask_models.over_budget(self._why_cut) if is_cut else None
        why = f" ({batch.why})" if batch.why else ""
        return f"the batch {waiting.batch} {batch.status}{why}; {n_replied:,} of {len(pending):,} replies were kept"

    def _keep(self, key: Key, answer: question.Answer, keep: Keep) -> None:
        came = ask_models.came_of(answer, self._asked.price)
        # How long a reply waited in the provider's queue says nothing about the model.
        came["seconds"] = None
        reply = reply_for(self._plan, key, came)
        prompt = prompt_for(self._plan, key)
        keep(replace(reply, chance=answer.chance), prompt)

    def _waiting(self) -> SubmittedBatch | None:
        """The batch that an earlier start submitted. Raises DetectorError if it cannot be read by this one."""
        if not self._path.exists():
            return None
        try:
            told = json.loads(self._path.read_text("utf-8"))
            asked = {
                (str(name), int(index)): str(sha256)
                for name, index, sha256 in told["asked"]
            }
            left_out, limit, most, *more = told["learned"]
            context = int(more[0]) if more and more[0] is not None else None
            learned = Learned(
                tuple(map(str, left_out)), str(limit), int(most), context
            )
            waiting = SubmittedBatch(
                str(told["input_file"]), str(told["batch"]), asked, learned
            )
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise DetectorError(
                f"{self._path} names the batch of this job, and cannot be read: {type(error).__name__}.",
                remedy="Look the batch up at the provider; deleting the file has its questions asked again.",
            ) from None
        wanted = set(self._plan.work.items)
        if any(
            key not in wanted or prompt_for(self._plan, key).sha256 != sha256
            for key, sha256 in asked.items()
        ):
            raise DetectorError(
                f"The batch {waiting.name} of this job asks other questions than this command.",
                remedy="Repeat the command with the --instances and --runs that it was submitted with; to give the "
                f"batch up, delete {self._path}.",
            )
        return waiting

    def _noted(self, waiting: SubmittedBatch) -> SubmittedBatch:
        """Write it down, on the disk before anything else happens."""
        asked = [[*key, sha256] for key, sha256 in waiting.asked.items()]
        told = {
            "input_file": waiting.input_file,
            "batch": waiting.batch,
            "learned": waiting.learned,
            "asked": asked,
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and renamed, so that a file that is there is always whole.
        part = self._path.with_suffix(".batch-part")
        with part.open("w", encoding="utf-8") as file:
            json.dump(told, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._path)
        # The rename itself is on the disk only once the folder is synced.
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return waiting


class _Reading:
    """The lines of one batch: which questions they answer, and what the endpoint refuses of the requests."""

    def __init__(
        self,
        client: BatchClient,
        questions: Mapping[str, question.Question],
        *,
        may_ask_again: bool,
    ) -> None:
        self._client = client
        self._questions = questions
        self._may_ask_again = may_ask_again
        self.seen: set[str] = set()
        self.refused: set[str] = set()
        self.learned: Learned | None = None
        self.n_foreign = 0

    def heard(self, text: bytes) -> BatchLine | None:
        """The line if it answers a question for the first time, and that is not to be asked again at once."""
        line = self._client.read(text, self._questions)
        if line is None or line.custom_id in self.seen:
            self.n_foreign += line is not None or bool(text.strip())
            return None
        self.seen.add(line.custom_id)
        if (
            isinstance(line.outcome, question.UnsupportedParameter)
            and self._may_ask_again
        ):
            self.refused.add(line.custom_id)
            self.learned = line.learned
            return None
        return line


def _custom_id(key: Key) -> str:
    """What names a question in a batch: of letters that every provider takes, whatever an instance is called."""
    instance_id, run_index = key
    return f"run{run_index}-{hashlib.sha256(instance_id.encode()).hexdigest()[:_DIGITS]}"


def _answer(key: Key, line: BatchLine) -> question.Answer:
    said = line.outcome
    if isinstance(said, question.ModelReply):
        counts = said.input_tokens, said.output_tokens
        return question.Answer(
            key,
            said.text,
            said.trouble,
            said.finish_reason,
            0.0,
            1,
            *counts,
            said.left_out,
            said.usd,
            said.chance,
        )
    why = (
        f"the endpoint refuses {said.parameter}"
        if isinstance(said, question.UnsupportedParameter)
        else said.why
    )
    return question.Answer(key, trouble=why, attempts=int(line.was_sent))


def _words(batch: Batch, waiting: SubmittedBatch) -> str:
    n_ended = (
        ""
        if batch.n_ended is None
        else f", {batch.n_ended:,} of {len(waiting.asked):,} ended"
    )
    return f"batch {batch.batch}: {batch.status}{n_ended}"
