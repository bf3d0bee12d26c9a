"""What inputs cost: the published mean sizes, a price by hand, and a store with the texts themselves."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.llm.prices import list_price
from crane_core.pipeline.results.input_cost import (
    cost_table,
    published_tokens,
    tokens_of_inputs,
    with_front,
)
from crane_core.prompts.tokens import count_tokens
from crane_core.storage.store import Store

STUDY = "crane-llm-2025-10"


@pytest.fixture(scope="module")
def table(embedded_store: Store, study: pd.DataFrame) -> pd.DataFrame:
    tokens = tokens_of_inputs(embedded_store, "junobench", [STUDY])
    return cost_table(study, tokens, rate="Accuracy").set_index(
        ["detector", "setting"]
    )


def test_published_inputs_have_880_tokens_and_1459_with_runtime_state() -> None:
    means = (
        published_tokens().groupby("setting")["tokens"].agg(["size", "mean"])
    )
    assert means["size"].tolist() == [222, 222]
    assert means["mean"].round().to_dict() == {"code": 880, "runtime": 1459}


def test_tokens_and_price_of_each_model_are_those_of_its_input(
    table: pd.DataFrame,
) -> None:
    assert table.loc[("gpt-5", "runtime"), "tokens"] == pytest.approx(
        1458.6, abs=0.05
    )
    assert table["is_exact"].all()
    price = list_price("gpt-5")
    assert price is not None
    assert table.loc[("gpt-5", "code"), "usd"] == pytest.approx(
        880.0676 * price.input / 1000, abs=1e-4
    )
    assert table.loc[("pylint", "code"), ["tokens", "usd"]].tolist() == [0, 0]
    assert (
        table["usd"]
        .isna()
        .groupby("detector")
        .all()
        .to_dict()["qwen-2.5-32b-instruct"]
    )


def test_a_detector_whose_price_nobody_lists_is_left_out_of_the_front(
    table: pd.DataFrame,
) -> None:
    front = with_front(table.reset_index(), "usd")
    assert "qwen-2.5-32b-instruct" not in set(front["detector"])
    best = front.sort_values("value").iloc[-1]
    assert (best["detector"], best["setting"], best["is_front"]) == (
        "gpt-5",
        "runtime",
        True,
    )
    assert front["cost"].is_monotonic_increasing


def test_texts_in_the_store_give_the_facts_that_ship(
    study_store: Store,
) -> None:
    """Where the archive is available: counted from its texts, each instance is as long as the shipped table says."""
    if not count_tokens("a").is_exact:
        pytest.skip("no exact counter of tokens is installed")
    found = tokens_of_inputs(study_store, "junobench", [STUDY])
    key = ["setting", "instance_id"]
    texts = found.set_index(key)["tokens"].sort_index()
    facts = published_tokens().set_index(key)["tokens"].sort_index()
    pd.testing.assert_series_equal(texts.astype(int), facts)
