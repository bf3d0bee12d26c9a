"""A campaign by case at the desk: near texts are marked, and the label before is given by one key."""

from __future__ import annotations

import pytest

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Design, DrawKind
from crane_core.pipeline.campaigns.campaigns import (
    acts_of,
    drawn_plan,
    journal_of,
    keep_campaign,
)
from crane_core.pipeline.campaigns.near_texts import case_texts

from .conftest import OpenPage, Served
from .desk import OWN_ANSWERS, SAVED, open_desk, press, press_ready, unique

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_the_label_before_is_offered_for_a_near_text(
    open_page: OpenPage, answered_app: Served
) -> None:
    folder, store = answered_app.folder, answered_app.store
    design = Design(kind=DrawKind.ALL, repeats=0, by_case=True)
    wish = CampaignRequest(unique("cases"), ("ana",), OWN_ANSWERS, design, 7)
    plan = drawn_plan(store, wish)
    keep_campaign(folder, plan)
    order = [showing.item for showing in plan.orders["ana"]]
    near = [
        place
        for place in range(1, len(order))
        if case_texts(
            store, plan, plan.item(order[place]).verdict.case
        ).are_near(order[place - 1], order[place])
    ]
    assert near
    address = answered_app.address
    page = open_desk(open_page(address), address, plan.campaign)
    offer = page.locator(".cw-desk-same")
    # The item before the first near one gets a label with a reason.
    for _ in range(near[0] - 1):
        press(page, "1")
        assert offer.is_hidden()
    press(page, "3")
    press_ready(page, "4")
    offer.wait_for()
    assert "which you labelled" in offer.inner_text()
    press(page, "0")
    page.wait_for_function(SAVED)
    given = journal_of(folder, plan, "ana").given
    before, same = [given[Showing(order[near[0] - i], 1)] for i in (1, 0)]
    assert (same.label, same.reason) == ("wrong", before.reason)
    assert before.reason is not None
    by_key = [act for act in acts_of(folder, plan, "ana") if act.is_as_before]
    assert [act.item for act in by_key] == [order[near[0]]]
