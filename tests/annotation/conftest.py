"""Populations made of nothing but sizes, and plans drawn from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.plan import Design, LabelledVerdict, Plan, Population

MADE_AT = "2026-01-02T03:04:05+00:00"
POPULATION = Population("made", "study")

VerdictsOf = Callable[[Mapping[tuple[str, str], int]], list[LabelledVerdict]]
PlanOf = Callable[..., Plan]


@pytest.fixture(scope="session")
def verdicts_of() -> VerdictsOf:
    """As many verdicts per (detector, setting) as are asked for, about their own cases."""

    def build(sizes: Mapping[tuple[str, str], int]) -> list[LabelledVerdict]:
        return [
            LabelledVerdict(
                "made",
                f"case_{i}_reproduced",
                detector,
                setting,
                "study",
                f"case_{i}",
                library=f"lib{i % 3}",
            )
            for (detector, setting), size in sizes.items()
            for i in range(size)
        ]

    return build


@pytest.fixture(scope="session")
def plan_of(verdicts_of: VerdictsOf) -> PlanOf:
    """A plan over `sizes`; further arguments are members of the wish, `design` those of its design."""

    def build(
        sizes: Mapping[tuple[str, str], int] | int,
        *,
        left_out: int = 0,
        **wish: Any,
    ) -> Plan:
        if isinstance(sizes, int):
            sizes = {("gpt-5", "code"): sizes}
        design = Design(**wish.pop("design", {}))
        wish = {
            "campaign": "pilot",
            "annotators": ("ana", "ben"),
            "population": POPULATION,
        } | wish
        return draw_plan(
            CampaignRequest(**wish, design=design),
            verdicts_of(sizes),
            guideline="g1",
            created_at=MADE_AT,
            left_out=left_out,
        )

    return build
