"""How likely a detection was, from the tokens that an endpoint tells: by hand, in streams, refused, and misshaped."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.event_stream import completion_of
from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.llm.question import Answer, Question
from crane_core.llm.token_chances import chance_of
from crane_core.prompts.reply import DETECTION, reply_schema


def told(*tokens: tuple[str, float]) -> dict[str, Any]:
    """A choice whose tokens had these chances."""
    content = [
        {"token": token, "logprob": math.log(chance)}
        for token, chance in tokens
    ]
    return {"logprobs": {"content": content}}


BEFORE = (('{"', 0.9), ("detection", 0.5), ('":', 0.8))


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ((*BEFORE, (" true", 0.75), ("}", 0.1)), 0.75),
        ((*BEFORE, (" ", 0.2), ("tr", 0.9), ("ue", 0.5), ("}", 1)), 0.45),
        ((*BEFORE, (" false}", 0.25)), 0.25),
        # The last one counts, as it does where replies are read.
        ((*BEFORE, (" true}", 0.25), *BEFORE, (" false", 0.5)), 0.5),
    ],
)
def test_the_chance_is_that_of_the_tokens_of_the_value(
    tokens: tuple[tuple[str, float], ...], expected: float
) -> None:
    assert chance_of(DETECTION, told(*tokens)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"logprobs": None},
        {"logprobs": {"content": []}},
        told(*BEFORE, (' "maybe"', 0.5)),
        told(("true", 0.5)),
        {"logprobs": {"content": [{"token": '"detection": true', "logprob": -9999.0}]}},
        {"logprobs": {"content": [{"token": '"detection": true', "logprob": "nan"}]}},
    ],
)  # fmt: skip
def test_nothing_is_guessed(choice: dict[str, Any]) -> None:
    assert chance_of(DETECTION, choice) is None


def test_tokens_of_a_stream_are_put_together() -> None:
    pieces = [*BEFORE, (" true", 0.75), ("}", 1.0)]
    chunks = [
        {"choices": [{"delta": {"content": token}, **told((token, chance))}]}
        for token, chance in pieces
    ]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    raw = "".join([*events, "data: [DONE]\n\n"]).encode()
    choice = completion_of(raw)["choices"][0]
    assert chance_of(DETECTION, choice) == pytest.approx(0.75)


def answered(plan: FakePlan, extra: dict[str, Any]) -> Answer:
    answers: list[Answer] = []
    with fake_server(plan) as url:
        ask_all(
            [Question(1, "q", reply_schema(), chance_of=DETECTION)],
            Endpoint("fake", url, extra=extra),
            on_answer=answers.append,
        )
    return answers[0]


def test_they_come_with_an_answer_where_they_are_wanted() -> None:
    found = answered(FakePlan(), {"logprobs": True})
    assert found.text is not None
    assert 0 < (found.chance or 0) < 1
    assert answered(FakePlan(), {}).chance is None


def test_an_endpoint_that_refuses_them_answers_without() -> None:
    found = answered(
        FakePlan(rejects=frozenset({"logprobs"})), {"logprobs": True}
    )
    assert found.text is not None
    assert found.chance is None
    assert found.left_out == ("logprobs",)


@pytest.mark.parametrize("strange", [7, "x", {"content": [1]}, {"content": 3}])
def test_a_strange_form_costs_no_reply(strange: object) -> None:
    from tests.llm.test_odd_endpoints import asked, http

    text = '{"reasoning": "so", "detection": true}'
    choice = {"message": {"content": text}, "logprobs": strange}
    body = json.dumps({"choices": [choice]}).encode()
    assert asked(http("200 OK", body)).text == text
