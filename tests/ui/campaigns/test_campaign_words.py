"""What the page of a campaign says first: title, state, what comes next, for every stage of it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from crane_core.annotation.label_set import study_labels
from crane_core.annotation.order import Showing
from crane_core.annotation.pace import pace
from crane_core.annotation.plan import Design, Plan, Population
from crane_core.domain import CampaignLock
from crane_core.pipeline.campaigns.disputes import Dispute, GivenLabel
from crane_core.pipeline.campaigns.result import CampaignResult, GroupShares
from crane_core.pipeline.campaigns.status import (
    AnnotatorProgress,
    CampaignStatus,
)
from crane_core.pipeline.campaigns.stop_advice import StopAdvice
from crane_core.stats.intervals import RateEstimate
from crane_core.ui.campaigns.campaign_words import (
    LONGEST_TITLE,
    NextStep,
    Stage,
    disputes_words,
    headline,
    is_lock_above,
    list_headline,
    next_step,
    next_words,
    stage,
    work_words,
)
from crane_core.ui.campaigns.progress import people_html
from crane_core.ui.campaigns.result import about

PLAN = Plan(
    campaign="pilot",
    title="Are the reasons right?",
    created_at="2026-11-26T00:00:00+00:00",
    created_by="lea",
    population=Population("minibench", "ours"),
    population_size=233,
    population_sha256="",
    left_out=0,
    design=Design(),
    seed=1,
    annotators=("ana", "ben"),
    guideline="v",
    blind=True,
    required=233,
    orders=dict.fromkeys(
        ("ana", "ben"),
        (
            *(Showing(str(n), 1) for n in range(222)),
            *(Showing(str(n), 2) for n in range(11)),
        ),
    ),
)
LOCK = CampaignLock("pilot", "2026-11-26T10:00:00+00:00", "lea")
DIFFERS = Dispute("one", True, (), None)
FLAGGED = Dispute("two", False, (), None)


def person(name: str, n_done: int, n_all: int = 233) -> AnnotatorProgress:
    return AnnotatorProgress(
        annotator=name,
        n_done=n_done,
        n_left=n_all - n_done,
        n_unlabelled=n_all - n_done,
        n_flagged=0,
        n_skipped=0,
        pace=pace([36.0] * n_done, n_all - n_done),
        parts=(),
    )


def status(
    *done: int,
    lock: CampaignLock | None = None,
    disputes: tuple[Dispute, ...] = (),
    **changed: Any,
) -> CampaignStatus:
    people = zip(("ana", "ben"), done, strict=False)
    return CampaignStatus(
        plan=replace(PLAN, **changed),
        lock=lock,
        progress=tuple(person(name, n) for name, n in people),
        outcomes={},
        disputes=disputes,
        flagged={},
    )


def result(value: float = 0.594, n: int = 222) -> CampaignResult:
    found = {
        code: RateEstimate(value, 0.524, 0.661, n, 93)
        for code in study_labels().codes
    }
    return CampaignResult(GroupShares(None, None, found), (), 501, 0, 0)


@pytest.mark.parametrize(
    ("now", "found", "words"),
    [
        (status(0, 0), None, "0 of 466 labels given"),
        (status(90, 50), None, "140 of 466 labelled"),
        (
            status(90, 50, disputes=(DIFFERS, FLAGGED)),
            None,
            "140 of 466 labelled, 2 to decide",
        ),
        (status(233, 233), None, "all 466 labelled"),
        (
            status(233, 233, lock=LOCK),
            result(),
            "59.4% correct (52.4 to 66.1%), 222 items",
        ),
        (status(0, 0, lock=LOCK), result(n=0), "locked without a label"),
    ],
)
def test_the_heading_is_the_title_and_the_answer(
    now: CampaignStatus, found: CampaignResult | None, words: str
) -> None:
    assert (
        headline(now._replace(result=found))
        == f"Are the reasons right? {words}"
    )


def test_a_title_that_is_no_question_is_set_apart_and_a_long_one_is_cut() -> (
    None
):
    assert headline(status(0, 0, title="pilot")).startswith("pilot: 0 of 466")
    long = headline(status(0, 0, title="a\n" * 200))
    assert long.startswith("a a a")
    assert len(long) < LONGEST_TITLE + 40


@pytest.mark.parametrize(
    ("now", "where", "step", "words"),
    [
        (
            status(90, 50),
            Stage.LABELLING,
            NextStep.LABEL,
            "326 labels to give, about 3.3 hours of work.",
        ),
        (
            status(0, 0),
            Stage.LABELLING,
            NextStep.LABEL,
            "222 items and 11 hidden repeats each.",
        ),
        (
            status(90, 50, disputes=(DIFFERS, FLAGGED)),
            Stage.LABELLING,
            NextStep.DECIDE,
            "1 item with different labels, 1 flagged.",
        ),
        (
            status(233, 233, disputes=(FLAGGED,)),
            Stage.DECIDING,
            NextStep.DECIDE,
            "1 flagged item.",
        ),
        (
            status(233, 233),
            Stage.COMPLETE,
            NextStep.LOCK,
            "Everything is labelled and decided.",
        ),
        (
            status(233, 233, lock=LOCK),
            Stage.LOCKED,
            NextStep.EXPORT,
            "Locked by lea at 2026-11-26 10:00 UTC.",
        ),
    ],
)
def test_the_next_step_follows_from_the_state(
    now: CampaignStatus, where: Stage, step: NextStep, words: str
) -> None:
    assert (stage(now), next_step(now), next_words(now)) == (where, step, words)


def test_a_calibration_that_is_labelled_leads_to_the_main_round() -> None:
    items = tuple(SimpleNamespace(item=str(n)) for n in range(8))
    design = replace(PLAN.design, calibration=8)
    now = status(233, 233, design=design, items=items)
    assert (stage(now), next_step(now)) == (
        Stage.CALIBRATION,
        NextStep.OPEN_MAIN,
    )
    assert next_words(now) == "All have labelled the 8 calibration items."
    assert headline(now).endswith("? calibration, all 466 labelled")


def test_first_labels_that_wait_lead_to_the_draw_of_second_ones() -> None:
    now = status(233, 233)._replace(n_undrawn=40)
    assert (stage(now), next_step(now)) == (
        Stage.LABELLING,
        NextStep.DRAW_SECOND,
    )
    assert next_words(now).startswith("40 items with a first label wait")
    assert next_step(
        status(1, 1, disputes=(DIFFERS,))._replace(n_undrawn=1)
    ) is (NextStep.DECIDE)


def test_what_is_missing_in_the_shares_is_said() -> None:
    whole = about(result(), n_undecided=0)
    assert "222 items of 93 cases stand for 501 verdicts" in whole
    assert "left out" not in whole
    partial = result()._replace(n_open=8, n_uncovered=30)
    words = about(partial, n_undecided=3)
    assert "8 items have no final label and are left out." in words
    assert "3 of them got different labels and were not decided" in words
    assert "No label stands for 30 verdicts" in words


@pytest.mark.parametrize(
    ("all_of_them", "words"),
    [
        ([], "New campaign: plan the first one"),
        ([status(0, 0)], f"{PLAN.title} 0 of 466 labels given"),
        (
            [
                status(1, 1, disputes=(DIFFERS,)),
                status(1, 1, disputes=(FLAGGED,)),
                status(1, 1, lock=LOCK, disputes=(DIFFERS,)),
            ],
            "2 campaigns are open, 2 items to decide",
        ),
        (
            [status(1, 1), status(1, 1, lock=LOCK)],
            "1 campaign is open, nothing to decide",
        ),
        ([status(1, 1, lock=LOCK)] * 2, "All 2 campaigns are locked"),
    ],
)
def test_the_list_says_what_waits_in_open_campaigns(
    all_of_them: list[CampaignStatus], words: str
) -> None:
    assert list_headline(all_of_them) == words


def test_the_table_of_people_escapes_names_and_leads_to_desks() -> None:
    now = status(90, 50)
    odd = now.progress[0]._replace(annotator="<b>&ana")
    html = people_html(now._replace(progress=(odd, now.progress[1])))
    assert "<b>" not in html
    assert "&lt;b&gt;&amp;ana" in html
    assert 'href="annotate?campaign=pilot&amp;annotator=ben"' in html
    assert "90 of 233" in html
    assert '<i style="--share: 0.386">' in html


def test_before_the_first_labels_the_hours_left_are_those_of_the_plan() -> None:
    begun = people_html(status(0, 0))
    assert begun.count(">about 3.9</td>") == 2
    # Facts that nobody has yet are left out.
    assert "Median seconds" not in begun
    assert "Median seconds" in people_html(status(50, 0))
    assert ">1.8</td>" in people_html(status(50, 0))
    assert "about 0.0" not in people_html(status(0, 233))


def test_what_two_annotators_label_unlike_is_summed() -> None:
    first = PLAN.orders["ana"]
    unlike = replace(PLAN, orders={"ana": first, "ben": first[:100]})
    assert work_words(unlike) == "0 items: 322 labels and 11 hidden repeats"
    alone = replace(PLAN, annotators=("ana",))
    assert work_words(alone) == "222 items and 11 hidden repeats"


def test_a_decision_leaves_the_title_of_deciding_as_it_is() -> None:
    told = GivenLabel("ana", "correct", None, "", flagged=True)
    flagged = FLAGGED._replace(said=(told,))
    assert disputes_words([]) == "No item needs a decision"
    assert disputes_words([DIFFERS]) == "Labels differ on 1 item"
    assert disputes_words([flagged]) == "1 item is flagged"
    assert (
        disputes_words([DIFFERS, DIFFERS, flagged, flagged])
        == "Labels differ on 2 items; 2 more items are flagged"
    )


def test_the_lock_is_offered_in_one_place() -> None:
    stop = StopAdvice(
        wanted=0.1,
        reached=0.08,
        n_labelled=200,
        n_cases=90,
        n_left=33,
        n_needed=0,
        n_held=0,
        margin_at_end=0.07,
    )
    begun = status(200, 200)
    assert not is_lock_above(begun)
    assert is_lock_above(begun._replace(stop=stop))
    assert is_lock_above(status(233, 233))
