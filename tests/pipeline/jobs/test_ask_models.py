"""What a job may still spend."""

from __future__ import annotations

import pytest

from crane_core.llm.endpoint import Endpoint
from crane_core.llm.prices import Price
from crane_core.pipeline.jobs.ask_models import Caps, asking
from crane_core.pipeline.jobs.files import Spent

LOCAL = Endpoint("heron", "http://127.0.0.1:4000/v1")


@pytest.mark.parametrize(
    ("earlier_usd", "spent_usd"),
    [(None, 3.0), (0.0, 3.0), (5.0, 5.0)],
)
def test_earlier_starts_count_at_least_what_their_tokens_cost(earlier_usd: float | None, spent_usd: float) -> None:
    """At unknown prices, as nothing, or by reported costs that were higher."""
    asked = asking(LOCAL, concurrency=1, given=Price(1.0, 2.0), caps=Caps(usd=10.0))
    earlier = Spent(1_000_000, 1_000_000, earlier_usd, 1.0, 100)
    assert asked.budget(earlier).spent_usd == pytest.approx(spent_usd)
