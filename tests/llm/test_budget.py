"""No request is started that could go beyond a cap, whatever is in flight and in which order it ends."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.errors import DetectorError
from crane_core.llm.budget import Budget
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.keys import OPENAI
from crane_core.llm.prices import Price, _listed, price_for_cap, price_of

STEPS = st.lists(
    st.tuples(
        st.integers(1, 3_000),
        st.integers(0, 9),
        st.sampled_from(["settle", "lose", "back"]),
    )
)


@given(STEPS, st.integers(0, 60_000))
def test_spent_and_in_flight_stay_within_the_cap(
    steps: list[tuple[int, int, str]], cap: int
) -> None:
    price = Price(2.0, 8.0)
    budget = Budget(usd=price.usd(cap // 2, cap // 2), tokens=cap, price=price)
    in_flight = []
    for n_counted, which, how in steps:
        reserved = budget.reserve(n_counted, 500)
        if reserved is not None:
            in_flight.append(reserved)
        if in_flight and which % 2:
            ended = in_flight.pop(which % len(in_flight))
            if how == "settle":
                budget.settle(ended, ended.n_counted, 400)
            else:
                (budget.lose if how == "lose" else budget.give_back)(ended)
        assert (
            budget.spent_tokens + sum(one.n_tokens for one in in_flight) <= cap
        )
        assert budget.usd is not None
        assert (
            budget.spent_usd + sum(one.usd for one in in_flight)
            <= budget.usd + 1e-9
        )


def test_what_the_endpoint_counts_corrects_our_estimate() -> None:
    budget = Budget(tokens=100_000)
    first = budget.reserve(1_000, 100)
    assert first is not None and first.n_tokens == 1_216
    budget.settle(first, 1_516, 50)
    second = budget.reserve(1_000, 100)
    assert second is not None and second.n_tokens == 1_616


def test_what_was_given_back_may_be_spent() -> None:
    budget = Budget(tokens=1_300)
    first = budget.reserve(1_000, 100)
    assert first is not None
    assert budget.reserve(1_000, 100) is None
    budget.give_back(first)
    assert budget.reserve(1_000, 100) is not None


def test_cap_in_dollars_needs_a_price() -> None:
    with pytest.raises(DetectorError, match="Set the price per million tokens"):
        Budget(usd=1.0)
    unknown = Endpoint("a-model-of-tomorrow")
    with pytest.raises(
        DetectorError,
        match=r"The price of a-model-of-tomorrow at api\.openai\.com is unknown",
    ):
        price_for_cap(unknown)
    assert price_for_cap(unknown, Price(1.0, 2.0)) == Price(1.0, 2.0)


def test_price_is_of_model_and_provider() -> None:
    listed = price_of(Endpoint("gpt-5", OPENAI))
    assert listed is not None and (listed.input, listed.output) == (1.25, 10.0)
    assert listed.usd(1_000_000, 100_000) == pytest.approx(2.25)
    assert price_of(Endpoint("gpt-5", OPENAI), Price(9.0, 9.0)) == Price(
        9.0, 9.0
    )


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:4000/v1", "https://openrouter.ai/api/v1"]
)
@pytest.mark.parametrize(
    "name",
    ["gpt-5", "openai/gpt-5", "openrouter/openai/gpt-5", "gpt-5-2025-08-07"],
)
def test_model_behind_a_gateway_has_the_list_price_of_its_provider(
    base_url: str, name: str
) -> None:
    price = price_of(Endpoint(name, base_url))
    assert price is not None and (price.input, price.output) == (1.25, 10.0)
    assert price.source.startswith("list price at api.openai.com: https://")


@pytest.mark.parametrize(
    "name", ["qwen2.5:32b", "gpt-5-of-ours", "gpt-5:free", "openai/", ""]
)
def test_address_on_this_machine_is_no_price(name: str) -> None:
    local = Endpoint(name, "http://127.0.0.1:11434/v1")
    assert price_of(local) is None
    with pytest.raises(
        DetectorError, match=r"unknown.*--price-in and --price-out \(0 and 0"
    ):
        price_for_cap(local)
    assert price_for_cap(local, Price(0.0, 0.0)).usd(10**9, 10**9) == 0.0


def test_reported_cost_counts_and_dearer_replies_than_the_price_says_have_more_set_aside() -> (
    None
):
    budget = Budget(usd=1.0, price=Price(0.0, 0.0))
    in_flight = [budget.reserve(100, 100) for _ in range(3)]
    for reserved in in_flight:
        assert reserved is not None
        budget.settle(reserved, 100, 100, reported_usd=0.3)
    assert budget.spent_usd == pytest.approx(0.9)
    assert budget.reserve(100, 100) is None


def test_every_price_tells_its_source_and_date() -> None:
    for price in _listed().values():
        dated = re.fullmatch(r"https://\S+, (\d{4}-\d\d-\d\d)", price.source)
        assert dated and date.fromisoformat(dated[1])
        assert 0 < price.input <= price.output
