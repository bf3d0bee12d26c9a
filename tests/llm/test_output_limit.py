"""What servers say of a reply that would be too long, and the limit that fits; a server of which it is asked."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.limiter import Limiter
from crane_core.llm.output_limit import LEAST, OutputLimit, is_about_length
from crane_core.llm.question import Answer, Question
from crane_core.llm.retrying import RetryPatience

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
    "max_tokens is too large: 16384. This model supports at most 4096 completion tokens, "
    "whereas you provided 16384."
)
LLAMA = "the request exceeds the available context size. try increasing the context size or enable context shift"
LLAMA_LATER = "request (116 tokens) exceeds the available context size (4096 tokens), try increasing it"
VLLM_AT_LEAST = (
    "This model's maximum context length is 4096 tokens. However, you requested 16384 output tokens and your prompt "
    "contains at least 1 input tokens, for a total of at least 16385 tokens."
)
TGI = "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 116 `inputs` tokens and 16384 `max_new_tokens`"
SGLANG = (
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 16500 "
    "tokens: 116 tokens from the input messages and 16384 tokens for the completion."
)
WINDOW = "This model has a context window of 4,096 tokens. Shorten the request."


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        *(
            (each, 3_964)
            for each in (VLLM, VLLM_LATER, LITELLM, TGI, SGLANG, LLAMA_LATER)
        ),
        (OPENAI, 4_096),
        # Where the endpoint does not count the prompt, our own count decides: 100 tokens and a tenth.
        *((each, 4_096 - 110 - 16) for each in (VLLM_AT_LEAST, WINDOW)),
    ],
)
def test_the_limit_that_a_message_leaves_room_for(
    message: str, limit: int
) -> None:
    allowed = OutputLimit(16_384)
    assert is_about_length(message)
    assert allowed.learn(message, 16_384, 100)
    assert allowed.for_prompt(100) == limit


@pytest.mark.parametrize("message", [LLAMA, "no such model"])
def test_without_a_number_no_limit_is_guessed(message: str) -> None:
    allowed = OutputLimit(16_384)
    assert not allowed.learn(message, 16_384, 100)
    assert allowed.for_prompt(100) == 16_384


def test_a_question_that_fills_the_context_leaves_none() -> None:
    full = VLLM.replace("116 in the messages", "4090 in the messages")
    assert is_about_length(full)
    assert not OutputLimit(16_384).learn(full, 16_384, 100)
    assert not OutputLimit(4_096).learn(OPENAI, 4_096, 100)


def test_a_long_prompt_takes_no_room_from_a_short_one() -> None:
    allowed = OutputLimit(16_384)
    assert allowed.learn(
        VLLM.replace("116 in the messages", "3900 in the messages"),
        16_384,
        3_545,
    )
    assert allowed.for_prompt(3_545) == 4_096 - 3_900 - 16
    assert allowed.for_prompt(100) == 4_096 - 110 - 16


def test_a_count_that_is_too_low_is_corrected_until_the_reply_has_no_room() -> (
    None
):
    allowed, limit = OutputLimit(16_384), 16_384
    tried = []
    while allowed.learn(WINDOW, limit, 1_000):
        limit = allowed.for_prompt(1_000)
        tried.append(limit)
    assert tried[0] == 4_096 - 1_100 - 16
    assert tried == sorted(set(tried), reverse=True)
    assert min(tried) >= LEAST
    assert len(tried) < 8


class Small(BaseHTTPRequestHandler):
    """A server with a context of 4,096 tokens, of which every question takes 116."""

    limits: list[int]
    context = 4_096

    def do_POST(self) -> None:
        asked = json.loads(
            self.rfile.read(int(self.headers["Content-Length"]))
        )["max_tokens"]
        self.limits.append(asked)
        if asked + 116 > self.context:
            self._send(
                400,
                {
                    "error": {
                        "message": VLLM.replace("4096", str(self.context)),
                        "type": "BadRequestError",
                    }
                },
            )
        else:
            self._send(
                200,
                {
                    "choices": [
                        {"message": {"content": "a"}, "finish_reason": "stop"}
                    ]
                },
            )

    def _send(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("context", "text", "limits"),
    [
        (4_096, "a", [16_384, 3_964, 3_964, 3_964]),
        (100, None, [16_384, LEAST, LEAST]),
    ],
)
def test_the_limit_is_lowered_once_and_the_job_goes_on(
    context: int, text: str | None, limits: list[int]
) -> None:
    handler = type("Handler", (Small,), {"limits": [], "context": context})
    answers: list[Answer] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            ask_all(
                [Question(key, "q") for key in range(3)],
                Endpoint(
                    "m", f"http://127.0.0.1:{server.server_address[1]}/v1"
                ),
                on_answer=answers.append,
                patience=RetryPatience(max_attempts=2, first_s=0.01),
                limiter=Limiter(),
                concurrency=1,
            )
        finally:
            server.shutdown()
            thread.join()
    assert [answer.text for answer in answers] == [text] * 3
    assert handler.limits == limits
    assert text is not None or all(
        "context length" in (answer.trouble or "") for answer in answers
    )
