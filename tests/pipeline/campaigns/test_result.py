"""The result of a campaign: shares weighted by stratum, by detector and input, and what no label stands for."""

from __future__ import annotations

from dataclasses import replace

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
from crane_core.pipeline.campaigns.result import result_of

SIZES = {"heron": 3, "owl": 1}
"""Items of each detector; its stratum is of 30 verdicts."""


@pytest.fixture
def plan() -> Plan:
    verdicts = [
        LabelledVerdict(
            "bench",
            f"case_{place}_reproduced",
            detector,
            "code",
            "ours",
            f"case_{place}",
        )
        for detector, n in SIZES.items()
        for place in range(n)
    ]
    drawn = draw_plan(
        CampaignRequest(
            "pilot",
            ("ana", "ben"),
            Population("bench", "ours"),
            Design(DrawKind.ALL),
            seed=1,
        ),
        verdicts,
        guideline="Judge.",
        created_at="2026-11-26T00:00:00+00:00",
        left_out=0,
    )
    strata = tuple(replace(one, population=30) for one in drawn.strata)
    return replace(drawn, strata=strata, population_size=60)


def finals_of(plan: Plan, **said: list[str | None]) -> dict[str, Final]:
    """Detector to the labels of its items, in the order of their cases."""
    return {
        item.item: Final(
            said[item.verdict.detector][int(item.verdict.case_id[-1])],
            Provenance.UNANIMOUS,
        )
        for item in plan.items
    }


def test_a_label_stands_for_its_share_of_the_stratum(plan: Plan) -> None:
    assert [stratum.name.split(" ")[0] for stratum in plan.strata] == list(
        SIZES
    )
    finals = finals_of(
        plan, heron=["correct", "wrong", "wrong"], owl=["correct"]
    )
    found = result_of(plan, finals, {})
    # (30 x 1/3 + 30 x 1) / 60; unweighted it would be 2 of 4.
    assert found.whole.shares["correct"].value == pytest.approx(40 / 60)
    assert found.whole.shares["partial"].value == 0.0
    assert (found.whole.n, found.whole.n_cases) == (4, 3)
    assert (found.n_population, found.n_open, found.n_uncovered) == (60, 0, 0)
    assert [
        (one.detector, one.setting, one.n, one.shares["correct"].value)
        for one in found.groups
    ] == [
        ("heron", "code", 3, pytest.approx(1 / 3)),
        ("owl", "code", 1, 1.0),
    ]
    whole = found.whole.shares["correct"]
    assert 0.0 < whole.low < whole.value < whole.high < 1.0


def test_items_without_a_label_are_left_out_and_strata_without_one_are_told(
    plan: Plan,
) -> None:
    finals = finals_of(plan, heron=["correct", None, "wrong"], owl=[None])
    found = result_of(plan, finals, {})
    assert found.whole.shares["correct"].value == pytest.approx(1 / 2)
    assert (found.n_population, found.n_open, found.n_uncovered) == (30, 2, 30)
    assert [one.detector for one in found.groups] == ["heron"]


def test_a_campaign_without_final_labels_has_no_share(plan: Plan) -> None:
    found = result_of(plan, finals_of(plan, heron=[None] * 3, owl=[None]), {})
    assert found.is_empty
    assert found.groups == ()
