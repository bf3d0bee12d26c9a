"""A server on loopback that answers each request as a test says, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from crane_core.errors import DetectorError
from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.limiter import Limiter
from crane_core.llm.question import Answer, Question
from crane_core.llm.retrying import RetryPatience
from crane_core.prompts.reply import reply_schema
from tests.patience import PATIENCE_S

VERDICT = '{"reasoning": "so", "detection": true}'


class Sent(NamedTuple):
    """A status, a body and its content type; no status: nothing is ever sent."""

    status: int | None
    body: bytes = b""
    kind: str = "application/json"


class ScriptedEnd(NamedTuple):
    """What a server was asked, the answers, and the error that ended the asking."""

    asked: list[dict[str, Any]]
    answers: list[Answer]
    error: DetectorError | None


def error(status: int, message: str, **members: Any) -> Sent:
    """An error in OpenAI's form."""
    return Sent(
        status, json.dumps({"error": {"message": message, **members}}).encode()
    )


def whole(text: str = VERDICT) -> Sent:
    """A completion."""
    choice = {
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return Sent(
        200,
        json.dumps(
            {
                "choices": [choice],
                "usage": {"prompt_tokens": 7, "completion_tokens": 3},
            }
        ).encode(),
    )


def send(handler: BaseHTTPRequestHandler, sent: Sent) -> None:
    """Answer a request, with a status."""
    assert sent.status is not None
    handler.send_response(sent.status)
    handler.send_header("Content-Type", sent.kind)
    handler.send_header("Content-Length", str(len(sent.body)))
    handler.end_headers()
    handler.wfile.write(sent.body)


@contextmanager
def scripted(
    script: Callable[[int, dict[str, Any]], Sent], asked: list[dict[str, Any]]
) -> Iterator[str]:
    """Serve until the body ends; `script` gets the number of the request, from 1, and its body."""
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(
                self.rfile.read(int(self.headers["Content-Length"]))
            )
            asked.append(body)
            sent = script(len(asked), body)
            if sent.status is None:
                closing.wait()
                return
            send(self, sent)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            closing.set()
            server.shutdown()
            thread.join()


def outcome(
    script: Callable[[int, dict[str, Any]], Sent],
    n: int = 60,
    *,
    concurrency: int = 8,
    timeout_s: float = PATIENCE_S,
) -> ScriptedEnd:
    """Ask `n` questions of such a server, by a schema, with short pauses."""
    asked: list[dict[str, Any]] = []
    answers: list[Answer] = []
    with scripted(script, asked) as url:
        try:
            ask_all(
                [
                    Question(key, f"question {key}", reply_schema())
                    for key in range(n)
                ],
                Endpoint("gpt-9", url, timeout_s=timeout_s),
                on_answer=answers.append,
                patience=RetryPatience(first_s=0.01, longest_s=0.02),
                limiter=Limiter(),
                concurrency=concurrency,
            )
        except DetectorError as raised:
            return ScriptedEnd(asked, answers, raised)
    return ScriptedEnd(asked, answers, None)
