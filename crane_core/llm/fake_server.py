"""A fake model: an OpenAI-compatible server on loopback whose answers and failures are planned and seeded.

    python -m crane_core.llm.fake_server --port 8900 --latency-ms 200 --every error=10

Knows the form of a chat completion and the ways in which real endpoints fail. Refuses to listen on other interfaces.
"""

import argparse
import asyncio
import hashlib
import json
import re
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Any

from aiohttp import web

from crane_core.domain import JsonObject

HOST = "127.0.0.1"
MODEL = "fake"
_MAX_REQUEST_BYTES = 64_000_000
_HUGE_BYTES = 10_000_000
_CHUNK = b"a" * 65_536
_DRIP_S = 60.0
_START_S = 30.0
_STOP_S = 10.0
_CHARS_PER_TOKEN = 4


class ServerFault(StrEnum):
    """A way in which a request goes wrong."""

    ERROR = "error"
    """Status 500."""
    HANG = "hang"
    """The connection stays open without a reply."""
    DRIP = "drip"
    """A byte a minute."""
    CUT = "cut"
    """The connection ends in the middle of the reply."""
    HALF_BODY = "half-body"
    """The JSON of the protocol ends in the middle of the reply."""
    HUGE = "huge"
    """Ten megabytes of reasoning."""
    HALF_JSON = "half-json"
    """The model's own JSON is cut off by the limit of tokens."""
    WRONG_JSON = "wrong-json"
    """JSON of another form."""
    PROSE = "prose"
    """Words around the JSON."""
    FENCE = "fence"
    """The JSON in a code fence."""
    THINKING = "thinking"
    """Thinking that quotes another answer, then the JSON."""
    ENDLESS_THINKING = "endless-thinking"
    """Thinking that quotes an answer and has no end."""
    REFUSAL = "refusal"
    """The model declines."""
    EMPTY = "empty"
    """A reply without a character."""


_LOST = (ServerFault.CUT, ServerFault.HALF_BODY, ServerFault.HUGE)
"""Faults after which the same question must get the same answer."""


@dataclass(frozen=True, slots=True)
class FakePlan:
    """The server's behaviour.

    Faults hit every n-th request; the first that matches is used. Of every `storm_every` requests the last
    `storm_length` get status 429 with `retry_after_s`. Latency is `latency_s` and a seeded share of `latency_spread_s`.
    `rejects` names parameters that are refused with status 400, `models` the served ones (none: any), `key` the only
    valid one. `echoes_key` puts the received key into every error, as careless endpoints do. `reports_usd` is the cost
    that is reported with each reply, as gateways do. `replies` take turns as the text of every reply.
    """

    seed: int = 0
    crash_probability: float = 0.5
    latency_s: float = 0.0
    latency_spread_s: float = 0.0
    faults: Mapping[ServerFault, int] = field(default_factory=dict)
    storm_every: int = 0
    storm_length: int = 0
    retry_after_s: float = 0.1
    rejects: frozenset[str] = frozenset()
    models: tuple[str, ...] = ()
    key: str | None = None
    echoes_key: bool = False
    counts_tokens: bool = True
    reports_usd: float | None = None
    has_quota: bool = True
    replies: tuple[str, ...] = ()


class FakeModel:
    """A running plan. `requests` counts the requests, `n_at_once` is the highest number answered at the same time."""

    def __init__(self, plan: FakePlan) -> None:
        self.plan = plan
        self.requests: Counter[str] = Counter()
        self.n_at_once = 0
        self._n_now = 0
        self._n_requests = 0
        self._occurrences: Counter[str] = Counter()

    def application(self) -> web.Application:
        """The server's two addresses, as a web application."""
        app = web.Application(client_max_size=_MAX_REQUEST_BYTES)
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_post("/v1/chat/completions", self._complete)
        return app

    async def _list_models(self, _: web.Request) -> web.Response:
        models = [
            {"id": name, "object": "model"}
            for name in self.plan.models or (MODEL,)
        ]
        return web.json_response({"object": "list", "data": models})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self._n_now += 1
        self.n_at_once = max(self.n_at_once, self._n_now)
        try:
            return await self._respond(request)
        finally:
            self._n_now -= 1

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        self._n_requests += 1
        number = self._n_requests
        asked = json.loads(await request.read())
        refusal = self._refused(asked, request, number)
        if refusal is not None:
            return refusal
        fault = self._fault(number)
        self.requests[fault or "answered"] += 1
        await self._wait(number)
        if fault is ServerFault.ERROR:
            return self._error(
                request,
                500,
                "The server had an error while processing your request.",
            )
        if fault in (ServerFault.HANG, ServerFault.DRIP):
            return await self._never_ends(
                request, n_bytes=int(fault is ServerFault.DRIP)
            )
        return await self._reply(request, asked, fault)

    def _refused(
        self, asked: JsonObject, request: web.Request, number: int
    ) -> web.Response | None:
        plan = self.plan
        if (
            plan.key is not None
            and request.headers.get("Authorization") != f"Bearer {plan.key}"
        ):
            return self._error(
                request,
                401,
                "Incorrect API key provided.",
                code="invalid_api_key",
            )
        if plan.models and asked["model"] not in plan.models:
            return self._error(
                request,
                404,
                f"The model {asked['model']} does not exist.",
                code="model_not_found",
            )
        if not plan.has_quota:
            return self._error(
                request,
                429,
                "You exceeded your current quota.",
                code="insufficient_quota",
            )
        # One at a time, as real endpoints refuse: a client has to learn one name after the other.
        for name in sorted(plan.rejects & asked.keys()):
            return self._error(
                request, 400, f"Unsupported parameter: '{name}'.", param=name
            )
        if (
            plan.storm_every
            and (number - 1) % plan.storm_every
            >= plan.storm_every - plan.storm_length
        ):
            return self._error(
                request, 429, "Rate limit reached.", code="rate_limit_exceeded"
            )
        return None

    def _error(
        self,
        request: web.Request,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
    ) -> web.Response:
        self.requests[str(status)] += 1
        if self.plan.echoes_key:
            message += f" You sent {request.headers.get('Authorization')}."
        error = {
            "message": message,
            "type": "error",
            "param": param,
            "code": code,
        }
        headers = (
            {"Retry-After-Ms": str(round(self.plan.retry_after_s * 1e3))}
            if status == 429
            else {}
        )
        return web.json_response(
            {"error": error}, status=status, headers=headers
        )

    def _fault(self, number: int) -> ServerFault | None:
        return next(
            (
                fault
                for fault, every in self.plan.faults.items()
                if number % every == 0
            ),
            None,
        )

    async def _wait(self, number: int) -> None:
        spread = self.plan.latency_spread_s
        latency_s = self.plan.latency_s + (
            Random(f"{self.plan.seed} {number}").random() * spread
            if spread
            else 0.0
        )
        if latency_s:
            await asyncio.sleep(latency_s)

    async def _never_ends(
        self, request: web.Request, *, n_bytes: int
    ) -> web.StreamResponse:
        response = web.StreamResponse()
        if n_bytes:
            await response.prepare(request)
        while True:
            await response.write(b" " * n_bytes) if n_bytes else None
            await asyncio.sleep(_DRIP_S)

    async def _reply(
        self, request: web.Request, asked: JsonObject, fault: ServerFault | None
    ) -> web.StreamResponse:
        body = json.dumps(self._completion(asked, fault)).encode()
        if fault is ServerFault.HUGE:
            return await self._send_huge(request, body)
        if fault is ServerFault.CUT:
            response = web.StreamResponse(
                headers={"Content-Length": str(len(body))}
            )
            await response.prepare(request)
            await response.write(body[: len(body) // 2])
            if request.transport is not None:
                request.transport.close()
            return response
        half = fault is ServerFault.HALF_BODY
        return web.Response(
            body=body[: len(body) // 2] if half else body,
            content_type="application/json",
        )

    async def _send_huge(
        self, request: web.Request, body: bytes
    ) -> web.StreamResponse:
        """The reasoning is made longer where it begins, in chunks, so that the server stays small."""
        before, _, after = body.partition(b"Made up")
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(before)
        for _ in range(_HUGE_BYTES // len(_CHUNK)):
            await response.write(_CHUNK)
        await response.write(after)
        return response

    def _completion(
        self, asked: JsonObject, fault: ServerFault | None
    ) -> JsonObject:
        prompt = "\n".join(
            str(message["content"]) for message in asked["messages"]
        )
        content = self._content(asked, prompt, is_lost=fault in _LOST)
        message: JsonObject = {
            "role": "assistant",
            "content": _misshaped(content, fault),
            "refusal": None,
        }
        if fault is ServerFault.REFUSAL:
            message |= {"content": None, "refusal": "I cannot help with that."}
        completion = {
            "id": f"fake-{self._n_requests}",
            "object": "chat.completion",
            "created": 0,
            "model": asked["model"],
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "length"
                    if fault is ServerFault.HALF_JSON
                    else "stop",
                }
            ],
        }
        if asked.get("logprobs") and fault is None:
            completion["choices"][0]["logprobs"] = _token_chances(content)
        if self.plan.counts_tokens:
            completion["usage"] = _usage(prompt, content)
        if self.plan.reports_usd is not None:
            completion.setdefault("usage", {})["cost"] = self.plan.reports_usd
        return completion

    def _content(self, asked: JsonObject, prompt: str, *, is_lost: bool) -> str:
        """A function of seed, model, prompt, and the number of earlier answers to the prompt."""
        digest = hashlib.sha256(
            f"{asked['model']}\0{prompt}".encode("utf-8", "backslashreplace")
        ).hexdigest()
        random = Random(
            f"{self.plan.seed} {digest} {self._occurrences[digest]}"
        )
        # A repeated question gets another answer, as from a model, but one that was lost on its way is sent
        # again unchanged.
        self._occurrences[digest] += not is_lost
        if self.plan.replies:
            return self.plan.replies[self._n_requests % len(self.plan.replies)]
        members = _members_asked_for(asked)
        if members and "detection" not in members:
            return json.dumps(
                {
                    name: _made_up(member, random)
                    for name, member in members.items()
                }
            )
        crashes = random.random() < self.plan.crash_probability
        outcome = "it raises an exception" if crashes else "nothing fails"
        reasoning = f"Made up by the fake model, number {random.randrange(10_000)}: {outcome}."
        reply = {"reasoning": reasoning, "detection": crashes}
        # Drawn last, so that a seed has the same detections whether or not it is asked for.
        if "confidence" in members:
            reply["confidence"] = random.randrange(50, 101)
        return json.dumps(reply)


def _token_chances(content: str) -> JsonObject:
    """Tokens of a made-up model: words with the space before them; how likely one was depends on its length."""
    tokens = re.findall(r"\s*\w+|\W", content)
    return {
        "content": [
            {
                "token": token,
                "logprob": -float(len(token.strip()) % 3) / 4,
                "bytes": list(token.encode()),
                "top_logprobs": [],
            }
            for token in tokens
        ]
    }


def _members_asked_for(asked: JsonObject) -> JsonObject:
    """Members of the JSON Schema of the reply; none if there is no schema."""
    form = asked.get("response_format") or {}
    members: JsonObject = (
        form.get("json_schema", {}).get("schema", {}).get("properties", {})
    )
    return members


def _made_up(member: JsonObject, random: Random) -> Any:
    """A valid value of such a member: one of its words, else a boolean or a string."""
    if "enum" in member:
        return random.choice(member["enum"])
    if member.get("type") == "boolean":
        return random.random() < 0.5
    return f"Made up by the fake model, number {random.randrange(10_000)}."


def _misshaped(content: str, fault: ServerFault | None) -> str:
    if fault is ServerFault.HALF_JSON:
        return content[: len(content) // 2]
    if fault is ServerFault.WRONG_JSON:
        return json.dumps({"verdict": "crash", "confidence": 0.9})
    if fault is ServerFault.PROSE:
        return (
            f"Let me think about d = {{'a': 1}}.\n{content}\nI am sure of it."
        )
    if fault is ServerFault.FENCE:
        return f"```json\n{content}\n```"
    if fault in (ServerFault.THINKING, ServerFault.ENDLESS_THINKING):
        opposite = json.dumps(
            {
                "reasoning": "or is it so?",
                "detection": '"detection": false' in content,
            }
        )
        end = f"</think>\n{content}" if fault is ServerFault.THINKING else ""
        return f"<think>I could say {opposite}. Let me see. {end}"
    return "" if fault is ServerFault.EMPTY else content


def _usage(prompt: str, content: str) -> dict[str, int]:
    n_in, n_out = (
        1 + len(text) // _CHARS_PER_TOKEN for text in (prompt, content)
    )
    return {
        "prompt_tokens": n_in,
        "completion_tokens": n_out,
        "total_tokens": n_in + n_out,
    }


@contextmanager
def fake_server(plan: FakePlan | FakeModel) -> Iterator[str]:
    """Serve from a thread of this process until the body ends; yields the base address for a client."""
    model = plan if isinstance(plan, FakeModel) else FakeModel(plan)
    with socket.create_server((HOST, 0)) as listening:
        loop = asyncio.new_event_loop()
        stopping, is_up = asyncio.Event(), threading.Event()
        serving = _serve(model, listening, stopping, is_up)
        thread = threading.Thread(
            target=_run, args=(loop, serving), name="fake-server", daemon=True
        )
        thread.start()
        try:
            if not is_up.wait(_START_S):
                raise RuntimeError("the fake server did not come up")
            yield f"http://{HOST}:{listening.getsockname()[1]}/v1"
        finally:
            loop.call_soon_threadsafe(stopping.set)
            thread.join(_STOP_S)
            if thread.is_alive():
                raise RuntimeError("the fake server did not stop")


def _run(loop: asyncio.AbstractEventLoop, serving: Any) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(serving)


async def _serve(
    model: FakeModel,
    listening: socket.socket,
    stopping: asyncio.Event,
    is_up: threading.Event | None = None,
) -> None:
    runner = web.AppRunner(
        model.application(),
        access_log=None,
        # A client that gives up ends its request here, too; otherwise hanging requests would keep the server
        # from stopping.
        handler_cancellation=True,
        shutdown_timeout=0.1,
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listening, backlog=1024).start()
        if is_up is not None:
            is_up.set()
        await stopping.wait()
    finally:
        await runner.cleanup()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the process is ended, after printing the base address."""
    chosen = _parser().parse_args(arguments)
    plan = FakePlan(
        seed=chosen.seed,
        crash_probability=chosen.crash_probability,
        latency_s=chosen.latency_ms / 1e3,
        latency_spread_s=chosen.latency_spread_ms / 1e3,
        faults=dict(chosen.every),
        storm_every=chosen.storm_every,
        storm_length=chosen.storm_length,
        retry_after_s=chosen.retry_after_ms / 1e3,
    )
    with socket.create_server((HOST, chosen.port)) as listening:
        sys.stdout.write(f"http://{HOST}:{listening.getsockname()[1]}/v1\n")
        sys.stdout.flush()
        try:
            asyncio.run(_serve(FakeModel(plan), listening, asyncio.Event()))
        except KeyboardInterrupt:
            sys.stdout.write("stopped\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m crane_core.llm.fake_server",
        description="An OpenAI-compatible server on loopback with made-up answers.",
        epilog="example: python -m crane_core.llm.fake_server --port 8900 --latency-ms 200 --every error=10",
    )
    parser.add_argument(
        "--port", type=int, default=0, help="0 takes a free one (default)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--crash-probability", type=float, default=0.5)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--latency-spread-ms", type=float, default=0.0)
    parser.add_argument(
        "--storm-every",
        type=int,
        default=0,
        metavar="N",
        help="requests from one 429 storm to the next",
    )
    parser.add_argument(
        "--storm-length",
        type=int,
        default=0,
        metavar="N",
        help="requests that a storm refuses",
    )
    parser.add_argument("--retry-after-ms", type=float, default=100.0)
    parser.add_argument(
        "--every",
        type=_fault_and_number,
        action="append",
        default=[],
        metavar="FAULT=N",
        help=f"a fault that strikes every N-th request: {', '.join(ServerFault)}",
    )
    return parser


def _fault_and_number(text: str) -> tuple[ServerFault, int]:
    name, _, number = text.partition("=")
    return ServerFault(name), max(1, int(number))


if __name__ == "__main__":
    main()
