"""Results, plan and time: what was planned beside what was found, and what alarms are worth where crashes are rare."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from crane_core.pipeline.audit import at_the_terminal
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.study_plan import TEMPLATE, register

from .conftest import Host, OpenPage
from .screen import choose, sees, settled, wait_for_query

pytestmark = pytest.mark.slow


def test_a_registered_plan_is_shown_beside_what_was_found(
    copy_of_embedded: Path, host: Host, open_page: OpenPage
) -> None:
    folder = DataFolder(copy_of_embedded)
    register(folder, "study", TEMPLATE, 2_220, at_the_terminal())
    with host(copy_of_embedded) as address:
        page = settled(open_page(f"{address}/results?part=Plan"))
        sees(page, "What was planned, and did it hold?")
        row = page.locator(".cw-versus tbody tr")
        expect(row).to_have_count(1)
        # By detection alone nothing is found for GPT-5 (paper, table 2b).
        expect(row).to_contain_text("not held")
        expect(row).to_contain_text("111 of 111")
        sees(page, "when 2,220 of its answers were loaded already")
        sees(page, "Exploratory, in no registered plan: Gemini 2.5 Flash")


def test_alarms_are_counted_where_crashes_are_rare(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}/results?part=Time"))
    sees(page, "If 5% of cells crash")
    choose(page, "Cells that crash", "20%")
    wait_for_query(page, crashing="20")
    sees(settled(page), "If 20% of cells crash")


def test_a_gain_of_one_case_is_shown_beside_what_one_model_makes_of_it(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}/results?part=One%20model"))
    sees(page, "One model of all answers puts the gain of a detector at +")
    row = page.locator(".cw-versus tbody tr", has_text="library cause")
    expect(row).to_contain_text("1 (few)")
    expect(row).to_contain_text("+33.3 pp")
