"""The texts on an annotator's card: one that is drawn by default, all with their counts where the plan says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    Plan,
    Population,
    Texts,
    plan_from_json,
)
from crane_core.domain import Label
from crane_core.pipeline.campaigns.campaigns import drawn_plan
from crane_core.pipeline.campaigns.cards import (
    card,
    practice_card,
    practice_items,
)
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import Store

MINE = Population("minibench", "mine")
ANSWERS = ["answer 1", "answer 2", "answer 3"]


@pytest.fixture
def store(only_minibench: DataFolder, predictions: Path) -> Iterator[Store]:
    import_paths([predictions], only_minibench)
    store = prepare(only_minibench)
    yield store
    store.close()


def plan_with(
    store: Store,
    texts: Texts,
    *,
    seed: int = 1,
    blind: bool = True,
    plain: bool = False,
) -> Plan:
    design = Design(kind=DrawKind.ALL, texts=texts, plain=plain)
    return drawn_plan(
        store,
        CampaignRequest("pilot", ("ana",), MINE, design, seed, blind=blind),
    )


@pytest.mark.parametrize("blind", [True, False])
def test_one_text_of_an_item_is_drawn_and_no_count_is_shown(
    store: Store, *, blind: bool
) -> None:
    plan = plan_with(store, Texts.ONE, blind=blind)
    for item in plan.items:
        (shown,) = card(store, plan, item.item).texts
        assert shown.text in ANSWERS
        assert shown.n_runs is None
        assert card(store, plan, item.item).texts == (shown,)


def test_another_seed_draws_another_text(store: Store) -> None:
    plans = [plan_with(store, Texts.ONE, seed=seed) for seed in range(12)]
    shown = {
        card(store, plan, item.item).texts[0].text
        for plan in plans
        for item in plan.items
    }
    assert shown == set(ANSWERS)


def test_all_texts_are_shown_with_their_counts_where_the_plan_says_so(
    store: Store,
) -> None:
    plan = plan_with(store, Texts.ALL)
    for item in plan.items:
        assert card(store, plan, item.item).texts == tuple(
            (answer, 1) for answer in ANSWERS
        )


def test_texts_are_plain_where_the_plan_says_so(store: Store) -> None:
    plan = plan_with(store, Texts.ALL, plain=True)
    assert plan_from_json(plan.to_json()).design.plain
    for item in plan.items:
        assert card(store, plan, item.item).texts == tuple(
            (f"{answer}.", 1) for answer in ANSWERS
        )


def test_ten_items_hold_every_label_and_say_why() -> None:
    items = practice_items()
    assert len(items) == 10
    assert Counter(item.label for item in items) == {
        Label.CORRECT: 4,
        Label.PARTIAL: 3,
        Label.WRONG: 3,
    }
    assert all(item.why.endswith(".") and len(item.why) > 20 for item in items)
    assert len({item.case_id for item in items}) == 10


def test_every_item_has_its_code_with_the_crashing_line_and_its_ground_truth(
    embedded_store: Store,
) -> None:
    for item in practice_items():
        shown = practice_card(embedded_store, item)
        assert (
            shown.code and shown.crash_line and shown.truth and shown.exception
        ), item.case_id
        assert [text.text for text in shown.texts] == [
            text for text, _ in item.texts
        ]
