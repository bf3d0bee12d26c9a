"""What servers say of a reply that would be too long, and the limit that fits; a server of which it is asked."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.limiter import Limiter
from crane_core.llm.output_limit import fitting, is_about_length
from crane_core.llm.question import Answer, Question
from crane_core.llm.retrying import Patience

VLLM = (
    "This model's maximum context length is 4096 tokens. However, you requested 16500 tokens (116 in the messages, "
    "16384 in the completion). Please reduce the length of the messages or completion."
)
VLLM_LATER = (
    "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 4096 tokens "
    "and your request has 116 input tokens (16384 > 4096 - 116)."
)
LITELLM = f"litellm.BadRequestError: ContextWindowExceededError: OpenAIException - {VLLM}"
OPENAI = (
    "max_tokens is too large: 16384. This model supports at most 4096 completion tokens, whereas you provided 16384."
)
LLAMA = "the request exceeds the available context size. try increasing the context size or enable context shift"


@pytest.mark.parametrize(
    ("message", "limit"),
    [(VLLM, 3964), (VLLM_LATER, 3964), (LITELLM, 3964), (OPENAI, 4096), (LLAMA, None), ("no such model", None)],
)
def test_the_limit_that_a_message_leaves_room_for(message: str, limit: int | None) -> None:
    assert fitting(message, 16_384) == limit


def test_a_question_that_fills_the_context_leaves_none() -> None:
    full = VLLM.replace("116 in the messages", "4090 in the messages")
    assert (fitting(full, 16_384), is_about_length(full)) == (None, True)
    assert fitting(OPENAI, 4_096) is None


class Small(BaseHTTPRequestHandler):
    """A server with a context of 4,096 tokens, of which every question takes 116."""

    limits: list[int]
    context = 4_096

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["max_tokens"]
        self.limits.append(asked)
        if asked + 116 > self.context:
            self._send(400, {"error": {"message": VLLM.replace("4096", str(self.context)), "type": "BadRequestError"}})
        else:
            self._send(200, {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]})

    def _send(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("context", "text", "limits"), [(4_096, "a", [16_384, 3_964, 3_964, 3_964]), (100, None, [16_384] * 3)]
)
def test_the_limit_is_lowered_once_and_the_job_goes_on(context: int, text: str | None, limits: list[int]) -> None:
    handler = type("Handler", (Small,), {"limits": [], "context": context})
    answers: list[Answer] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            ask_all(
                [Question(key, "q") for key in range(3)],
                Endpoint("m", f"http://127.0.0.1:{server.server_address[1]}/v1"),
                on_answer=answers.append,
                patience=Patience(max_attempts=2, first_s=0.01),
                limiter=Limiter(),
                concurrency=1,
            )
        finally:
            server.shutdown()
            thread.join()
    assert [answer.text for answer in answers] == [text] * 3
    assert handler.limits == limits
    assert text is not None or all("context length" in (answer.trouble or "") for answer in answers)
