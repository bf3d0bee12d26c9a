"""Rounds of a campaign: who labels what after calibration, and after people came, left or handed back."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.journal import Journal, journal_for
from crane_core.annotation.order import Showing, n_readings
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    LabelledVerdict,
    Overlap,
    Plan,
    Population,
    cases_of,
    plan_from_json,
    with_rounds,
)
from crane_core.annotation.redeal import (
    PeopleChange,
    Signed,
    again_round,
    is_main_open,
    main_round,
    people_round,
    unassigned,
)
from crane_core.annotation.rounds import round_from_json
from crane_core.domain import Annotation, AnnotationAction, Label
from tests.examples import examples

SIGNED = Signed("2026-11-22T10:00:00.000+00:00", "lead", "why not")
PEOPLE = ("ana", "ben", "cem", "dia")


def verdicts(n: int) -> list[LabelledVerdict]:
    return [
        LabelledVerdict(
            "bench",
            f"case_{i}_reproduced",
            ("m1", "m2")[i % 2],
            ("code", "runtime")[i % 3 == 0],
            "e",
            f"case_{i}",
        )
        for i in range(n)
    ]


def plan_of(
    n: int = 60,
    people: tuple[str, ...] = PEOPLE,
    *,
    seed: int = 7,
    blind: bool = True,
    **design: object,
) -> Plan:
    wanted = Design(**{"kind": DrawKind.ALL, "overlap": Overlap.SOME} | design)  # type: ignore[arg-type]
    wish = CampaignRequest(
        "pilot", people, Population("bench", "e"), wanted, seed, blind=blind
    )
    return draw_plan(
        wish,
        verdicts(n),
        guideline="text",
        created_at="2026-11-22T09:00:00+00:00",
        left_out=0,
    )


def items_of(plan: Plan, person: str) -> list[str]:
    return [
        showing.item for showing in plan.orders[person] if showing.showing == 1
    ]


def times(plan: Plan) -> Counter[str]:
    return Counter(
        item for person in plan.orders for item in items_of(plan, person)
    )


def journals_after(plan: Plan, n_of: dict[str, int]) -> dict[str, Journal]:
    """Journals in which each person labelled the first so many showings of what comes next."""
    found = {person: journal_for(plan, person) for person in plan.annotators}
    numbers = count(1)
    for person, n in n_of.items():
        for _ in range(n):
            showing = found[person].upcoming(1)[0]
            found[person].take(
                [act(person, showing, found[person].n_acts + 1, next(numbers))]
            )
    return found


def changed(
    plan: Plan, journals: dict[str, Journal] | None = None, **change: Any
) -> Plan:
    """The plan after people came or went; by default nobody has labelled anything."""
    before = journals_after(plan, {}) if journals is None else journals
    entry = people_round(plan, before, PeopleChange(**change), SIGNED)
    return with_rounds(plan, [*plan.rounds, entry])


def act(
    person: str,
    showing: Showing,
    sequence: int,
    number: int,
    label: Label = Label.CORRECT,
) -> Annotation:
    return Annotation(
        campaign="pilot",
        annotator=person,
        event=f"event-{number:06}",
        sequence=sequence,
        action=AnnotationAction.LABEL,
        item=showing.item,
        showing=showing.showing,
        guideline="g",
        submitted_at="2026-11-22T09:30:00.000+00:00",
        label=label,
    )


def test_each_item_goes_to_k_people_and_loads_are_even() -> None:
    plan = plan_of(61, per_item=3)
    assert set(times(plan).values()) == {3}
    loads = [len(items_of(plan, person)) for person in PEOPLE]
    assert sum(loads) == 183
    assert max(loads) - min(loads) <= 1
    assert (
        plan_of(61, per_item=3).orders
        == plan.orders
        != plan_of(61, per_item=3, seed=8).orders
    )


def test_strata_are_even_too() -> None:
    plan = plan_of(60, per_item=2)
    stratum_of = {item.item: item.stratum for item in plan.items}
    for place in range(len(plan.strata)):
        loads = [
            sum(stratum_of[item] == place for item in items_of(plan, person))
            for person in PEOPLE
        ]
        assert max(loads) - min(loads) <= 1


def test_more_annotators_of_an_item_than_there_are_is_refused() -> None:
    with pytest.raises(
        ValueError, match="each item needs 3 annotators, and there are 2"
    ):
        plan_of(people=("ana", "ben"), per_item=3)


def test_a_sample_can_be_labelled_twice_in_part() -> None:
    plan = plan_of(
        600,
        ("ana", "ben"),
        kind=DrawKind.SAMPLE,
        overlap=Overlap.SAMPLE,
        repeats=0.0,
    )
    assert len(items_of(plan, "ana")) == len(plan.items)
    shared = sum(stratum.overlap for stratum in plan.strata)
    assert len(items_of(plan, "ben")) == shared < len(plan.items)
    assert shared >= 145  # Equation 1 for some 236 items at 5 points


def test_calibration_is_for_all_and_the_main_round_follows() -> None:
    plan = plan_of(60, calibration=12, per_item=2)
    assert {len(order) for order in plan.orders.values()} == {12}
    assert len(plan.calibration) == 12
    assert {tuple(sorted(items_of(plan, person))) for person in PEOPLE} == {
        tuple(sorted(plan.calibration))
    }
    shares = Counter(
        item.stratum for item in plan.items if item.item in plan.calibration
    )
    assert all(
        abs(shares[place] - 12 * s.sampled / 60) <= 1
        for place, s in enumerate(plan.strata)
    )
    assert not is_main_open(plan)
    opened = with_rounds(plan, [main_round(plan, SIGNED)])
    assert is_main_open(opened)
    assert {times(opened)[item] for item in plan.calibration} == {4}
    assert {
        n for item, n in times(opened).items() if item not in plan.calibration
    } == {2}
    for person in PEOPLE:
        assert opened.orders[person][:12] == plan.orders[person]
    with pytest.raises(ValueError, match="open already"):
        main_round(opened, SIGNED)


def test_a_calibration_larger_than_the_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="a calibration round of 61 items"):
        plan_of(60, calibration=61)


def test_what_somebody_owes_goes_to_others_when_they_leave() -> None:
    plan = plan_of(60, per_item=2)
    journals = journals_after(plan, {"ana": 10, "ben": 30})
    after = changed(plan, journals, remove=("ana",))
    assert after.present == ("ben", "cem", "dia")
    assert after.annotators == PEOPLE
    assert set(after.orders["ana"]) == set(journals["ana"].given)
    assert set(times(after).values()) == {2}
    for person in ("ben", "cem", "dia"):
        assert (
            after.orders[person][: len(plan.orders[person])]
            == plan.orders[person]
        )
    assert unassigned(after) == 0


def test_a_successor_takes_over_exactly_what_was_open() -> None:
    plan = plan_of(60, per_item=2)
    journals = journals_after(plan, {"ana": 10})
    done = {showing.item for showing in journals["ana"].given}
    after = changed(plan, journals, replace={"ana": "eva"})
    assert set(items_of(after, "eva")) == set(items_of(plan, "ana")) - done
    assert after.present == ("ben", "cem", "dia", "eva")
    assert {
        person: after.orders[person] for person in ("ben", "cem", "dia")
    } == {person: plan.orders[person] for person in ("ben", "cem", "dia")}


def test_a_newcomer_gets_a_fair_share_and_nothing_that_was_labelled_moves() -> (
    None
):
    plan = plan_of(60, per_item=2)
    journals = journals_after(plan, {"ana": 20, "ben": 5})
    after = changed(plan, journals, add=("eva",))
    assert set(times(after).values()) == {2}
    for person in PEOPLE:
        assert set(journals[person].given) <= set(after.orders[person])
    fresh = journals_after(after, {})
    owed = {
        p: sum(
            s.showing == 1 and s not in journals[p].given
            for s in after.orders[p]
        )
        for p in PEOPLE
    }
    newcomer = len([s for s in fresh["eva"].order if s.showing == 1])
    assert max(owed.values()) - newcomer <= 1


def test_abandoned_items_can_be_handed_back() -> None:
    plan = plan_of(60, per_item=2)
    journals = journals_after(plan, {"dia": 4})
    after = changed(plan, journals, hand_back=("dia",))
    assert after.present == PEOPLE
    assert len(items_of(after, "dia")) == 4
    assert set(times(after).values()) == {2}


def test_where_nobody_is_free_the_missing_labels_are_counted() -> None:
    plan = plan_of(20, ("ana", "ben"), per_item=2, repeats=0.0)
    after = changed(plan, remove=("ben",))
    assert unassigned(after) == 20


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "nobody comes, leaves or hands back"),
        ({"add": ("ana",)}, "labels in it already"),
        ({"remove": ("eva",)}, "eva does not label in it"),
        ({"remove": PEOPLE}, "nobody would be left"),
        ({"remove": ("ana",), "hand_back": ("ana",)}, "once"),
        ({"replace": {"ana": "ben"}, "hand_back": ("ben",)}, "once"),
        ({"add": ("No Name",)}, "not a valid name"),
    ],
)
def test_a_change_that_cannot_be_is_refused(
    change: dict[str, Any], words: str
) -> None:
    plan = plan_of()
    with pytest.raises(ValueError, match=words):
        changed(plan, **change)


def test_who_labels_everything_needs_a_successor() -> None:
    plan = plan_of(people=("ana", "ben"), overlap=Overlap.SAMPLE)
    with pytest.raises(ValueError, match="name who takes over"):
        changed(plan, remove=("ana",))
    after = changed(plan, replace={"ana": "eva"})
    assert set(items_of(after, "eva")) == {item.item for item in plan.items}


def test_items_sent_back_lose_their_labels_until_they_have_new_ones() -> None:
    plan = plan_of(30, ("ana", "ben"), per_item=2, repeats=0.0)
    journals = journals_after(plan, {"ana": 6, "ben": 3})
    first = [showing.item for showing in journals["ana"].labelled[:2]]
    entry = again_round(plan, journals, frozenset(first), SIGNED)
    after = with_rounds(plan, [entry])
    acts = [
        act("ana", showing, n, n)
        for n, showing in enumerate(journals["ana"].labelled, start=1)
    ]
    journal = journal_for(after, "ana")
    journal.take(acts)
    assert {showing.item for showing in journal.given} == {
        s.item for s in journals["ana"].labelled[2:]
    }
    assert [showing.item for showing in journal.upcoming(2)] == first
    journal.take([act("ana", Showing(first[0], 1), 7, 7, Label.WRONG)])
    assert journal.given[Showing(first[0], 1)].label == Label.WRONG
    whole = journal_for(after, "ana")
    whole.take([*acts, act("ana", Showing(first[0], 1), 7, 7, Label.WRONG)])
    assert whole.given == journal.given
    with pytest.raises(ValueError, match="nobody who is present"):
        again_round(plan, journals, frozenset(["no such item"]), SIGNED)


def test_rounds_and_plan_survive_their_documents() -> None:
    plan = plan_of(60, calibration=10)
    opened = with_rounds(plan, [main_round(plan, SIGNED)])
    journals = journals_after(opened, {"ana": 14})
    sent = again_round(opened, journals, opened.calibration, SIGNED)
    for entry in (*opened.rounds, sent):
        assert round_from_json(entry.to_json()) == entry
    assert plan_from_json(opened.to_json()) == replace(
        opened, rounds=(), orders=opened.orders
    )
    with pytest.raises(ValueError, match="not a round"):
        round_from_json("{}")


@examples(30)
@given(st.data())
def test_whatever_happens_every_item_keeps_its_k_people(
    data: st.DataObject,
) -> None:
    plan = plan_of(
        data.draw(st.integers(8, 40)),
        per_item=2,
        repeats=0.1,
        seed=data.draw(st.integers(0, 10**6)),
    )
    labelled: dict[str, list[Annotation]] = {}
    number = count(1)
    for step in range(data.draw(st.integers(1, 4))):
        journals = {
            person: journal_for(plan, person) for person in plan.annotators
        }
        for person, journal in journals.items():
            journal.take(labelled.get(person, []))
        for person in plan.present:
            for _ in range(data.draw(st.integers(0, 5))):
                if coming := journals[person].upcoming(1):
                    made = act(
                        person,
                        coming[0],
                        journals[person].n_acts + 1,
                        next(number),
                    )
                    journals[person].take([made])
                    labelled.setdefault(person, []).append(made)
        before = {person: set(journals[person].given) for person in journals}
        if data.draw(st.booleans()) and len(plan.present) > 2:
            gone = data.draw(st.sampled_from(plan.present))
            plan = changed(plan, journals, remove=(gone,))
        else:
            plan = changed(plan, journals, add=(f"new{step}",))
        assert all(
            before[person] <= set(plan.orders[person]) for person in before
        )
        for person in plan.annotators:
            names = items_of(plan, person)
            assert len(names) == len(set(names))
    n_free = [
        len([p for p in plan.annotators if item.item in items_of(plan, p)])
        for item in plan.items
    ]
    assert min(n_free) + unassigned(plan) >= 2


def by_case_plan(n: int, n_cases: int, **design: object) -> Plan:
    """A plan by case over verdicts that belong to so many cases."""
    design = {"kind": DrawKind.ALL, "overlap": Overlap.SOME, "by_case": True} | design  # fmt: skip
    mine = [
        replace(verdict, case_id=f"case_{place % n_cases}")
        for place, verdict in enumerate(verdicts(n))
    ]
    wish = CampaignRequest(
        "pilot",
        PEOPLE,
        Population("bench", "e"),
        Design(**design),  # type: ignore[arg-type]
        7,
    )
    return draw_plan(
        wish,
        mine,
        guideline="text",
        created_at="2026-11-22T09:00:00+00:00",
        left_out=0,
    )


def test_by_case_a_case_has_the_same_people_and_loads_are_nearly_even() -> None:
    plan = by_case_plan(80, 20)
    case_of = cases_of(plan.items, plan.design)
    assert case_of is not None
    people_of: dict[str, set[frozenset[str]]] = {}
    for item, case in case_of.items():
        people = frozenset(
            name for name in PEOPLE if item in items_of(plan, name)
        )
        people_of.setdefault(case, set()).add(people)
    assert all(len(found) == 1 for found in people_of.values())
    assert set(times(plan).values()) == {2}
    loads = [len(items_of(plan, person)) for person in PEOPLE]
    assert max(loads) - min(loads) <= 4


def test_by_case_holds_in_the_round_after_calibration() -> None:
    plan = by_case_plan(80, 20, calibration=8)
    main = with_rounds(plan, [main_round(plan, SIGNED)])
    case_of = cases_of(main.items, main.design)
    assert case_of is not None
    for person in PEOPLE:
        n_first = sum(s.showing == 1 for s in plan.orders[person])
        later = [Showing(i, 1) for i in items_of(main, person)[n_first:]]
        n_cases = len({case_of[showing.item] for showing in later})
        assert n_readings(later, case_of) == n_cases


def test_a_plan_by_case_is_read_back_and_older_plans_are_shuffled() -> None:
    plan = by_case_plan(20, 5)
    assert plan_from_json(plan.to_json()) == plan
    body = json.loads(plan.to_json())
    del body["design"]["by_case"]
    assert not plan_from_json(json.dumps(body)).design.by_case
