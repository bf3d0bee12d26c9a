"""Many questions over real HTTP: every one is answered or has its trouble, in bounded time and memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.fake_server import FakeModel, FakePlan, fake_server
from crane_core.llm.limiter import Limiter
from crane_core.llm.question import Answer, Question, Tally
from crane_core.llm.retrying import Patience
from crane_core.prompts.reply import read_reply, reply_schema

QUICK = Patience(max_attempts=8, first_s=0.01, longest_s=0.05)


def questions(n: int) -> Iterator[Question]:
    return (Question(i, f"question {i}", reply_schema()) for i in range(n))


def asked(plan: FakePlan | FakeModel, n: int, *, timeout_s: float = 20.0, **options: Any) -> tuple[list[Answer], Tally]:
    """The answers in the order in which they came, and the tally."""
    answers: list[Answer] = []
    with fake_server(plan) as url:
        endpoint = Endpoint("fake", url, timeout_s=timeout_s)
        options = {"patience": QUICK, "limiter": Limiter(), "concurrency": 8} | options
        tally = ask_all(questions(n), endpoint, on_answer=answers.append, **options)
    return answers, tally


def test_every_question_is_answered_once() -> None:
    answers, tally = asked(FakePlan(crash_probability=0.3), 200)
    assert sorted(answer.key for answer in answers) == list(range(200))
    readings = [read_reply(answer.text or "") for answer in answers]
    assert all(reading.trouble is None for reading in readings)
    assert 30 < sum(bool(reading.crashes) for reading in readings) < 90
    assert (tally.n_answered, tally.n_troubles, tally.n_requests) == (200, 0, 200)
    assert tally.input_tokens == sum(answer.input_tokens or 0 for answer in answers) > 0
    assert tally.stopped is None
