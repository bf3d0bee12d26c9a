"""One request to an OpenAI-compatible endpoint, and its outcome.

Knows chat completions, and that endpoints differ in the parameters they accept: a refused one is left out from then on,
a limit of tokens that is too large is lowered, and an endpoint that only streams has to stream.
Refuses to retry by itself, and lets no exception out: exceptions hold the request, and the request holds the key.
"""

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

import aiohttp
import httpx2
import openai
from openai import AsyncOpenAI, AsyncStream, DefaultAioHttpClient

from crane_core.domain import JsonObject
from crane_core.llm import event_stream, output_limit, token_chances
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.keys import OPENAI, without_keys, without_secrets
from crane_core.llm.question import ModelReply, Question, UnsupportedParameter
from crane_core.llm.retrying import Failure, FailureScope, failure_of
from crane_core.prompts.reply_objects import IN_THOUGHT
from crane_core.prompts.tokens import count_tokens

MAX_REPLY_BYTES = 8_000_000
"""Longer replies are not read to the end and not used."""

MAX_STREAM_BYTES = 4 * MAX_REPLY_BYTES
"""The same reply, with some 250 bytes around each token."""

_MAX_ERROR_BYTES = 64_000
_MAX_PACKED_ERROR_BYTES = 2_000
"""A packed text can be a thousand times as long."""

_READ_CHARS = 4_000
_SHOWN_CHARS = 300
_CONNECT_S = 15.0
_KEPT_OPEN_S = 30.0
_NO_KEY = "none"
_ABOUT_PARAMETERS = frozenset({400, 422})
_ABOUT_FORM = frozenset({400, 404, 422, 500, 501})
"""Servers fail to build a grammar with a 500, and OpenRouter says with a 404 that no provider takes a parameter."""
_OPTIONAL = ("response_format", "temperature", "seed", token_chances.LOGPROBS)
_LIMITS = ("max_completion_tokens", "max_tokens")
_FORM = ("response_format",)
_PARAMETERS = (*_OPTIONAL, "stream_options", *_LIMITS)
_ALSO_CALLED = {
    "response_format": (
        "json_schema",
        "json schema",
        "structured output",
        "response format",
        "grammar",
        "guided decoding",
        "guided_json",
        "support the requested parameters",
        "handle the requested parameters",
    )
}
_ONLY_STREAMS = re.compile(
    r"only supports? (?:the )?stream|non[- ]?stream\w*[^.]{0,40}(?:not (?:supported|allowed|available)|unsupported)"
    r"|(?:must be set to false|not allowed) for non[- ]?stream|stream\w*[^.]{0,30}\b(?:is|are) required"
    r"|\bstream\W{0,3} (?:must|should|has to) be (?:set to )?true|(?:requires?|enable|set) (?:the )?.?stream",
    re.IGNORECASE,
)
_STREAM = "stream"
_STREAMING = {_STREAM: True, "stream_options": {"include_usage": True}}
_SPOKEN = ("text", "output_text")
_THOUGHTS = ("reasoning_content", "reasoning")
"""Members in which endpoints return thinking separately from the reply; only an object at its end may be an answer."""

_COST_HEADER = "x-litellm-response-cost"

_UNSENT = (
    aiohttp.ClientConnectorError,
    httpx2.ConnectError,
    httpx2.UnsupportedProtocol,
)


class _Received(NamedTuple):
    """An unchanged reply; `raw` is None if it is too long."""

    status: int
    raw: bytes | None
    usd: float | None


class OpenAIClient:
    """Connections to one endpoint, within one event loop, and the parameters that it refused."""

    def __init__(self, endpoint: Endpoint, n_connections: int) -> None:
        self._endpoint = endpoint
        self._left_out: list[str] = []
        self._streams = False
        self._output_limit = output_limit.OutputLimit(
            endpoint.max_output_tokens
        )
        # OpenAI's reasoning models refuse the old name of the limit, and some other servers know only that one.
        self._limit = _LIMITS[0] if endpoint.base_url == OPENAI else _LIMITS[1]
        # With aiohttp below it the package made nearly twice as many requests per second as with its default (128 at
        # once).
        self._http = DefaultAioHttpClient(
            limits=httpx2.Limits(
                max_connections=n_connections,
                max_keepalive_connections=n_connections,
                keepalive_expiry=_KEPT_OPEN_S,
            ),
            # Only the connection: the time of a whole request is bounded in `ask`, also if a byte a minute
            # comes.
            timeout=httpx2.Timeout(None, connect=_CONNECT_S),
            event_hooks={"response": [_bound_errors]},
            # A redirect would carry the key to an address that it is not configured for.
            follow_redirects=False,
            # A proxy of the environment leads away from this machine.
            trust_env=not endpoint.is_local,
        )
        self._openai = AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.key.reveal() if endpoint.key else _NO_KEY,
            # Retries are made in `attempts`, which knows the budget and makes all questions wait alike.
            max_retries=0,
            http_client=self._http,
        )
        if (
            endpoint.base_url != OPENAI
        ):  # organisation at OpenAI, which the package takes from the environment
            self._openai.organization = self._openai.project = (
                self._openai.admin_api_key
            ) = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._openai.close()

    @property
    def left_out(self) -> tuple[str, ...]:
        """Parameters that the endpoint refused so far."""
        return tuple(self._left_out)

    @property
    def has_limit(self) -> bool:
        """Whether replies have a limit of tokens."""
        return bool(self._limit)

    async def ask(
        self, question: Question
    ) -> ModelReply | Failure | UnsupportedParameter:
        """One request, within the endpoint's time."""
        body = self._body(question)
        try:
            async with asyncio.timeout(self._endpoint.timeout_s):
                reply = await self._send(body)
        # The model may have worked the whole time, and its provider may charge for that.
        except TimeoutError:
            why = f"no reply within {self._endpoint.timeout_s:g} s"
            return Failure(FailureScope.SILENT, why, may_cost=True)
        except openai.APIStatusError as error:
            return self._of_status(error, body)
        except (
            openai.APIConnectionError,
            httpx2.TransportError,
            aiohttp.ClientError,
            OSError,
        ) as error:
            return of_connection(error)
        except (
            openai.OpenAIError,
            httpx2.HTTPError,
            httpx2.InvalidURL,
            ValueError,
        ) as error:
            return Failure(
                FailureScope.QUESTION,
                f"the request failed: {shown(str(error))}",
                may_cost=True,
            )
        if reply.raw is None:
            return self._said(
                None,
                f"the reply has more than {MAX_REPLY_BYTES // 1_000_000} MB",
                {},
                usd=reply.usd,
            )
        return self._read(
            reply.status, reply.raw, reply.usd, question.chance_of
        )

    def _body(self, question: Question) -> JsonObject:
        body: JsonObject = {
            "model": self._endpoint.model,
            "messages": [{"role": "user", "content": question.text}],
            **self._endpoint.extra,
        }
        if question.schema is not None:
            body["response_format"] = _form(
                question.schema_name, question.schema
            )
        if self._endpoint.temperature is not None:
            body["temperature"] = self._endpoint.temperature
        if question.seed is not None:
            body["seed"] = question.seed
        if self._limit:
            # Counting takes milliseconds, and says nothing while the endpoint has not named a context.
            n_counted = (
                _n_tokens(question.text)
                if self._output_limit.context is not None
                else 0
            )
            body[self._limit] = self._output_limit.for_prompt(n_counted)
        if self._streams:
            body |= _STREAMING
        return {
            name: value
            for name, value in body.items()
            if name not in self._left_out
        }

    async def _send(self, body: JsonObject) -> _Received:
        """The reply; without its bytes if it is longer than allowed, and then the rest is not read.

        The plain `post` of the package: typed methods take three times its processor time, to check what is checked
        here anyway.
        """
        response: Any = await self._openai.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            body=body,
            stream=True,
            stream_cls=AsyncStream[Any],
        )
        received, usd = bytearray(), _usd(response.headers.get(_COST_HEADER))
        most = (
            MAX_STREAM_BYTES
            if event_stream.is_stream(response.headers.get("content-type", ""))
            else MAX_REPLY_BYTES
        )
        try:
            async for chunk in response.aiter_bytes():
                received += chunk
                if len(received) > most:
                    return _Received(response.status_code, None, usd)
        finally:
            await response.aclose()
        return _Received(response.status_code, bytes(received), usd)

    def _of_status(
        self, error: openai.APIStatusError, body: JsonObject
    ) -> Failure | UnsupportedParameter:
        message = _message(error)
        outcome: Failure | UnsupportedParameter | None = None
        is_about_parameters = error.status_code in _ABOUT_PARAMETERS
        if is_about_parameters:
            outcome = self._of_limits(error.status_code, message, body)
        if outcome is None and error.status_code in _ABOUT_FORM:
            # A 404 or 500 may mean much else, so only the answer's form is looked for in its words.
            names = _PARAMETERS if is_about_parameters else _FORM
            named = str(error.param or "")
            outcome = self._refused_parameter(names, body, named, message)
        if outcome is not None:
            return outcome
        code = " ".join(str(part) for part in (error.code, error.type) if part)
        return failure_of(
            error.status_code, code, shown(message), error.response.headers
        )

    def _of_limits(
        self, status: int, message: str, body: JsonObject
    ) -> Failure | UnsupportedParameter | None:
        """What an error says of the reply's length or of streaming; None if it is about neither."""
        # A limit that is too large is refused like a wrong parameter, but lowering it is enough.
        asked = body.get(self._limit)
        if asked is not None and output_limit.is_about_length(message):
            n_counted = _n_tokens(body["messages"][0]["content"])
            if self._output_limit.learn(message, asked, n_counted):
                return UnsupportedParameter(self._limit)
            why = f"status {status}: {shown(message)}"
            return Failure(FailureScope.QUESTION, why, is_of_text=True)
        if not body.get(_STREAM) and _ONLY_STREAMS.search(message):
            self._streams = True
            return UnsupportedParameter(_STREAM)
        return None

    def _refused_parameter(
        self, names: Sequence[str], body: JsonObject, named: str, message: str
    ) -> UnsupportedParameter | None:
        """Which of these parameters of this request an error refuses; it is left out from now on."""
        for name in names:
            if name in body and _is_about(name, named, message):
                if name in _LIMITS:
                    self._change_limit(name)
                elif name not in self._left_out:
                    self._left_out.append(name)
                return UnsupportedParameter(name)
        return None

    def _change_limit(self, refused: str) -> None:
        if self._limit == refused:
            others = [
                name
                for name in _LIMITS
                if name != refused and name not in self._left_out
            ]
            self._limit = others[0] if others else ""
        if refused not in self._left_out:
            self._left_out.append(refused)

    def _read(
        self, status: int, raw: bytes, usd: float | None, wanted: str | None
    ) -> ModelReply | Failure:
        """wanted: the member whose chance the question asks for."""
        try:
            reply = (
                event_stream.completion_of(raw)
                if event_stream.looks_like_stream(raw)
                else json.loads(raw)
            )
            choice = reply["choices"][0]
            message = choice["message"]
            text, refusal = _said_in(message), message.get("refusal")
            finish_reason, usage = _ended(reply, choice), reply.get("usage")
        except (
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
        ):
            return _of_malformed(status, raw)
        usage = usage if isinstance(usage, dict) else {}
        reason = (
            shown(finish_reason) if isinstance(finish_reason, str) else None
        )
        # A key that the prompt held, or that a server echoes, is not stored with the reply.
        if text:
            said = self._said(without_keys(text), None, usage, reason, usd=usd)
            return said._replace(chance=_chance(wanted, choice))
        # Some servers put all that a reasoning model says into its thinking; an object that ends it is the
        # answer, and is marked.
        thought = next(
            (_spoken(message[name]) for name in _THOUGHTS if message.get(name)),
            "",
        )
        if thought and not refusal and thought.rstrip().endswith(("}", "```")):
            return self._said(
                without_keys(IN_THOUGHT + thought), None, usage, reason, usd=usd
            )
        return self._said(
            None,
            _why_empty(refusal, reason, has_thought=bool(thought)),
            usage,
            reason,
            usd=usd,
        )

    def _said(
        self,
        text: str | None,
        trouble: str | None,
        usage: JsonObject,
        reason: str | None = None,
        *,
        usd: float | None,
    ) -> ModelReply:
        counts = [
            _count(usage.get(name))
            for name in ("prompt_tokens", "completion_tokens")
        ]
        return ModelReply(
            text=text,
            trouble=trouble,
            finish_reason=reason,
            input_tokens=counts[0],
            output_tokens=counts[1],
            left_out=self.left_out,
            usd=usd or _usd(usage.get("cost")),
        )


def _chance(wanted: str | None, choice: JsonObject) -> float | None:
    """What the endpoint tells of it; a strange form costs the chance, not the reply."""
    if wanted is None:
        return None
    try:
        return token_chances.chance_of(wanted, choice)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def _form(name: str, schema: JsonObject) -> JsonObject:
    """The form in which a reply is requested; endpoints refuse what describes the schema itself."""
    sent = {
        member: value
        for member, value in schema.items()
        if member not in ("$schema", "title")
    }
    form = {"name": name, "schema": sent, "strict": True}
    return {"type": "json_schema", "json_schema": form}


class _Bounded(httpx2.AsyncByteStream):
    """The beginning of a stream."""

    def __init__(self, stream: httpx2.AsyncByteStream, n_bytes: int) -> None:
        self._stream = stream
        self._n_bytes = n_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._n_bytes
        async for chunk in self._stream:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound_errors(response: httpx2.Response) -> None:
    """The package reads the whole body of an error, so it gets only the beginning."""
    if response.status_code >= 300 and isinstance(
        response.stream, httpx2.AsyncByteStream
    ):
        is_packed = "content-encoding" in response.headers
        response.stream = _Bounded(
            response.stream,
            _MAX_PACKED_ERROR_BYTES if is_packed else _MAX_ERROR_BYTES,
        )


def of_connection(error: Exception) -> Failure:
    """What a broken connection means: nothing was sent, or a request that may be charged was lost."""
    causes = list(_causes(error))
    why = shown(str(causes[-1])) or type(causes[-1]).__name__
    if any(isinstance(cause, _UNSENT) for cause in causes):
        return Failure(
            FailureScope.UNREACHABLE, f"The endpoint cannot be reached: {why}"
        )
    return Failure(
        FailureScope.TRANSIENT, f"the connection broke: {why}", may_cost=True
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes, the first cause last."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _of_malformed(status: int, raw: bytes) -> Failure:
    """Half of a reply, or one that violates the protocol. Some endpoints report errors with status 200."""
    try:
        error = (
            event_stream.completion_of(raw)
            if event_stream.looks_like_stream(raw)
            else json.loads(raw)
        )["error"]
    except (ValueError, LookupError, TypeError, RecursionError):
        beginning = shown(raw[: 4 * _SHOWN_CHARS].decode("utf-8", "replace"))
        return Failure(
            FailureScope.TRANSIENT,
            f"the reply is not a chat completion: {beginning or 'it is empty'}",
            may_cost=True,
        )
    told = error if isinstance(error, dict) else {"message": error}
    code = told.get("code")
    # OpenRouter and others put the true status into the error of a reply with status 200.
    status = code if isinstance(code, int) and 400 <= code < 600 else status
    message = shown(str(told.get("message")))
    if status >= 400:
        return failure_of(status, str(code), message, {})
    return Failure(
        FailureScope.TRANSIENT,
        f"the endpoint reports an error: {message}",
        may_cost=True,
    )


def _n_tokens(text: str) -> int:
    return count_tokens(text).n


def _said_in(message: JsonObject) -> str:
    """What a message says, the arguments of functions that the model calls included.

    Servers with tool parsers take the requested object out of the text, and return it as a call.
    """
    calls = message.get("tool_calls")
    called = (
        [call.get("function") for call in calls if isinstance(call, dict)]
        if isinstance(calls, list)
        else []
    )
    given = [
        _arguments(function)
        for function in (*called, message.get("function_call"))
    ]
    return "\n".join(filter(None, [_spoken(message.get("content")), *given]))


def _arguments(function: object) -> str:
    """JSON of a call's arguments; servers send it as a string, some as an object."""
    arguments = (
        function.get("arguments") if isinstance(function, dict) else None
    )
    if isinstance(arguments, dict):
        return json.dumps(arguments, ensure_ascii=False)
    return arguments if isinstance(arguments, str) else ""


def _spoken(content: object) -> str:
    """The text of a message, or of those of its parts that are neither thinking nor pictures."""
    if isinstance(content, list):
        parts = [
            part.get("text")
            for part in content
            if isinstance(part, dict) and part.get("type") in _SPOKEN
        ]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _ended(reply: JsonObject, choice: JsonObject) -> object:
    """Why the reply ended; some gateways report an incomplete one in the form of another protocol."""
    if reply.get("status") != "incomplete":
        return choice.get("finish_reason")
    details = reply.get("incomplete_details")
    return (
        details.get("reason") if isinstance(details, dict) else None
    ) or "incomplete"


def _why_empty(
    refusal: object, finish_reason: str | None, *, has_thought: bool
) -> str:
    if isinstance(refusal, str) and refusal:
        return f"the model refuses: {shown(refusal)}"
    if finish_reason == "content_filter":
        return "the reply was held back by a content filter"
    if finish_reason in ("length", "max_output_tokens"):
        return "the token limit was reached before the reply began"
    return (
        "the model produced reasoning but no reply"
        if has_thought
        else "the reply is empty"
    )


def _message(error: openai.APIStatusError) -> str:
    """The endpoint's message, from any form of error."""
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return str(body["message"])
    if (
        isinstance(body, list)
        and body
        and isinstance(body[0], dict)
        and isinstance(body[0].get("error"), dict)
    ):
        return str(body[0]["error"].get("message"))
    return error.response.text


def _is_about(name: str, named: str, message: str) -> bool:
    """Whether an error names a parameter: in its `param` member, else in its message."""
    if named and named != "None":
        return named == name or named.startswith(f"{name}.")
    words = message.lower()
    return bool(re.search(rf"\b{name}\b", words)) or any(
        word in words for word in _ALSO_CALLED.get(name, ())
    )


def _count(number: object) -> int | None:
    return (
        number
        if isinstance(number, int)
        and not isinstance(number, bool)
        and number >= 0
        else None
    )


def _usd(reported: object) -> float | None:
    """A cost that an endpoint reports; None for 0, which gateways also report for models without a known price."""
    try:
        usd = (
            float(reported) if isinstance(reported, (str, int, float)) else 0.0
        )
    except ValueError:
        return None
    return usd if math.isfinite(usd) and usd > 0 else None


def shown(text: str) -> str:
    """One line without secrets, of bounded length. Keys are removed before the cut, so that no part of one remains."""
    line = " ".join(without_secrets(without_keys(text)[:_READ_CHARS]).split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]} ..."
