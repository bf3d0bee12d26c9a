"""What the desk in the browser is told: enough to go on and back without waiting, and nothing that unblinds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.plan import Design, Kind, Plan, Population, Verdict
from crane_core.annotation.showing import Showing
from crane_core.pipeline.campaigns.campaigns import keep_campaign
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder
from crane_core.ui.annotate.snapshot import AHEAD, AT_ONCE, BACK, showing_of, snapshot, token

DETECTORS = ("gpt-5", "gemini-2.5-flash")
SETTINGS = ("code", "runtime")


@pytest.fixture(scope="module")
def plan() -> Plan:
    verdicts = [
        Verdict(
            "junobench", f"pandas_{n}_reproduced", detector, setting, "study", f"pandas_{n}", "pandas", "API misuse"
        )
        for n in range(20)
        for detector in DETECTORS
        for setting in SETTINGS
    ]
    wish = CampaignRequest("pilot", ("ana", "ben"), Population("junobench", "study"), Design(kind=Kind.ALL), seed=5)
    return draw_plan(wish, verdicts, guideline="g1", created_at="2026-11-21T10:00:00+00:00", left_out=0)


@pytest.fixture
def desk(plan: Plan, tmp_path: Path) -> LabelStore:
    folder = DataFolder(tmp_path)
    keep_campaign(folder, plan)
    return LabelStore(folder, "pilot")


def label_next(desk: LabelStore, annotator: str, label: str, n: int) -> None:
    for place in range(n):
        showing = desk.journal(annotator).upcoming(1)[0]
        act = {
            "event": f"event-{annotator}-{place}-{desk.journal(annotator).n_acts}",
            "action": "label",
            "label": label,
        }
        taken = desk.take(annotator, [act | {"item": showing.item, "showing": showing.showing, "seconds": 4.0}])
        assert taken.refused == {}


def told(desk: LabelStore, annotator: str, have: tuple[str, ...] = ()) -> dict[str, object]:
    return snapshot(desk.journal(annotator), None, have=have, card_of=lambda item: f"card of {item}")


def test_cards_are_sent_ahead_once(desk: LabelStore, plan: Plan) -> None:
    first = told(desk, "ana")
    queue = first["queue"]
    assert isinstance(queue, list) and len(queue) == AHEAD
    cards = {name: f"card of {showing_of(plan, 'ana')[name].item}" for name in queue}
    assert first["cards"] == {name: cards[name] for name in queue[:AT_ONCE]}
    rest = told(desk, "ana", have=tuple(queue[:AT_ONCE]))
    assert rest["cards"] == {name: cards[name] for name in queue[AT_ONCE:]}
    assert (first["has_more"], rest["has_more"]) == (True, False)
    label_next(desk, "ana", "correct", 1)
    after = told(desk, "ana", have=tuple(queue))
    assert after["queue"][:-1] == queue[1:]  # type: ignore[index]
    assert list(after["cards"]) == after["queue"][-1:]  # type: ignore[call-overload, index]


def test_after_a_restart_the_last_items_can_be_gone_back_to(desk: LabelStore) -> None:
    label_next(desk, "ana", "wrong", 25)
    begun = told(desk, "ana")
    now = told(desk, "ana", have=tuple(begun["cards"]))  # type: ignore[call-overload, arg-type]
    assert len(now["undo"]) == 20  # type: ignore[arg-type]
    assert set(now["undo"][:BACK]) <= set(now["cards"])  # type: ignore[index, call-overload]
    assert set(now["labels"].values()) == {"wrong"}  # type: ignore[attr-defined]
    assert (now["done"], now["median_s"]) == (25, 4.0)


def test_nothing_that_another_annotator_does_changes_what_one_is_told(desk: LabelStore) -> None:
    before = told(desk, "ben")
    label_next(desk, "ana", "wrong", 30)
    assert told(desk, "ben") == before


def test_no_word_of_it_tells_detector_setting_or_instance(desk: LabelStore, plan: Plan) -> None:
    label_next(desk, "ana", "partial", 30)
    text = json.dumps(told(desk, "ana"))
    secrets = {*DETECTORS, "study", "reproduced", "setting", "detector", "showing"}
    assert [word for word in secrets if word in text] == []


def test_tokens_hide_which_items_come_back(plan: Plan) -> None:
    for annotator in plan.annotators:
        tokens = showing_of(plan, annotator)
        assert len(tokens) == len(plan.orders[annotator])
        assert {len(name) for name in tokens} == {12}
    assert any(showing.showing == 2 for showing in plan.orders["ana"])
    assert token(Showing("k3", 2)) != token(Showing("k4", 2))
