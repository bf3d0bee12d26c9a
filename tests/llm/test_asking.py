"""Many questions over real HTTP: every one is answered or has its trouble, in bounded time and memory."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crane_core.errors import DetectorError
from crane_core.llm.asking import ask_all
from crane_core.llm.budget import Budget
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.fake_server import (
    FakeModel,
    FakePlan,
    ServerFault,
    fake_server,
)
from crane_core.llm.limiter import Limiter
from crane_core.llm.prices import Price
from crane_core.llm.question import Answer, Question, StopReason, Tally
from crane_core.llm.retrying import RetryPatience
from crane_core.prompts.reply import read_reply, reply_schema
from tests.patience import PATIENCE_S, met_limit_s

QUICK = RetryPatience(max_attempts=8, first_s=0.01, longest_s=0.05)
LONG_S = PATIENCE_S
"""What no test takes; where it is a time limit, something hangs."""
SHORT_S = met_limit_s(1.0)
"""A time limit that is meant to be met; replies that are in time come within a few milliseconds."""


def questions(n: int) -> Iterator[Question]:
    return (Question(i, f"question {i}", reply_schema()) for i in range(n))


def asked(
    plan: FakePlan | FakeModel,
    n: int,
    *,
    timeout_s: float = LONG_S,
    **options: Any,
) -> tuple[list[Answer], Tally]:
    """The answers in the order in which they came, and the tally."""
    answers: list[Answer] = []
    with fake_server(plan) as url:
        endpoint = Endpoint("fake", url, timeout_s=timeout_s)
        chosen = {
            "patience": QUICK,
            "limiter": Limiter(),
            "concurrency": 8,
        } | options
        tally = ask_all(
            questions(n), endpoint, on_answer=answers.append, **chosen
        )
    return answers, tally


def test_every_question_is_answered_once() -> None:
    answers, tally = asked(FakePlan(crash_probability=0.3), 200)
    assert sorted(answer.key for answer in answers) == list(range(200))
    readings = [read_reply(answer.text or "") for answer in answers]
    assert all(reading.trouble is None for reading in readings)
    assert 30 < sum(bool(reading.crashes) for reading in readings) < 90
    assert (tally.n_answered, tally.n_troubles, tally.n_requests) == (
        200,
        0,
        200,
    )
    assert (
        tally.input_tokens
        == sum(answer.input_tokens or 0 for answer in answers)
        > 0
    )
    assert tally.stopped is None


def test_nothing_to_ask_is_no_error() -> None:
    assert asked(FakePlan(), 0) == ([], Tally())


def test_answers_of_one_seed_are_the_same_whatever_the_order_and_the_failures() -> (
    None
):
    quiet, _ = asked(FakePlan(seed=7), 60, concurrency=1)
    troubled = FakePlan(
        seed=7,
        latency_spread_s=0.01,
        faults={
            ServerFault.ERROR: 5,
            ServerFault.CUT: 7,
            ServerFault.HALF_BODY: 11,
        },
    )
    stormy, tally = asked(troubled, 60, concurrency=16)
    assert {answer.key: answer.text for answer in stormy} == {
        answer.key: answer.text for answer in quiet
    }
    assert tally.n_requests > 60
    other, _ = asked(FakePlan(seed=8), 60, concurrency=1)
    assert [answer.text for answer in other] != [
        answer.text for answer in quiet
    ]


def test_one_at_a_time_keeps_the_order_and_pulls_no_question_too_early() -> (
    None
):
    pulled: list[int] = []
    answered: list[Any] = []
    ahead: list[int] = []

    def watched() -> Iterator[Question]:
        for question in questions(40):
            pulled.append(len(pulled))
            ahead.append(len(pulled) - len(answered))
            yield question

    with fake_server(FakePlan()) as url:
        ask_all(
            watched(),
            Endpoint("fake", url),
            on_answer=lambda answer: answered.append(answer.key),
            concurrency=1,
        )
    assert answered == list(range(40))
    assert max(ahead) <= 3


class Gathering(FakeModel):
    """Replies to none before `n` are asked at the same time, and then late enough to see one more."""

    def __init__(self, n: int) -> None:
        super().__init__(FakePlan(latency_s=0.1))
        self._n = n
        self._are_here = asyncio.Event()

    async def _wait(self, number: int) -> None:
        if self.n_at_once >= self._n:
            self._are_here.set()
        await asyncio.wait_for(self._are_here.wait(), PATIENCE_S)
        await super()._wait(number)


@pytest.mark.parametrize("concurrency", [5, 130])
def test_as_many_are_with_the_endpoint_as_was_said(concurrency: int) -> None:
    """More than a hundred too, which is where the library below would stop by itself."""
    model = Gathering(concurrency)
    asked(model, 2 * concurrency, concurrency=concurrency)
    assert model.n_at_once == concurrency


def test_questions_and_answers_pass_in_the_thread_of_the_caller() -> None:
    threads: set[threading.Thread] = set()

    def here() -> Iterator[Question]:
        for question in questions(20):
            threads.add(threading.current_thread())
            yield question

    with fake_server(FakePlan()) as url:
        ask_all(
            here(),
            Endpoint("fake", url),
            on_answer=lambda _: threads.add(threading.current_thread()),
        )
    assert threads == {threading.current_thread()}


def test_storm_of_429_is_waited_out() -> None:
    model = FakeModel(
        FakePlan(storm_every=40, storm_length=12, retry_after_s=0.05)
    )
    answers, tally = asked(model, 150, concurrency=16)
    assert tally.n_answered == 150
    assert model.requests["429"] == tally.n_requests - 150 > 0
    assert max(answer.attempts for answer in answers) <= QUICK.max_attempts


def test_endless_storm_ends_each_question_with_its_trouble() -> None:
    answers, tally = asked(
        FakePlan(storm_every=1, storm_length=1, retry_after_s=0.001),
        6,
        patience=RetryPatience(max_attempts=3, first_s=0.001),
    )
    assert [answer.attempts for answer in answers] == [3] * 6
    assert tally.troubles == {"status 429: Rate limit reached.": 6}


def test_endpoint_that_asks_to_wait_for_an_hour_ends_the_asking() -> None:
    with pytest.raises(DetectorError, match="asks to wait 3,600 s"):
        asked(FakePlan(storm_every=1, storm_length=1, retry_after_s=3_600), 5)


@pytest.mark.parametrize(
    "fault",
    [ServerFault.HANG, pytest.param(ServerFault.DRIP, marks=pytest.mark.slow)],
)
def test_hung_sockets_are_given_up_in_time(fault: ServerFault) -> None:
    began = time.monotonic()
    with pytest.raises(
        DetectorError,
        match=f"does not reply: no reply within {SHORT_S:g} s, 2 times in a row",
    ):
        asked(FakePlan(faults={fault: 1}), 6, timeout_s=SHORT_S)
    assert 2 * SHORT_S < time.monotonic() - began < LONG_S


def test_question_that_hangs_once_is_answered_the_second_time() -> None:
    _, tally = asked(
        FakePlan(faults={ServerFault.HANG: 10}), 30, timeout_s=SHORT_S
    )
    assert (tally.n_answered, tally.n_troubles) == (30, 0)


@pytest.mark.parametrize(
    "fault", [ServerFault.ERROR, ServerFault.CUT, ServerFault.HALF_BODY]
)
def test_what_is_transient_is_asked_again(fault: ServerFault) -> None:
    _, tally = asked(FakePlan(faults={fault: 4}), 30, concurrency=1)
    assert (tally.n_answered, tally.n_requests) == (30, 39)


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        (ServerFault.REFUSAL, "the model refuses: I cannot help with that."),
        (ServerFault.EMPTY, "the reply is empty"),
        (ServerFault.HUGE, "the reply has more than 8 MB"),
    ],
)
def test_what_is_no_answer_is_not_asked_again(
    fault: ServerFault, trouble: str
) -> None:
    answers, tally = asked(FakePlan(faults={fault: 2}), 10, concurrency=1)
    assert (tally.n_answered, tally.n_requests, dict(tally.troubles)) == (
        5,
        10,
        {trouble: 5},
    )
    assert all(
        (answer.text is None) == (answer.trouble is not None)
        for answer in answers
    )


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        (ServerFault.HALF_JSON, "the reply was cut off at the token limit"),
        (ServerFault.THINKING, None),
        (
            ServerFault.ENDLESS_THINKING,
            "the reply ends inside the model's thinking",
        ),
        (
            ServerFault.WRONG_JSON,
            "no object in the reply has the key detection",
        ),
        (ServerFault.PROSE, None),
        (ServerFault.FENCE, None),
    ],
)
def test_text_comes_raw_whatever_it_says(
    fault: ServerFault, trouble: str | None
) -> None:
    answers, _ = asked(FakePlan(faults={fault: 1}), 4)
    readings = [
        read_reply(answer.text or "", answer.finish_reason)
        for answer in answers
    ]
    assert [reading.trouble for reading in readings] == [trouble] * 4
    assert {answer.finish_reason for answer in answers} == {
        "length" if fault is ServerFault.HALF_JSON else "stop"
    }


def test_long_replies_leave_memory_as_it_was() -> None:
    plan = FakePlan(faults={ServerFault.HUGE: 1})
    asked(plan, 1)
    tracemalloc.start()
    try:
        asked(plan, 12, concurrency=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60_000_000


@pytest.mark.parametrize(
    ("rejects", "left_out"),
    [
        ({"response_format"}, {"response_format"}),
        ({"temperature"}, {"temperature"}),
        ({"max_tokens"}, {"max_tokens"}),
        (
            {
                "response_format",
                "temperature",
                "seed",
                "max_tokens",
                "max_completion_tokens",
            },
            None,
        ),
    ],
)
def test_what_an_endpoint_refuses_is_left_out_from_then_on(
    rejects: set[str], left_out: set[str] | None
) -> None:
    model = FakeModel(FakePlan(rejects=frozenset(rejects)))
    seeded = (
        Question(i, f"question {i}", reply_schema(), seed=i) for i in range(20)
    )
    answers: list[Answer] = []
    with fake_server(model) as url:
        tally = ask_all(
            seeded,
            Endpoint("fake", url),
            on_answer=answers.append,
            concurrency=1,
        )
    assert tally.n_answered == 20
    assert tally.left_out == (left_out or rejects)
    assert model.requests["400"] == len(rejects) == tally.n_requests - 20
    assert all(set(answer.left_out) == tally.left_out for answer in answers)


def test_many_at_once_learn_what_an_endpoint_refuses() -> None:
    _, tally = asked(
        FakePlan(rejects=frozenset({"response_format", "max_tokens"})),
        40,
        concurrency=16,
    )
    assert (tally.n_answered, tally.left_out) == (
        40,
        {"response_format", "max_tokens"},
    )


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (FakePlan(key="right"), "The endpoint refuses the key: status 401"),
        (
            FakePlan(models=("other",)),
            "no such model: status 404: The model fake does not exist",
        ),
        (FakePlan(has_quota=False), "The quota is used up: status 429"),
    ],
)
def test_what_makes_going_on_senseless_is_raised_at_once(
    plan: FakePlan, words: str
) -> None:
    model = FakeModel(plan)
    with pytest.raises(DetectorError, match=words):
        asked(model, 200)
    assert sum(model.requests.values()) <= 24


def test_endpoint_that_is_not_there_is_told_soon() -> None:
    with fake_server(FakePlan()) as url:
        gone = url
    with pytest.raises(DetectorError, match="The endpoint cannot be reached"):
        ask_all(
            questions(50),
            Endpoint("fake", gone),
            on_answer=lambda _: None,
            patience=QUICK,
            limiter=Limiter(),
        )


def test_stop_drops_what_is_in_flight_and_returns_within_a_second() -> None:
    stop = threading.Event()
    answers: list[Answer] = []

    def keep(answer: Answer) -> None:
        answers.append(answer)
        if len(answers) == 20:
            stop.set()

    with fake_server(FakePlan(faults={ServerFault.HANG: 10})) as url:
        watch = threading.Timer(LONG_S, stop.set)
        watch.start()
        tally = ask_all(
            questions(500),
            Endpoint("fake", url),
            on_answer=keep,
            stop=stop,
            limiter=Limiter(),
        )
        watch.cancel()
    assert tally.stopped is StopReason.STOP
    assert tally.n_answered == len(answers) < 60


def test_stop_from_another_thread_ends_a_line_in_which_all_hang() -> None:
    stop = threading.Event()
    with fake_server(FakePlan(faults={ServerFault.HANG: 1})) as url:
        threading.Timer(0.3, stop.set).start()
        tally = ask_all(
            questions(50),
            Endpoint("fake", url),
            on_answer=lambda _: None,
            stop=stop,
            limiter=Limiter(),
        )
    assert (tally.stopped, tally.n_answered) == (StopReason.STOP, 0)


def test_stop_that_was_set_before_asks_nothing() -> None:
    stop = threading.Event()
    stop.set()
    model = FakeModel(FakePlan())
    answers, tally = asked(model, 10, stop=stop)
    assert (answers, tally.stopped, sum(model.requests.values())) == (
        [],
        StopReason.STOP,
        0,
    )


@pytest.mark.parametrize("where", ["questions", "answers"])
def test_what_the_caller_raises_ends_all_and_comes_through(where: str) -> None:
    def keep(answer: Answer) -> None:
        if where == "answers" and answer.key == 5:
            raise LookupError("the disk is full")

    def broken() -> Iterator[Question]:
        yield from questions(30)
        raise LookupError("the disk is full")

    with (
        fake_server(FakePlan()) as url,
        pytest.raises(LookupError, match="the disk is full"),
    ):
        ask_all(
            broken(), Endpoint("fake", url), on_answer=keep, limiter=Limiter()
        )


def test_what_breaks_in_the_thread_of_the_line_comes_through() -> None:
    with pytest.raises(ValueError, match="Invalid IPv6 URL"):
        ask_all(
            questions(5_000),
            Endpoint("fake", "http://[::1"),
            on_answer=lambda _: None,
            limiter=Limiter(),
        )


def asked_within(
    budget: Budget, plan: FakePlan, n: int, *, timeout_s: float = LONG_S
) -> tuple[list[Answer], Tally]:
    answers: list[Answer] = []
    with fake_server(plan) as url:
        endpoint = Endpoint(
            "fake", url, max_output_tokens=1_000, timeout_s=timeout_s
        )
        tally = ask_all(
            questions(n),
            endpoint,
            on_answer=answers.append,
            budget=budget,
            patience=QUICK,
            limiter=Limiter(),
        )
    return answers, tally


@pytest.mark.slow
@pytest.mark.parametrize("counts_tokens", [True, False])
def test_budget_in_tokens_stops_cleanly_and_keeps_what_was_in_flight(
    *, counts_tokens: bool
) -> None:
    budget = Budget(tokens=9_000)
    answers, tally = asked_within(
        budget, FakePlan(latency_s=0.01, counts_tokens=counts_tokens), 900
    )
    assert tally.stopped is StopReason.BUDGET
    assert 25 < tally.n_answered == len(answers) < 900
    assert 7_500 < budget.spent_tokens <= 9_000
    if counts_tokens:
        assert budget.spent_tokens == tally.input_tokens + tally.output_tokens


@pytest.mark.slow
def test_budget_in_dollars_counts_what_may_have_been_billed() -> None:
    price = Price(1.0, 10.0)
    budget = Budget(usd=0.2, price=price)
    _, tally = asked_within(
        budget, FakePlan(faults={ServerFault.HANG: 5}), 900, timeout_s=SHORT_S
    )
    assert tally.stopped is StopReason.BUDGET
    assert tally.spent_usd == budget.spent_usd
    assert (
        price.usd(tally.input_tokens, tally.output_tokens) + 0.01
        < budget.spent_usd
        <= 0.2
    )


def test_budget_that_suffices_changes_nothing() -> None:
    budget = Budget(usd=100.0, tokens=10_000_000, price=Price(1.0, 10.0))
    _, tally = asked_within(budget, FakePlan(), 100)
    assert (tally.n_answered, tally.stopped) == (100, None)
    assert tally.spent_usd == pytest.approx(
        Price(1.0, 10.0).usd(tally.input_tokens, tally.output_tokens)
    )


def test_budget_needs_a_limit_of_tokens() -> None:
    plan = FakePlan(rejects=frozenset({"max_tokens", "max_completion_tokens"}))
    with pytest.raises(DetectorError, match="accepts no token limit"):
        asked_within(Budget(tokens=30_000), plan, 10)
    assert asked_within(Budget(), plan, 10)[1].n_answered == 10


def open_sockets() -> int:
    names = [
        path.readlink()
        for path in Path("/proc/self/fd").iterdir()
        if path.is_symlink()
    ]
    return sum(str(name).startswith("socket:") for name in names)


@pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(),
    reason="reads the open files as Linux lists them",
)
@pytest.mark.slow
def test_no_thread_and_no_socket_is_left(
    recwarn: pytest.WarningsRecorder,
) -> None:
    gc.collect()
    recwarn.clear()  # what earlier tests of this process left

    def round_of_trouble() -> None:
        stop = threading.Event()
        plan = FakePlan(
            faults={
                ServerFault.HANG: 9,
                ServerFault.CUT: 4,
                ServerFault.HUGE: 7,
                ServerFault.ERROR: 5,
                ServerFault.DRIP: 11,
            }
        )
        answers: list[Answer] = []

        def keep(answer: Answer) -> None:
            answers.append(answer)
            if len(answers) == 25:
                stop.set()

        with fake_server(plan) as url:
            ask_all(
                questions(100),
                Endpoint("fake", url, timeout_s=SHORT_S),
                on_answer=keep,
                stop=stop,
                patience=QUICK,
            )

    round_of_trouble()
    gc.collect()
    before = (threading.active_count(), open_sockets())
    for _ in range(3):
        round_of_trouble()
    gc.collect()
    assert (threading.active_count(), open_sockets()) <= before
    assert [
        str(warning.message)
        for warning in recwarn
        if issubclass(warning.category, ResourceWarning)
    ] == []
