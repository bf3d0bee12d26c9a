"""A job that cannot succeed stops after its first answers, by whatever status and words the endpoint says so."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from crane_core.llm.retrying import KEY, MODEL, PAYMENT, refusal_in
from tests.llm.scripted import Sent, error, outcome, whole
from tests.patience import PATIENCE_S, met_limit_s

LITELLM_MODEL = (
    "/chat/completions: Invalid model name passed in model=gpt-9. "
    "Call `/v1/models` to view available models for your key."
)
VLLM_MODEL = "The model `gpt-9` does not exist."
TAIL = ". Received Model Group=gpt-9\nAvailable Model Group Fallbacks=None"

REFUSED = [
    (400, LITELLM_MODEL, MODEL),
    (400, f"400: {{'error': '{LITELLM_MODEL}'}}", MODEL),
    (
        400,
        "litellm.BadRequestError: LLM Provider NOT provided. Pass in the LLM provider you are trying to call.",
        MODEL,
    ),
    (400, "Model Not Exist", MODEL),
    (
        400,
        "{\"detail\":\"Server is pinned to 'qwen3'; requested 'gpt-9'.\"}",
        MODEL,
    ),
    (400, "Invalid model: gpt-9", MODEL),
    (400, "gpt-9 is not a valid model ID", MODEL),
    (
        400,
        "The requested model 'gpt-9' is not supported by any provider you have enabled.",
        MODEL,
    ),
    (
        400,
        "No models loaded. Please load a model in the developer page.",
        MODEL,
    ),
    (
        401,
        "key not allowed to access model. This key can only access models=['qwen3']. Tried to access gpt-9",
        MODEL,
    ),
    (
        403,
        "Project does not have access to model gpt-9: you do not have access to the model.",
        MODEL,
    ),
    (404, VLLM_MODEL, MODEL),
    (404, 'model "gpt-9" not found, try pulling it first', MODEL),
    (
        404,
        "models/gpt-9 is not found for API version v1main, or is not supported for generateContent.",
        MODEL,
    ),
    (422, "Unknown model gpt-9", MODEL),
    (
        500,
        f"litellm.NotFoundError: OpenAIException - {VLLM_MODEL}{TAIL}",
        MODEL,
    ),
    (
        500,
        f"litellm.BadRequestError: PerplexityException - Invalid model 'perplexity/sonar'.{TAIL}",
        MODEL,
    ),
    (400, "API key not valid. Please pass a valid API key.", KEY),
    (400, "Incorrect API key provided: xa***ey.", KEY),
    (400, "No connected db.", KEY),
    (
        400,
        "Authentication Error, LiteLLM Virtual Key expected. Received=nokey, expected to start with 'sk-'.",
        KEY,
    ),
    (401, "Authentication Error, Invalid proxy server token passed.", KEY),
    (401, "No auth credentials found", KEY),
    (403, "Invalid API Key", KEY),
    (422, "api_key is missing", KEY),
    (
        500,
        f"litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided{TAIL}",
        KEY,
    ),
    (
        500,
        "The api_key client option must be set either by passing api_key to the client",
        KEY,
    ),
    (
        400,
        "Your credit balance is too low to access the Anthropic API.",
        PAYMENT,
    ),
    (
        400,
        "Budget has been exceeded! Current cost: 1.1, Max budget: 1.0",
        PAYMENT,
    ),
    (500, "Insufficient Balance", PAYMENT),
]


@pytest.mark.parametrize(("status", "message", "refusal"), REFUSED)
def test_refused_model_or_key_stops_the_job_by_any_status(
    status: int, message: str, refusal: Any
) -> None:
    told = outcome(lambda *_: error(status, message))
    assert told.error is not None
    assert str(told.error.args[0]).startswith(refusal.why)
    assert told.error.remedy == refusal.remedy
    assert (len(told.asked) <= 16, told.answers) == (True, [])


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens.",
        "The server had an error while processing your request.",
        "Your input was flagged by the moderation of this model and was not found acceptable",
        "max_tokens is too large: 16384. This model supports at most 4096 completion tokens.",
        "Model is overloaded, please try again later",
        "Unsupported value: 'temperature' does not support 0.01 with this model.",
        "CUDA out of memory while the model was running",
        "Rate limit reached for model gpt-9: 60000 tokens per minute",
    ],
)
def test_words_about_one_question_or_moment_refuse_nothing(
    message: str,
) -> None:
    assert refusal_in(message) is None or "flagged" in message


def test_flagged_text_is_no_refusal_of_the_model() -> None:
    flagged = error(
        403, "Your input was flagged: the model was not found to be safe"
    )
    told = outcome(lambda number, _: flagged if number % 2 else whole(), 20)
    assert (told.error, len(told.answers)) == (None, 20)


@pytest.mark.parametrize("status", [400, 418, 500])
def test_first_questions_that_all_fail_alike_end_the_job_in_any_words(
    status: int,
) -> None:
    told = outcome(
        lambda number, _: error(
            status,
            f"Le serveur refuse la demande n° {number} (req-7f{number}a)",
        )
    )
    assert told.error is not None
    assert "The first 5 questions that ended failed alike" in str(told.error)
    assert "--model" in told.error.remedy
    # Four failed, and eight connections, the fifth failure's among them, were asking when the job ended.
    assert 5 <= len(told.answers) <= 4 + 8
    assert len(told.asked) <= (4 + 8) * 8


def test_failures_after_an_answer_are_those_of_single_questions() -> None:
    told = outcome(
        lambda number, _: whole() if number == 1 else error(400, "no"),
        30,
        concurrency=1,
    )
    assert told.error is None
    assert [answer.text is None for answer in told.answers] == [False] + [
        True
    ] * 29


def test_questions_that_are_too_long_do_not_end_the_job() -> None:
    too_long = "This model's maximum context length is 100 tokens, and your prompt has 116 input tokens."
    told = outcome(lambda *_: error(400, too_long), 12)
    assert (told.error, len(told.answers)) == (None, 12)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_server_that_takes_requests_and_stays_silent_costs_two_timeouts(
    concurrency: int,
) -> None:
    began = time.monotonic()
    told = outcome(
        lambda *_: Sent(None), concurrency=concurrency, timeout_s=1.0
    )
    assert 2.0 <= time.monotonic() - began < PATIENCE_S
    assert told.error is not None
    assert "does not reply: no reply within 1 s, 2 times in a row" in str(
        told.error
    )
    assert "--timeout-s" in told.error.remedy
    assert len(told.asked) <= 2 * concurrency


@pytest.mark.parametrize(
    ("concurrency", "most"),
    [pytest.param(1, 3, marks=pytest.mark.slow), (8, 16)],
)
def test_server_that_falls_silent_later_is_left_too(
    concurrency: int, most: int
) -> None:
    limit_s = met_limit_s(1.0)
    told = outcome(
        lambda number, _: whole() if number <= 20 else Sent(None),
        concurrency=concurrency,
        timeout_s=limit_s,
    )
    assert told.error is not None and "does not reply" in str(told.error)
    assert sum(answer.text is not None for answer in told.answers) == 20
    assert len(told.asked) <= 20 + most


def test_one_question_without_an_end_does_not_end_the_job() -> None:
    def script(_: int, body: dict[str, Any]) -> Sent:
        return (
            Sent(None)
            if body["messages"][0]["content"] == "question 7"
            else whole()
        )

    told = outcome(script, 20, concurrency=1, timeout_s=met_limit_s(1.0))
    assert told.error is None
    assert [answer.key for answer in told.answers if answer.text is None] == [7]
    assert [answer.attempts for answer in told.answers if answer.key == 7] == [
        2
    ]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Failed to initialize samplers: failed to parse grammar"),
        (400, "This response_format type is unavailable now"),
        (
            400,
            "litellm.UnsupportedParamsError: openai does not support parameters: ['response_format']",
        ),
        (404, "No endpoints found that support the requested parameters."),
        (422, "json_schema is not a permitted value"),
        (500, "Failed to convert the grammar from GBNF to Lark"),
        (500, "invalid JSON schema in format"),
        (501, "structured outputs are not implemented"),
    ],
)
def test_schema_that_a_server_cannot_enforce_is_left_out_once_and_the_job_goes_on(
    status: int, message: str
) -> None:
    told = outcome(
        lambda _, body: (
            error(status, message) if "response_format" in body else whole()
        ),
        20,
        concurrency=1,
    )
    assert told.error is None
    assert [answer.text is None for answer in told.answers] == [False] * 20
    assert ["response_format" in body for body in told.asked] == [True] + [
        False
    ] * 20


def stream_of(*chunks: Any, end: str = "data: [DONE]\n\n") -> Sent:
    events = "".join(
        f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks
    )
    return Sent(
        200,
        f": hello\n\n{events}{end}".encode(),
        "text/event-stream; charset=utf-8",
    )


def delta(finish: str | None = None, **said: Any) -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "delta": said, "finish_reason": finish}],
        "usage": None,
    }


STREAM = stream_of(
    delta(role="assistant", content=""),
    delta(reasoning_content="hm"),
    delta(content='{"reasoning": "a\u2028b",'),
    {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
    delta(content=' "detection": true}'),
    delta("stop"),
    {
        "choices": [],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "cost": 0.25},
    },
)


@pytest.mark.parametrize(
    "message",
    [
        "This model only support stream mode, please enable the stream parameter to access the model.",
        "parameter.enable_thinking must be set to false for non-streaming calls",
        "Non-streaming requests are not supported.",
        "stream must be true",
        "`stream`: streaming is required for this model",
    ],
)
def test_server_that_only_streams_is_asked_for_streams_from_then_on(
    message: str,
) -> None:
    told = outcome(
        lambda _, body: STREAM if body.get("stream") else error(400, message),
        10,
        concurrency=1,
    )
    assert told.error is None
    assert {answer.text for answer in told.answers} == {
        '{"reasoning": "a\u2028b", "detection": true}'
    }
    assert [body.get("stream") for body in told.asked] == [None] + [True] * 10
    assert told.asked[1]["stream_options"] == {"include_usage": True}
    assert {
        (answer.input_tokens, answer.output_tokens, answer.usd)
        for answer in told.answers
    } == {(7, 3, 0.25)}


def test_stream_in_reply_to_a_plain_request_is_read() -> None:
    told = outcome(lambda *_: STREAM, 3)
    assert [
        (answer.finish_reason, answer.attempts) for answer in told.answers
    ] == [("stop", 1)] * 3
    untold = outcome(lambda *_: STREAM._replace(kind="application/json"), 3)
    assert [answer.text for answer in untold.answers] == [
        answer.text for answer in told.answers
    ]


def test_stream_of_a_function_call_is_read() -> None:
    def call(arguments: str, index: int = 0) -> dict[str, Any]:
        return delta(
            tool_calls=[{"index": index, "function": {"arguments": arguments}}]
        )

    named = delta(
        tool_calls=[
            {
                "index": 0,
                "id": "1",
                "function": {"name": "answer", "arguments": ""},
            }
        ]
    )
    stream = stream_of(
        named,
        call('{"reasoning": "so",'),
        call(' "detection": true}'),
        delta("tool_calls"),
    )
    assert (
        outcome(lambda *_: stream, 1).answers[0].text
        == '{"reasoning": "so", "detection": true}'
    )


def test_stream_options_that_are_refused_are_left_out() -> None:
    def script(_: int, body: dict[str, Any]) -> Sent:
        if not body.get("stream"):
            return error(400, "stream must be true")
        return (
            error(400, "Unknown parameter: stream_options")
            if "stream_options" in body
            else STREAM
        )

    told = outcome(script, 4, concurrency=1)
    assert [answer.text is None for answer in told.answers] == [False] * 4
    assert len(told.asked) == 6


def test_stream_without_its_end_is_half_a_reply_and_asked_again() -> None:
    half = stream_of(
        delta(content='{"reasoning": "so", "detection": true}'), end=""
    )
    told = outcome(lambda number, _: half if number == 1 else STREAM, 1)
    assert [
        (answer.text is None, answer.attempts) for answer in told.answers
    ] == [(False, 2)]
    cut = stream_of(
        delta(content='{"reasoning": "so", "detection": true}'), delta("length")
    )
    assert outcome(lambda *_: cut, 1).answers[0].finish_reason == "length"


def test_error_within_a_stream_is_that_of_a_reply() -> None:
    told = outcome(
        lambda *_: stream_of(
            delta(content="{"),
            {"error": {"message": "overloaded", "code": 502}},
        ),
        1,
    )
    assert told.answers[0].trouble == "status 502: overloaded"
    told = outcome(
        lambda *_: stream_of({"error": {"message": VLLM_MODEL, "code": 404}})
    )
    assert told.error is not None and str(told.error.args[0]).startswith(
        MODEL.why
    )
