"""What the desk in the browser is told: enough to go on and back without waiting, and nothing that unblinds."""

from __future__ import annotations

import hashlib
import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    LabelledVerdict,
    Plan,
    Population,
)
from crane_core.pipeline.campaigns.campaigns import keep_campaign
from crane_core.pipeline.campaigns.desk_names import (
    KEY_FILE,
    DeskNames,
    desk_names,
)
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder
from crane_core.ui.annotate.snapshot import (
    AHEAD,
    AT_ONCE,
    BACK,
    MORE_AT_ONCE,
    Held,
    snapshot,
)

KEY = b"a key that only the server reads"
DETECTORS = ("gpt-5", "gemini-2.5-flash")
SETTINGS = ("code", "runtime")


@pytest.fixture(scope="module")
def plan() -> Plan:
    verdicts = [
        LabelledVerdict(
            "junobench",
            f"pandas_{n}_reproduced",
            detector,
            setting,
            "study",
            f"pandas_{n}",
            "pandas",
            "API misuse",
        )
        for n in range(20)
        for detector in DETECTORS
        for setting in SETTINGS
    ]
    wish = CampaignRequest(
        "pilot",
        ("ana", "ben"),
        Population("junobench", "study"),
        Design(kind=DrawKind.ALL),
        seed=5,
    )
    return draw_plan(
        wish,
        verdicts,
        guideline="g1",
        created_at="2026-11-21T10:00:00+00:00",
        left_out=0,
    )


@pytest.fixture
def desk(plan: Plan, tmp_path: Path) -> LabelStore:
    folder = DataFolder(tmp_path)
    keep_campaign(folder, plan)
    return LabelStore(folder, "pilot")


def showing_named(names: DeskNames, name: str) -> Showing:
    found = names.showing(name)
    assert found
    return found


def label_next(desk: LabelStore, annotator: str, label: str, n: int) -> None:
    for place in range(n):
        showing = desk.journal(annotator).upcoming(1)[0]
        act = {
            "event": f"event-{annotator}-{place}-{desk.journal(annotator).n_acts}",
            "action": "label",
            "label": label,
        }
        taken = desk.take(
            annotator,
            [
                act
                | {
                    "item": showing.item,
                    "showing": showing.showing,
                    "seconds": 4.0,
                }
            ],
        )
        assert taken.refused == {}


def told(
    desk: LabelStore, annotator: str, have: tuple[str, ...] = ()
) -> dict[str, object]:
    names = DeskNames(KEY, desk.plan, annotator)
    return snapshot(
        desk.journal(annotator),
        None,
        names=names,
        held=Held(have),
        card_of=lambda item: f"card of {item}",
    )


def test_cards_are_sent_ahead_once(desk: LabelStore, plan: Plan) -> None:
    first = told(desk, "ana")
    queue = first["queue"]
    assert isinstance(queue, list) and len(queue) == AHEAD
    names = DeskNames(KEY, plan, "ana")
    cards = {
        name: f"card of {showing_named(names, name).item}" for name in queue
    }
    assert first["cards"] == {name: cards[name] for name in queue[:AT_ONCE]}
    had, answers = tuple(queue[:AT_ONCE]), [first]
    while answers[-1]["has_more"]:
        answers.append(told(desk, "ana", have=had))
        more = tuple(answers[-1]["cards"])
        assert more == tuple(queue[len(had) :][:MORE_AT_ONCE])
        had += more
    assert had == tuple(queue)
    assert answers[-1]["cards"] == {name: cards[name] for name in more}
    label_next(desk, "ana", "correct", 1)
    after = told(desk, "ana", have=tuple(queue))
    assert after["queue"][:-1] == queue[1:]  # type: ignore[index]
    assert list(after["cards"]) == after["queue"][-1:]  # type: ignore[call-overload, index]


def test_after_a_restart_the_last_items_can_be_gone_back_to(
    desk: LabelStore,
) -> None:
    label_next(desk, "ana", "wrong", 25)
    begun = told(desk, "ana")
    # Before labels there is no measured speed: a minute for each, as in the plan.
    assert told(desk, "ben")["seconds_left"] == 60 * told(desk, "ben")["total"]  # type: ignore[operator]
    assert begun["seconds_left"] == 4.0 * (begun["total"] - 25)  # type: ignore[operator]
    now = told(desk, "ana", have=tuple(begun["cards"]))  # type: ignore[arg-type]
    assert len(now["undo"]) == 20  # type: ignore[arg-type]
    assert set(now["undo"][:BACK]) <= set(now["cards"])  # type: ignore[index, call-overload]
    assert set(now["labels"].values()) == {"wrong"}  # type: ignore[attr-defined]
    assert (now["done"], now["median_s"]) == (25, 4.0)


def test_nothing_that_another_annotator_does_changes_what_one_is_told(
    desk: LabelStore,
) -> None:
    before = told(desk, "ben")
    label_next(desk, "ana", "wrong", 30)
    assert told(desk, "ben") == before


def test_no_word_of_it_tells_detector_setting_or_instance(
    desk: LabelStore, plan: Plan
) -> None:
    label_next(desk, "ana", "partial", 30)
    text = json.dumps(told(desk, "ana"))
    secrets = {
        *DETECTORS,
        "study",
        "reproduced",
        "setting",
        "detector",
        "showing",
    }
    assert [word for word in secrets if word in text] == []


def test_names_hide_which_items_come_back_and_are_each_persons_own(
    plan: Plan, tmp_path: Path
) -> None:
    other = replace(plan, created_at="2026-11-22T10:00:00+00:00")
    told_apart: set[str] = set()
    for annotator in plan.annotators:
        for one in (plan, other):
            names = DeskNames(KEY, one, annotator)
            written = {
                names.of(showing): showing for showing in plan.orders[annotator]
            }
            assert len(written) == len(plan.orders[annotator])
            assert all(
                names.showing(name) == showing
                for name, showing in written.items()
            )
            assert {len(name) for name in written} == {12}
            told_apart |= written.keys()
    assert len(told_apart) == 2 * sum(
        len(plan.orders[annotator]) for annotator in plan.annotators
    )
    assert any(showing.showing == 2 for showing in plan.orders["ana"])


def test_a_repeat_cannot_be_computed_from_what_a_browser_has(
    desk: LabelStore, plan: Plan, tmp_path: Path
) -> None:
    """Neither by the rule of earlier versions, nor with any hash of a name and what the page shows."""
    names = desk_names(DataFolder(tmp_path), plan, "ana")
    seen = {names.of(showing) for showing in plan.orders["ana"]}
    known = ("/2", "\0" + "2", "pilot", "ana", plan.created_at)
    for name in seen:
        guesses = [name + end for end in known] + [
            f"pilot\0{plan.created_at}\0ana\0{name}\0{2}"
        ]
        hashed = {
            hashlib.sha256(guess.encode()).hexdigest()[:12] for guess in guesses
        }
        assert hashed.isdisjoint(seen)
    assert seen.isdisjoint({item.item for item in plan.items}), (
        "the ledger's names stay on the server"
    )
    key = tmp_path / KEY_FILE
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert {names.of(showing) for showing in plan.orders["ana"]} == {
        desk_names(DataFolder(tmp_path), plan, "ana").of(showing)
        for showing in plan.orders["ana"]
    }


def test_acts_that_waited_since_before_names_had_a_key_are_still_taken(
    plan: Plan,
) -> None:
    names = DeskNames(KEY, plan, "ana")
    again = next(
        showing for showing in plan.orders["ana"] if showing.showing == 2
    )
    first = Showing(again.item, 1)
    before = hashlib.sha256(f"{again.item}/2".encode()).hexdigest()[:12]
    assert [
        names.of_an_act(name) for name in (first.item, before, names.of(again))
    ] == [
        first,
        again,
        again,
    ]
    assert (
        names.showing(first.item),
        names.showing(before),
        names.of_an_act("000000000000"),
    ) == (
        None,
        None,
        None,
    )


def test_a_card_that_is_asked_for_comes_first(
    desk: LabelStore, plan: Plan
) -> None:
    label_next(desk, "ana", "wrong", 15)
    names = DeskNames(KEY, plan, "ana")
    journal = desk.journal("ana")
    far = names.of(journal.undoable()[10])
    found = snapshot(
        journal,
        None,
        names=names,
        held=Held(("x",), far),
        card_of=lambda item: f"card of {item}",
    )
    assert next(iter(found["cards"])) == far
    assert set(found["given"]) == set(found["undo"])


def test_a_card_comes_with_its_difference_to_the_item_before_it(
    desk: LabelStore,
) -> None:
    label_next(desk, "ana", "correct", 2)
    journal, names = desk.journal("ana"), DeskNames(KEY, desk.plan, "ana")
    asked: list[tuple[str, str]] = []

    def difference(before: str, item: str) -> str | None:
        asked.append((before, item))
        return f"{before} to {item}" if len(asked) == 1 else None

    now = snapshot(
        journal,
        None,
        names=names,
        card_of=lambda item: item,
        difference_of=difference,
    )
    last, first = journal.labelled[-1], journal.upcoming(1)[0]
    assert asked[0] == (last.item, first.item)
    assert now["like"] == {
        names.of(first): {
            "to": names.of(last),
            "html": f"{last.item} to {first.item}",
        }
    }
    # Only cards of this message; the first has few.
    assert len(asked) == AT_ONCE


def test_a_hidden_repeat_is_compared_with_no_item(desk: LabelStore) -> None:
    asked: list[str] = []
    journal, names = desk.journal("ana"), DeskNames(KEY, desk.plan, "ana")
    order = journal.upcoming(len(journal.order))
    repeats = [one for one in order if one.showing == 2]
    assert repeats
    place = order.index(repeats[0])
    label_next(desk, "ana", "correct", place - 1)
    snapshot(
        desk.journal("ana"),
        None,
        names=names,
        card_of=lambda item: item,
        difference_of=lambda before, item: asked.append(item),  # type: ignore[func-returns-value]
    )
    assert len(asked) == AT_ONCE - 2
