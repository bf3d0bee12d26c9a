"""Near texts of a case: which pairs the desk may offer the same label for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, DrawKind, Plan, Population, Texts
from crane_core.pipeline.campaigns.campaigns import drawn_plan
from crane_core.pipeline.campaigns.near_texts import (
    case_texts,
    offers_last_label,
    unlike_labels,
)
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import Store

MINE = Population("minibench", "mine")
TEXTS = {
    "heron": "The index 5 is beyond the end of the array, which has two rows only.",
    "stork": "The index 5 is beyond the end of the array, which has three rows only.",
    "egret": "The file that the cell opens does not exist in this folder.",
}


@pytest.fixture
def store(only_minibench: DataFolder, tmp_path: Path) -> Iterator[Store]:
    lines = [
        {
            "benchmark": "minibench",
            "instance": f"numpy_{case}_reproduced",
            "detector": detector,
            "setting": "code",
            "index": 1,
            "crashes": True,
            "reasoning": text,
        }
        for case in (1, 2)
        for detector, text in TEXTS.items()
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    import_paths([path], only_minibench)
    opened = prepare(only_minibench)
    yield opened
    opened.close()


def plan_of(store: Store, **design: object) -> Plan:
    wanted = Design(**{"kind": DrawKind.ALL, "by_case": True} | design)  # type: ignore[arg-type]
    wish = CampaignRequest("pilot", ("ana",), MINE, wanted, seed=7)
    return drawn_plan(store, wish)


def test_only_the_pair_that_differs_in_a_word_is_near(store: Store) -> None:
    plan = plan_of(store)
    of_case = {
        item.verdict.detector: item.item
        for item in plan.items
        if item.verdict.case_id == "numpy_1"
    }
    found = case_texts(store, plan, "minibench/numpy_1")
    assert dict(found.text_of) == {
        item: TEXTS[detector] for detector, item in of_case.items()
    }
    assert found.near == {frozenset((of_case["heron"], of_case["stork"]))}
    assert found.are_near(of_case["stork"], of_case["heron"])
    assert not found.are_near(of_case["heron"], of_case["egret"])


def test_a_label_is_offered_by_case_and_with_one_text_only(
    store: Store,
) -> None:
    assert offers_last_label(plan_of(store))
    assert not offers_last_label(plan_of(store, by_case=False))
    assert not offers_last_label(plan_of(store, texts=Texts.ALL))


def test_near_texts_with_unlike_labels_are_found(store: Store) -> None:
    plan = plan_of(store)
    of_case = {
        item.verdict.detector: item.item
        for item in plan.items
        if item.verdict.case_id == "numpy_2"
    }
    heron, stork, egret = (
        of_case[name] for name in ("heron", "stork", "egret")
    )
    said = {heron: "correct", stork: "wrong", egret: "partial"}
    assert unlike_labels(store, plan, said) == {heron, stork}
    assert unlike_labels(store, plan, said | {stork: "correct"}) == frozenset()
    assert unlike_labels(store, plan, {heron: "correct"}) == frozenset()
