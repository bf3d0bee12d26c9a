"""Second labels by chance: who is drawn for, with which chance, by whom, and that the draw can be made again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.journal import Journal, journal_for
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    LabelledVerdict,
    Overlap,
    Plan,
    Population,
    plan_from_json,
    with_rounds,
)
from crane_core.annotation.redeal import (
    PeopleChange,
    Signed,
    main_round,
    people_round,
    unassigned,
)
from crane_core.annotation.rounds import round_from_json
from crane_core.annotation.second import (
    first_labels,
    second_round,
    waiting_for_draw,
)
from crane_core.domain import Annotation, AnnotationAction
from crane_core.stats.two_phase import FLOOR

SIGNED = Signed("2026-11-28T10:00:00.000+00:00", "lead")
PEOPLE = ("ana", "ben", "cem")
EVENTS = count()


def plan_of(
    n: int = 120, people: tuple[str, ...] = PEOPLE, **design: object
) -> Plan:
    verdicts = [
        LabelledVerdict(
            "bench", f"c{i}_reproduced", f"m{i % 2}", "code", "e", f"c{i}"
        )
        for i in range(n)
    ]
    wanted = {
        "kind": DrawKind.ALL,
        "overlap": Overlap.ADAPTIVE,
        "repeats": 0.0,
    } | design
    return draw_plan(
        CampaignRequest(
            "pilot",
            people,
            Population("bench", "e"),
            Design(**wanted),  # type: ignore[arg-type]
            seed=5,
        ),
        verdicts,
        guideline="text",
        created_at="2026-11-28T09:00:00+00:00",
        left_out=0,
    )


def label_of(item: str) -> str:
    """Without a person's mistake: two in three are correct."""
    return "correct" if int(item, 16) % 3 else "wrong"


def labelled(
    plan: Plan,
    said: Callable[[str, str], str] = lambda person, item: label_of(item),
) -> dict[str, Journal]:
    """Journals in which all that was dealt is labelled; said: person and item to label."""
    journals = {person: journal_for(plan, person) for person in plan.annotators}
    for person, journal in journals.items():
        for showing in plan.orders[person]:
            label = said(person, showing.item)
            journal.take([act(person, showing, "label", label)])
    return journals


def act(
    person: str, showing: Showing, action: str, label: str | None = None
) -> Annotation:
    n = next(EVENTS)
    return Annotation(
        event=f"e{n}",
        campaign="pilot",
        annotator=person,
        item=showing.item,
        showing=showing.showing,
        action=AnnotationAction(action),
        label=label,
        reason=None,
        note=None,
        seconds=1.0,
        sequence=n + 1,
        submitted_at="2026-11-28T10:00:00+00:00",
        guideline="g",
    )


def test_first_labels_are_dealt_out_and_second_ones_wait_for_a_draw() -> None:
    plan = plan_of()
    dealt = [s.item for order in plan.orders.values() for s in order]
    assert sorted(dealt) == sorted(item.item for item in plan.items)
    journals = {name: journal_for(plan, name) for name in PEOPLE}
    assert waiting_for_draw(plan, journals) == []
    with pytest.raises(ValueError, match="no item"):
        second_round(plan, journals, SIGNED)
    assert len(waiting_for_draw(plan, labelled(plan))) == 120


def test_a_draw_has_its_size_its_chances_and_another_person() -> None:
    plan = plan_of()
    entry = second_round(plan, labelled(plan), SIGNED)
    assert len(entry.second) == 120
    assert sum(one.chance for one in entry.second.values()) == pytest.approx(30)
    assert min(one.chance for one in entry.second.values()) >= FLOOR * 0.25
    drawn = {item for item, one in entry.second.items() if one.is_drawn}
    assert abs(len(drawn) - 30) <= 1
    new = {
        showing.item: person
        for person, order in entry.orders.items()
        for showing in order[len(plan.orders[person]) :]
    }
    assert new.keys() == drawn
    assert all(new[item] != entry.second[item].first for item in drawn)
    sizes = [list(new.values()).count(person) for person in PEOPLE]
    assert max(sizes) - min(sizes) <= 2


def test_the_same_labels_lead_to_the_same_draw_and_it_can_be_read_back() -> (
    None
):
    plan = plan_of()
    first, again = (
        second_round(plan, labelled(plan), SIGNED) for _ in range(2)
    )
    assert first == again
    assert round_from_json(first.to_json()) == first
    whole = with_rounds(plan_from_json(plan.to_json()), [first])
    assert whole.second == first.second


def test_items_like_those_that_differed_are_drawn_more_often() -> None:
    """In calibration, people differ on wrong answers only; afterwards these have the larger chances."""
    plan = plan_of(calibration=30)

    def said(person: str, item: str) -> str:
        is_of_two_minds = label_of(item) == "wrong" and person == "ben"
        return "partial" if is_of_two_minds else label_of(item)

    opened = with_rounds(plan, [main_round(plan, SIGNED)])
    entry = second_round(opened, labelled(opened, said), SIGNED)
    assert not entry.second.keys() & plan.calibration
    chances: dict[str, list[float]] = {"correct": [], "wrong": []}
    for item, one in entry.second.items():
        if one.first != "ben":
            chances[label_of(item)].append(one.chance)
    assert min(chances["wrong"]) > 1.5 * max(chances["correct"])


def test_flags_and_a_judge_that_differs_count_once_pairs_show_it() -> None:
    plan = plan_of(calibration=30)
    doubtful = {item.item for item in plan.items if int(item.item, 16) % 5 == 0}

    def said(person: str, item: str) -> str:
        differs = item in doubtful and person == "ben"
        return "partial" if differs else "correct"

    opened = with_rounds(plan, [main_round(plan, SIGNED)])
    judge = {
        item.item: "wrong" if item.item in doubtful else "correct"
        for item in plan.items
    }
    flagged = labelled(opened, said)
    for person, journal in flagged.items():
        for showing in opened.orders[person]:
            if showing.item in doubtful:
                journal.take([act(person, showing, "flag")])
    for entry in (
        second_round(opened, labelled(opened, said), SIGNED, judge),
        second_round(opened, flagged, SIGNED),
    ):
        chance = {True: [0.0], False: [0.0]}
        for item, one in entry.second.items():
            if one.first != "ben":
                chance[item in doubtful].append(one.chance)
        assert min(chance[True][1:]) > 1.5 * max(chance[False])


def test_each_item_is_drawn_for_once() -> None:
    plan = plan_of()
    # Ben labels later, so that his items are those of the second batch.
    journals = labelled(plan)
    journals["ben"] = journal_for(plan, "ben")
    early = with_rounds(plan, [second_round(plan, journals, SIGNED)])
    late = second_round(early, labelled(early), SIGNED)
    assert {one.first for one in late.second.values()} == {"ben"}
    assert not late.second.keys() & early.second.keys()
    whole = with_rounds(plan, [*early.rounds, late])
    assert len(whole.second) == 120
    assert waiting_for_draw(whole, labelled(whole)) == []


def test_a_drawn_item_of_who_leaves_goes_to_another_and_none_is_lost() -> None:
    plan = plan_of(people=(*PEOPLE, "dia"))
    journals = labelled(plan)
    drawn = with_rounds(plan, [second_round(plan, journals, SIGNED)])
    assert unassigned(drawn) == 0
    now = {person: journal_for(drawn, person) for person in drawn.annotators}
    for person, journal in now.items():
        journal.take(
            [
                act(person, showing, "label", label_of(showing.item))
                for showing in plan.orders[person]
            ]
        )
    change = people_round(drawn, now, PeopleChange(remove=("dia",)), SIGNED)
    after = with_rounds(plan, [*drawn.rounds, change])
    assert unassigned(after) == 0
    firsts = first_labels(after, labelled(after))
    pairs = [name for name, one in firsts.items() if one.is_unlike is not None]
    assert sorted(pairs) == sorted(
        item for item, one in drawn.second.items() if one.is_drawn
    )


@pytest.mark.parametrize(
    ("people", "design", "why"),
    [
        (("ana",), {}, "a second annotator"),
        (PEOPLE, {"second_share": 0.0}, "above 0"),
        (PEOPLE, {"by_case": True}, "item by item"),
    ],
)
def test_a_design_that_cannot_be_carried_out_is_refused(
    people: tuple[str, ...], design: dict[str, object], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        plan_of(people=people, **design)


def test_other_designs_have_no_draw() -> None:
    plan = plan_of(overlap=Overlap.NONE)
    assert waiting_for_draw(plan, labelled(plan)) == []
    with pytest.raises(ValueError, match="does not draw"):
        second_round(plan, labelled(plan), SIGNED)
