"""Endpoints that speak the protocol badly or not at all: sent byte for byte by a bare socket."""

from __future__ import annotations

import gzip
import json
import socketserver
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crane_core.errors import DetectorError
from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.keys import Secret
from crane_core.llm.limiter import Limiter
from crane_core.llm.question import Answer, Question
from crane_core.llm.retrying import RetryPatience
from crane_core.prompts.reply import read_reply
from crane_core.prompts.reply_objects import IN_THOUGHT
from tests.patience import PATIENCE_S

KEY = "key-of-odd-endpoints"


def http(status: str, body: bytes, *headers: str) -> bytes:
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *headers,
        "",
        "",
    ]
    return "\r\n".join(lines).encode() + body


def completion(**message: Any) -> bytes:
    return json.dumps(
        {"choices": [{"message": message, "finish_reason": "stop"}]}
    ).encode()


@contextmanager
def bare_server(answer: bytes) -> Iterator[str]:
    """Reads what has come and sends `answer`, to everyone."""

    class OddHandler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1 << 20)
            try:
                self.request.sendall(answer)
            except ConnectionError:
                self.server.n_hung_up += 1  # type: ignore[attr-defined]

    with socketserver.ThreadingTCPServer(
        ("127.0.0.1", 0), OddHandler
    ) as server:
        server.n_hung_up = 0  # type: ignore[attr-defined]
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


def asked(answer: bytes) -> Answer:
    answers: list[Answer] = []
    with bare_server(answer) as url:
        ask_all(
            [Question(1, "q")],
            Endpoint("m", url, Secret(KEY), timeout_s=PATIENCE_S),
            on_answer=answers.append,
            patience=RetryPatience(max_attempts=2, first_s=0.01),
            limiter=Limiter(),
        )
    [told] = answers
    return told


@pytest.mark.parametrize(
    ("answer", "trouble", "n_requests"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the connection broke", 2),
        (b"", "the connection broke", 2),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{",
            "the connection broke",
            2,
        ),
        (
            http("200 OK", b"<html>login</html>"),
            "the reply is not a chat completion: <html>login</html>",
            2,
        ),
        (
            http("200 OK", b""),
            "the reply is not a chat completion: it is empty",
            2,
        ),
        (
            http("200 OK", b"[" * 100_000),
            "the reply is not a chat completion",
            2,
        ),
        (
            http("200 OK", b'{"choices": []}'),
            "the reply is not a chat completion",
            2,
        ),
        (
            http("200 OK", b'{"choices": [{"message": null}]}'),
            "the reply is not a chat completion",
            2,
        ),
        (
            http("200 OK", b'{"choices": 7}'),
            "the reply is not a chat completion",
            2,
        ),
        (
            http("200 OK", completion(content=["a", "list"])),
            "the reply is empty",
            1,
        ),
        (
            http("200 OK", completion(refusal="No.")),
            "the model refuses: No.",
            1,
        ),
        (
            http(
                "200 OK", b'{"error": {"message": "overloaded", "code": 502}}'
            ),
            "status 502: overloaded",
            2,
        ),
        (
            http("200 OK", b'{"error": "out of memory"}'),
            "the endpoint reports an error: out of memory",
            2,
        ),
        (
            http(
                "400 Bad Request", b'[{"error": {"message": "no such schema"}}]'
            ),
            "status 400: no such schema",
            1,
        ),
        (http("400 Bad Request", b"\xff\xfe"), "status 400: ", 1),
        (http("500 Oops", b"e" * 5_000_000), "status 500: eeeee", 2),
        (http("418 Teapot", b""), "status 418", 1),
        (http("200 OK", b"not gzip", "Content-Encoding: gzip"), "", 1),
    ],
)
def test_what_is_no_reply_is_a_trouble_in_words(
    answer: bytes, trouble: str, n_requests: int
) -> None:
    told = asked(answer)
    assert told.text is None
    assert trouble in str(told.trouble)
    assert len(str(told.trouble)) < 400
    assert told.attempts == n_requests


def test_content_in_parts_is_their_text_without_the_thinking() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "no"}]},
        {"type": "reasoning", "text": "no"},
        {"type": "text", "text": "a "},
        {"type": "text", "text": "list"},
    ]
    told = asked(http("200 OK", completion(content=parts)))
    assert (told.text, told.trouble) == ("a list", None)


@pytest.mark.parametrize("member", ["reasoning_content", "reasoning"])
def test_what_stands_only_in_the_thinking_is_marked_and_read_if_it_ends_with_an_object(
    member: str,
) -> None:
    answer = 'x is there.\n{"reasoning": "so", "detection": true}'
    told = asked(http("200 OK", completion(content="", **{member: answer})))
    assert (told.text, told.trouble) == (IN_THOUGHT + answer, None)
    assert read_reply(told.text or "").crashes is True
    told = asked(
        http(
            "200 OK",
            completion(
                content="",
                **{member: 'It says {"detection": true}. Let me see'},
            ),
        )
    )
    assert (told.text, told.trouble) == (
        None,
        "the model produced reasoning but no reply",
    )
    assert (
        asked(http("200 OK", completion(content="x", **{member: answer}))).text
        == "x"
    )


CALL = {"name": "answer", "arguments": '{"reasoning": "so", "detection": true}'}


@pytest.mark.parametrize(
    "message",
    [
        {
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": CALL}],
        },
        {"content": "Let me answer.", "tool_calls": [{"function": CALL}]},
        {
            "content": "",
            "tool_calls": [
                {
                    "function": CALL
                    | {"arguments": json.loads(CALL["arguments"])}
                }
            ],
        },
        {"content": None, "function_call": CALL},
    ],
)
def test_an_answer_that_comes_as_a_function_call_is_read(
    message: dict[str, Any],
) -> None:
    answer = asked(http("200 OK", completion(**message)))
    read = read_reply(answer.text or "", "tool_calls")
    assert (read.crashes, read.reasoning, answer.trouble) == (True, "so", None)


@pytest.mark.parametrize(
    "calls",
    [
        None,
        3,
        [],
        [None],
        [{"function": None}],
        [{"function": {"arguments": 3}}],
    ],
)
def test_calls_that_are_none_leave_the_reply_empty(calls: Any) -> None:
    answer = asked(http("200 OK", completion(content=None, tool_calls=calls)))
    assert (answer.text, answer.trouble) == (None, "the reply is empty")


def test_a_text_and_a_call_that_differ_are_no_answer() -> None:
    message = {
        "content": '{"reasoning": "no", "detection": false}',
        "tool_calls": [{"function": CALL}],
    }
    answer = asked(http("200 OK", completion(**message)))
    assert (
        read_reply(answer.text or "").trouble
        == "the reply contains 2 different answers"
    )


def test_gateway_that_says_in_another_protocol_that_a_reply_is_not_whole_is_understood() -> (
    None
):
    choices = [{"message": {"content": "{"}, "finish_reason": "stop"}]
    body = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "choices": choices,
    }
    assert (
        asked(http("200 OK", json.dumps(body).encode())).finish_reason
        == "max_output_tokens"
    )
    body = {
        "status": "incomplete",
        "incomplete_details": None,
        "choices": choices,
    }
    assert (
        asked(http("200 OK", json.dumps(body).encode())).finish_reason
        == "incomplete"
    )


@pytest.mark.parametrize(
    ("headers", "usage", "usd"),
    [
        ([], {"cost": 0.0125}, 0.0125),
        (["x-litellm-response-cost: 2.5e-05"], {}, 2.5e-05),
        (["x-litellm-response-cost: 0.0"], {"cost": 0}, None),
        (["x-litellm-response-cost: None"], {"cost": "much"}, None),
        ([], {"cost": -1}, None),
        ([], {"cost": "1e999"}, None),
    ],
)
def test_cost_that_an_endpoint_reports_is_kept(
    headers: list[str], usage: dict[str, Any], usd: float | None
) -> None:
    body = {
        "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
        "usage": usage,
    }
    told = asked(http("200 OK", json.dumps(body).encode(), *headers))
    assert (told.text, told.usd) == ("x", usd)


def test_redirect_is_not_followed() -> None:
    with pytest.raises(DetectorError, match="has moved: status 302"):
        asked(http("302 Found", b"", "Location: http://127.0.0.1:1/v1"))


def test_key_in_a_reply_is_taken_out_and_nothing_else() -> None:
    told = asked(http("200 OK", completion(content=f"{KEY} sk-{'a1' * 20}")))
    assert told.text == f"<key> sk-{'a1' * 20}"
    reason = json.dumps(
        {"choices": [{"message": {"content": "x"}, "finish_reason": KEY}]}
    ).encode()
    assert asked(http("200 OK", reason)).finish_reason == "<key>"


@pytest.mark.parametrize("status", ["200 OK", "500 Oops"])
def test_packed_reply_that_grows_without_end_is_not_unpacked(
    status: str,
) -> None:
    bomb = http(
        status,
        gzip.compress(b"a" * 100_000_000, compresslevel=9),
        "Content-Encoding: gzip",
    )
    tracemalloc.start()
    try:
        told = asked(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert told.text is None
    assert peak < 60_000_000


def test_counts_that_are_none_are_unknown() -> None:
    body = {
        "choices": [{"message": {"content": "x"}}],
        "usage": {"prompt_tokens": "7", "completion_tokens": -1},
    }
    told = asked(http("200 OK", json.dumps(body).encode()))
    assert (told.text, told.input_tokens, told.output_tokens) == (
        "x",
        None,
        None,
    )
