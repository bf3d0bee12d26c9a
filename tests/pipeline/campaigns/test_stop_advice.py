"""When a lead is told that a campaign may stop, and what holds it up."""

from __future__ import annotations

import pytest

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.outcome import Final, Provenance
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    LabelledVerdict,
    Plan,
    Population,
)
from crane_core.annotation.rounds import Again, Round, RoundKind
from crane_core.pipeline.campaigns.stop_advice import (
    stop_advice,
    stop_json,
    stop_words,
)
from crane_core.stats.stopping import reached_margin

N_CASES, N_ITEMS = 60, 120
AT = "2026-11-27T10:00:00+00:00"


def plan_of(*, margin: float, n_cases: int = N_CASES) -> Plan:
    verdicts = [
        LabelledVerdict(
            "made",
            f"case_{place}_reproduced",
            "heron",
            ("code", "runtime")[place % 2],
            "study",
            f"case_{place % n_cases}",
        )
        for place in range(N_ITEMS)
    ]
    design = Design(kind=DrawKind.ALL, margin=margin)
    wish = CampaignRequest("pilot", ("ana",), Population("m", "e"), design, 7)
    return draw_plan(wish, verdicts, guideline="g", created_at=AT, left_out=0)


def finals_of(plan: Plan, n: int) -> dict[str, Final]:
    """The first n items of ana's order have a label, three of four of them correct."""
    order = [s.item for s in plan.orders["ana"] if s.showing == 1]
    labelled = {
        item: Final("wrong" if place % 4 == 0 else "correct", Provenance.SINGLE)
        for place, item in enumerate(order[:n])
    }
    none = Final(None, Provenance.UNLABELLED)
    return dict.fromkeys(order, none) | labelled


def open_item(plan: Plan, finals: dict[str, Final]) -> str:
    return next(i.item for i in plan.items if finals[i.item].label is None)


def test_the_margin_of_the_plan_is_reached() -> None:
    plan = plan_of(margin=0.08)
    finals = finals_of(plan, 80)
    advice = stop_advice(plan, finals, ())
    labelled = [item for item in plan.items if finals[item.item].label]
    own = reached_margin(
        [finals[item.item].label == "wrong" for item in labelled],
        [item.stratum for item in labelled],
        [60, 60],
    )
    assert advice.reached == pytest.approx(own.margin)
    assert advice.may_stop
    assert (advice.n_left, advice.n_needed, advice.margin_at_end) == (40, 0, 0)
    assert stop_words(advice).startswith("You may stop: ")
    assert "the other 40 items would lead to about ±0.0 points" in stop_words(
        advice
    )


def test_the_labels_that_are_missing_are_counted() -> None:
    plan = plan_of(margin=0.05)
    advice = stop_advice(plan, finals_of(plan, 40), ())
    assert not advice.may_stop
    assert 0 < advice.n_needed < advice.n_left == 80
    assert f"About {advice.n_needed} more labelled items" in stop_words(advice)
    # As many more do reach it, up to what the share becomes.
    later = stop_advice(plan, finals_of(plan, 40 + advice.n_needed), ())
    assert later.reached == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize("why", ["skipped", "disputed", "sent back"])
def test_an_item_that_was_shown_and_is_open_holds_it_up(why: str) -> None:
    plan = plan_of(margin=0.08)
    finals = finals_of(plan, 80)
    item = open_item(plan, finals)
    skipped = {item} if why == "skipped" else set()
    if why == "disputed":
        finals[item] = Final(None, Provenance.OPEN)
    if why == "sent back":
        again = Round(
            RoundKind.AGAIN, AT, "lea", "", ("ana",),
            again={"ana": Again(1, frozenset({item}))}, items=(item,),
        )  # fmt: skip
        object.__setattr__(plan, "rounds", (again,))
    advice = stop_advice(plan, finals, skipped)
    assert (advice.n_held, advice.may_stop) == (1, False)
    assert "1 skipped, disputed or returned items" in stop_words(advice)


def test_few_cases_are_not_enough() -> None:
    plan = plan_of(margin=0.2, n_cases=10)
    advice = stop_advice(plan, finals_of(plan, 80), ())
    assert advice.reached <= 0.2
    assert not advice.may_stop
    assert "stop from 20 cases on" in stop_words(advice)


def test_without_a_label_there_is_nothing_to_say() -> None:
    plan = plan_of(margin=0.05)
    assert stop_words(stop_advice(plan, finals_of(plan, 0), ())) == ""
    assert stop_words(stop_advice(plan, finals_of(plan, N_ITEMS), ())) == ""
    told = stop_json(stop_advice(plan, finals_of(plan, 0), ()))
    assert told is not None
    assert told["reached"] is None
    assert told["may_stop"] is False
