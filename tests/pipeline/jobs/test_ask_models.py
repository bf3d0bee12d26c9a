"""What a job may still spend."""

from __future__ import annotations

import pytest

from crane_core.domain import Reply, Setting
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.prices import Price
from crane_core.pipeline.jobs.ask_models import Caps, asking
from crane_core.pipeline.jobs.files import Spent, Standing, key_of, spent_on
from crane_core.pipeline.jobs.words import spent_words
from crane_core.prompts.tokens import count_tokens

LOCAL = Endpoint("heron", "http://127.0.0.1:4000/v1")


@pytest.mark.parametrize(
    ("earlier_usd", "spent_usd"),
    [(None, 3.0), (0.0, 3.0), (5.0, 5.0)],
)
def test_earlier_starts_count_at_least_what_their_tokens_cost(
    earlier_usd: float | None, spent_usd: float
) -> None:
    """At unknown prices, as nothing, or by reported costs that were higher."""
    asked = asking(
        LOCAL, concurrency=1, given=Price(1.0, 2.0), caps=Caps(usd=10.0)
    )
    earlier = Spent(1_000_000, 1_000_000, earlier_usd, 1.0, 100)
    assert asked.budget(
        Standing(None, {}, {}, earlier)
    ).spent_usd == pytest.approx(spent_usd)


def test_tokens_that_the_endpoint_did_not_count_are_taken_off_the_budget() -> (
    None
):
    about = ("job", "b", "a_1_fixed", "m", Setting.CODE)
    silent = Reply(*about, 1, "p", "2026-11-25", text="five words of a reply")
    counted = Reply(
        *about,
        2,
        "p",
        "2026-11-25",
        text="x",
        input_tokens=100,
        output_tokens=10,
    )
    spent = spent_on([silent, counted])
    assert (spent.n_uncounted, spent.input_tokens) == (1, 100)
    before = Standing(
        None,
        {key_of(reply): reply for reply in (silent, counted)},
        {"p": "what was asked"},
        spent,
    )
    n_more = (
        count_tokens("what was asked").n
        + count_tokens("five words of a reply").n
    )
    asked = asking(LOCAL, concurrency=1, caps=Caps(tokens=1_000))
    assert asked.budget(before).spent_tokens == 110 + n_more


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        (
            Spent(n_requests=2, n_uncounted=2),
            "2 requests, tokens unknown, cost unknown",
        ),
        (
            Spent(10, 5, n_requests=2, n_uncounted=1),
            "10 tokens in, 5 out (the endpoint did not count 1 of the replies)",
        ),
        (Spent(10, 0, n_requests=1), "10 tokens in, 0 out"),
    ],
)
def test_an_unknown_use_of_tokens_is_not_0(spent: Spent, words: str) -> None:
    assert words in spent_words(spent)


def test_a_budget_that_is_too_small_says_what_one_question_reserves() -> None:
    budget = asking(LOCAL, concurrency=1, caps=Caps(tokens=4_000)).budget(
        Standing(None, {}, {}, Spent())
    )
    assert budget.reserve(100, 16_384) is None
    assert budget.why_refused == (
        "it reserves 16,510 tokens (126 of text, 16,384 for the reply), and 4,000 of 4,000 are left"
    )
