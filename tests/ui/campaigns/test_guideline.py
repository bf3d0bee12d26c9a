"""The lead's form for the guideline: what changed is seen before it is stored, and nobody's change is lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    LabelledVerdict,
    Plan,
    Population,
)
from crane_core.pipeline.campaigns.campaigns import keep_campaign, lock_campaign
from crane_core.pipeline.campaigns.guideline import (
    change_guideline,
    guideline_versions,
)
from crane_core.pipeline.places import DataFolder


def page() -> None:
    from crane_core.pipeline.campaigns.status import campaign_status
    from crane_core.ui import data
    from crane_core.ui.campaigns.one_campaign import draw_guideline_of

    draw_guideline_of(campaign_status(data.folder(), "pilot"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    monkeypatch.setenv("CRANE_DATA", str(tmp_path))
    # A script that runs in this process becomes its main module, which later tests' processes would start with.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    return DataFolder(tmp_path)


@pytest.fixture
def plan(folder: DataFolder) -> Plan:
    verdicts = [
        LabelledVerdict(
            "made", f"case_{i}_reproduced", "heron", "code", "ours", f"case_{i}"
        )
        for i in range(9)
    ]
    wish = CampaignRequest(
        "pilot",
        ("ana", "ben"),
        Population("made", "ours"),
        Design(kind=DrawKind.ALL),
        seed=5,
    )
    drawn = draw_plan(
        wish,
        verdicts,
        guideline="Judge.\n",
        created_at="2026-01-02T03:04:05+00:00",
        left_out=0,
    )
    keep_campaign(folder, drawn)
    return drawn


def store(visit: AppTest, text: str, by: str = "lea") -> None:
    visit.text_area[0].input(text)
    visit.text_input[0].input(by)
    visit.button[0].click().run()


def test_a_lead_sees_the_change_stores_it_and_finds_it_in_the_history(
    folder: DataFolder, plan: Plan
) -> None:
    visit = AppTest.from_function(page).run()
    assert visit.text_area[0].value == "Judge.\n"
    assert "Nothing is changed yet" in visit.tabs[0].caption[0].value
    visit.text_area[0].input(
        "Judge <b>well</b>. ![seen](https://elsewhere.example/x.png)"
    ).run()
    shown = visit.tabs[0].get("html")[0].proto.body
    assert (
        "Judge" in shown and "<b>well" not in shown and "cw-changed-1" in shown
    )
    assert (
        visit.tabs[1].markdown[0].value
        == "Judge <b>well</b>. !\\[seen](https://elsewhere.example/x.png)"
    )
    store(visit, "Judge well.")
    assert [entry.text for entry in guideline_versions(folder, plan)] == [
        "Judge.\n",
        "Judge well.\n",
    ]
    assert not visit.exception and not visit.error
    assert visit.expander[0].label.endswith("by lea")
    assert "Nothing is changed yet" in visit.tabs[0].caption[0].value


def test_the_same_text_and_no_name_are_refused_in_words(
    folder: DataFolder, plan: Plan
) -> None:
    visit = AppTest.from_function(page).run()
    store(visit, "Judge.")
    assert "already" in visit.error[0].value
    store(visit, "Judge well.", by=" ")
    assert "name of its author" in visit.error[0].value
    assert len(guideline_versions(folder, plan)) == 1


def test_the_change_of_another_lead_is_shown_before_it_is_replaced(
    folder: DataFolder, plan: Plan
) -> None:
    visit = AppTest.from_function(page).run()
    visit.text_area[0].input("Judge well.").run()
    change_guideline(folder, "pilot", "Judge twice.", by="kim")
    store(visit, "Judge well.")
    assert "kim changed the guideline meanwhile" in visit.error[0].value
    assert "twice" in visit.tabs[0].get("html")[0].proto.body
    store(visit, "Judge well and twice.")
    assert [entry.by for entry in guideline_versions(folder, plan)] == [
        "",
        "kim",
        "lea",
    ]


def test_a_form_that_nobody_edited_follows_the_text_in_force(
    folder: DataFolder, plan: Plan
) -> None:
    visit = AppTest.from_function(page).run()
    change_guideline(folder, "pilot", "Judge twice.", by="kim")
    assert visit.run().text_area[0].value == "Judge twice.\n"


def test_a_locked_campaign_has_no_form(folder: DataFolder, plan: Plan) -> None:
    lock_campaign(folder, "pilot", by="lea")
    visit = AppTest.from_function(page).run()
    assert not visit.text_area and not visit.button and not visit.exception
