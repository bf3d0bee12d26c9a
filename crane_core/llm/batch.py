"""OpenAI's batch endpoints: a file of requests is handed over, and its replies are read line by line hours later.

    POST /files, POST /batches, GET /batches/{id}, GET /files/{id}/content

Knows the form of these and of the lines; a reply in a line is read as a direct one is. Refuses to wait, to retry, and
to let an exception of the client out: it holds the request, and the request holds the key.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, NamedTuple

import aiohttp
import httpx2
import openai

from crane_core.domain import JsonObject
from crane_core.errors import DetectorError
from crane_core.llm import for_openai, output_limit
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.question import ModelReply, Question, UnsupportedParameter
from crane_core.llm.retrying import Failure, FailureScope

MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
"""Of one input file (OpenAI's guide to batches)."""

COMPLETED = "completed"
_ENDED = frozenset({COMPLETED, "expired", "cancelled", "failed"})
_URL: Final = "/v1/chat/completions"
_WINDOW: Final = "24h"
_MAX_OBJECT_BYTES = 4_000_000
_PER_PAGE = 100
_MOST_PAGES = 50
_MOST_ID = 256
_MISSING = frozenset({404, 405, 501})
_SAME = "The same command resumes."


class BatchError(DetectorError):
    """A request about a batch that failed; `status` is None if there was no reply. The message has no secrets."""

    def __init__(self, failure: Failure, status: int | None = None) -> None:
        super().__init__(
            f"{failure.why.rstrip('.')}.", remedy=failure.remedy or _SAME
        )
        self.failure = failure
        self.status = status

    @property
    def is_gone(self) -> bool:
        """Whether there is nothing at this address."""
        return self.status in _MISSING


class Learned(NamedTuple):
    """What requests have left of their parameters: those left out, the name of the limit of tokens, and the limit."""

    left_out: tuple[str, ...]
    limit: str
    most: int
    context: int | None = None


class Batch(NamedTuple):
    """A batch as the endpoint tells of it. `files` hold replies and errors; `why` is what it says of a failure."""

    batch: str
    input_file: str
    status: str
    files: tuple[str, ...]
    n_ended: int | None
    why: str

    @property
    def is_over(self) -> bool:
        """Whether the endpoint will add no further reply."""
        return self.status in _ENDED


class BatchLine(NamedTuple):
    """A line of a batch's output. `was_sent`: the model's server replied. `learned` holds after what it refuses."""

    custom_id: str
    outcome: ModelReply | Failure | UnsupportedParameter
    was_sent: bool
    learned: Learned


class BatchClient(for_openai.OpenAIClient):
    """Connections to one endpoint for one batch, whose requests all have the parameters that `learned` leaves."""

    def __init__(
        self, endpoint: Endpoint, learned: Learned | None = None
    ) -> None:
        super().__init__(endpoint, 1)
        if learned is not None:
            self._learn(learned)

    @property
    def learned(self) -> Learned:
        """What the requests have left of their parameters so far, to be written down beside the batch."""
        return Learned(
            self.left_out,
            self._limit,
            self._output_limit.most,
            self._output_limit.context,
        )

    def _learn(self, learned: Learned) -> None:
        self._left_out, self._limit = list(learned.left_out), learned.limit
        self._output_limit = output_limit.OutputLimit(
            learned.most, learned.context
        )

    def request_line(self, custom_id: str, question: Question) -> bytes:
        """A line of an input file."""
        line = {
            "custom_id": custom_id,
            "method": "POST",
            "url": _URL,
            "body": self._body(question),
        }
        return json.dumps(line).encode() + b"\n"

    async def upload(self, requests: bytes) -> str:
        """The identifier of the new input file. Raises BatchError; a file costs nothing."""
        files = self._openai.files.with_streaming_response
        sent = files.create(
            file=("requests.jsonl", requests, "application/jsonl"),
            purpose="batch",
        )
        return _identifier((await self._told(sent, "POST /files")).get("id"))

    async def create(self, input_file: str) -> Batch:
        """The new batch of an input file. Raises BatchError; unless the endpoint refused it, there may be one."""
        batches = self._openai.batches.with_streaming_response
        sent = batches.create(
            completion_window=_WINDOW, endpoint=_URL, input_file_id=input_file
        )
        return _batch(await self._told(sent, "POST /batches"))

    async def find(self, input_file: str) -> Batch | None:
        """The batch that was created of an input file, if there is one. Raises BatchError if that is unknown."""
        batches, after = self._openai.batches.with_streaming_response, ""
        # A server that always names one more page must not keep the command for ever.
        for _ in range(_MOST_PAGES):
            more = {"after": after} if after else {}
            told = await self._told(
                batches.list(limit=_PER_PAGE, extra_query=more), "GET /batches"
            )
            page = [_batch(one) for one in _objects(told.get("data"))]
            found = next(
                (batch for batch in page if batch.input_file == input_file),
                None,
            )
            if found is not None or not page or not told.get("has_more"):
                return found
            after = page[-1].batch
        raise BatchError(
            Failure(
                FailureScope.ENDPOINT,
                "The endpoint lists too many batches to find the one of this job",
            )
        )

    async def look(self, batch: str) -> Batch:
        """The batch as it is now. Raises BatchError."""
        return _batch(
            await self._told(
                self._openai.batches.with_streaming_response.retrieve(batch)
            )
        )

    async def lines(self, file: str, hear: Callable[[bytes], bool]) -> None:
        """Hand each line of a file to `hear` until it returns False; too long ones are handed over empty.

        Raises BatchError.
        """
        rest, is_cut = b"", False

        def take(chunk: bytes) -> bool:
            nonlocal rest, is_cut
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                is_long, is_cut = is_cut, False
                if not hear(b"" if is_long else line):
                    return False
            # The file can have gigabytes: only the line that is read is in memory, and one that is too long
            # is dropped as it comes.
            if len(rest) > for_openai.MAX_REPLY_BYTES:
                rest, is_cut = b"", True
            return True

        await self._receive(
            self._openai.files.with_streaming_response.content(file), take
        )
        if rest or is_cut:
            hear(b"" if is_cut else rest)

    def read(
        self, line: bytes, questions: Mapping[str, Question]
    ) -> BatchLine | None:
        """What a line says of one of the questions, by custom_id; None if it is about none of them."""
        try:
            told = json.loads(line)
            custom_id, response = told["custom_id"], told.get("response")
            question = questions[custom_id]
            body = json.dumps(response["body"]).encode() if response else b""
            status = response.get("status_code") if response else None
        except (
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
        ):
            return None
        if not isinstance(status, int) or isinstance(status, bool):
            return BatchLine(
                custom_id,
                _unsent(told.get("error")),
                was_sent=False,
                learned=self.learned,
            )
        # All requests of a batch were sent alike: what one refusal teaches must not change how the next line
        # is read.
        sent_with = self.learned
        outcome = (
            self._refused(status, body, question)
            if status >= 300
            else self._read(status, body, None, question.chance_of)
        )
        line_learned = self.learned
        self._learn(sent_with)
        return BatchLine(
            custom_id, outcome, was_sent=True, learned=line_learned
        )

    def _refused(
        self, status: int, body: bytes, question: Question
    ) -> Failure | UnsupportedParameter:
        """An error status in a line, read as that of a direct request."""
        error = json.loads(body)
        inner = error.get("error", error) if isinstance(error, dict) else error
        # A line holds the error's body without its response; with one around it, errors are read in one
        # place.
        response = httpx2.Response(
            status,
            content=body,
            request=httpx2.Request("POST", self._endpoint.base_url),
        )
        refused = openai.APIStatusError("", response=response, body=inner)
        return self._of_status(
            refused, self._body(question) | {"stream": True}
        )  # no stream is there to ask for

    async def _told(
        self,
        request: AbstractAsyncContextManager[openai.AsyncAPIResponse[Any]],
        address: str = "",
    ) -> JsonObject:
        """The object that the endpoint replies with. `address` is one that every endpoint with batches has."""
        raw = bytearray()

        def take(chunk: bytes) -> bool:
            raw.extend(chunk)
            return len(raw) <= _MAX_OBJECT_BYTES

        try:
            await self._receive(request, take)
        except BatchError as error:
            if not address or not error.is_gone:
                raise
            why = f"{self._endpoint.host} has no batch endpoints ({address}: {error.failure.why})"
            remedy = "Ask without --batch."
            raise BatchError(
                Failure(FailureScope.ENDPOINT, why, remedy=remedy), error.status
            ) from None
        try:
            told = json.loads(raw)
        except (ValueError, RecursionError):
            told = None
        if (
            not isinstance(told, dict)
            or "id" not in told
            and "data" not in told
        ):
            beginning = (
                for_openai.shown(raw[:1_000].decode("utf-8", "replace"))
                or "nothing"
            )
            raise BatchError(
                Failure(
                    FailureScope.TRANSIENT,
                    f"The endpoint's reply is not about a batch: {beginning}",
                )
            )
        return told

    async def _receive(
        self,
        request: AbstractAsyncContextManager[openai.AsyncAPIResponse[Any]],
        take: Callable[[bytes], bool],
    ) -> None:
        """Hand over the body of a reply until `take` returns False; the endpoint's time bounds each silence."""
        timeout_s = self._endpoint.timeout_s
        try:
            async with asyncio.timeout(timeout_s) as limit, request as response:
                async for chunk in response.iter_bytes():
                    limit.reschedule(
                        asyncio.get_running_loop().time() + timeout_s
                    )
                    if not take(chunk):
                        return
        except TimeoutError:
            raise BatchError(
                Failure(
                    FailureScope.SILENT,
                    f"The endpoint did not reply within {timeout_s:g} s",
                )
            ) from None
        except openai.APIStatusError as error:
            failure = self._of_status(error, {"stream": True})
            if isinstance(failure, UnsupportedParameter):
                failure = Failure(
                    FailureScope.ENDPOINT,
                    f"the endpoint refuses {failure.parameter}",
                )
            raise BatchError(failure, error.status_code) from None
        except (
            openai.APIConnectionError,
            httpx2.TransportError,
            aiohttp.ClientError,
            OSError,
        ) as error:
            raise BatchError(for_openai.of_connection(error)) from None
        except (
            openai.OpenAIError,
            httpx2.HTTPError,
            httpx2.InvalidURL,
            ValueError,
        ) as error:
            raise BatchError(
                Failure(
                    FailureScope.QUESTION,
                    f"The request failed: {for_openai.shown(str(error))}",
                )
            ) from None


def _batch(told: JsonObject) -> Batch:
    files = [told.get(name) for name in ("output_file_id", "error_file_id")]
    counts, errors = told.get("request_counts"), told.get("errors")
    n_ended = None
    if isinstance(counts, dict):
        ended = [counts.get(name) for name in ("completed", "failed")]
        n_ended = sum(n for n in ended if isinstance(n, int))
    listed = errors.get("data") if isinstance(errors, dict) else None
    said = [str(one.get("message")) for one in _objects(listed)]
    return Batch(
        batch=_identifier(told.get("id")),
        input_file=str(told.get("input_file_id")),
        status=for_openai.shown(str(told.get("status"))),
        files=tuple(_identifier(file) for file in files if file),
        n_ended=n_ended,
        why=for_openai.shown("; ".join(said[:3])),
    )


def _objects(listed: object) -> list[JsonObject]:
    """The objects of a list; nothing where an endpoint sends something else."""
    if not isinstance(listed, list):
        return []
    return [one for one in listed if isinstance(one, dict)]


def _identifier(told: object) -> str:
    """Raises BatchError for what cannot be one: it becomes part of addresses and is stored."""
    if (
        isinstance(told, str)
        and 0 < len(told) <= _MOST_ID
        and told.isascii()
        and told.isprintable()
    ):
        return told
    raise BatchError(
        Failure(
            FailureScope.ENDPOINT,
            "The endpoint names a batch or file by something that is not a name",
        )
    )


def _unsent(error: object) -> Failure:
    """Why a request of a batch was not sent to the model."""
    told = error if isinstance(error, dict) else {"message": error}
    words = ": ".join(
        str(told[name]) for name in ("code", "message") if told.get(name)
    )
    return Failure(
        FailureScope.QUESTION,
        for_openai.shown(words) or "the batch gives no reply and no reason",
    )
