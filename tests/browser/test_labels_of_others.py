"""Labels of a table or a judge in a campaign's forms: shown after one's own, and where second labels are drawn."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from benchmarks._data import SEED, STUDY
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, Overlap
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    journal_of,
    keep_campaign,
    kept_campaign,
)
from crane_core.pipeline.campaigns.label_frame import labels_of_judge
from crane_core.pipeline.campaigns.rounds import draw_second
from crane_core.pipeline.places import DataFolder
from tests.given_labels import give_labels

from .conftest import OpenPage, Served
from .desk import choose_own_answers, unique
from .screen import (
    TITLES,
    arrives,
    choose,
    click_button,
    fill,
    of_campaign,
    sees,
    settled,
    shows_title,
)

JUDGE = "published judge, repetition 1"
HEAD = "instance,detector,setting,label\n"


@pytest.mark.slow
def test_a_lead_gives_a_table_of_labels_to_show_after_ones_own(
    open_page: OpenPage, answered_app: Served
) -> None:
    name = unique("trained")
    page = open_page(f"{answered_app.address}/campaigns")
    shows_title(page, TITLES["/campaigns"])
    choose_own_answers(page)
    fill(page, "Name", name)
    fill(page, "Annotators", "ana, ben")
    page.get_by_text("all of them", exact=True).click()
    settled(page).get_by_text("Labels shown after one's own").click()
    # The first is for gold items.
    given = page.locator("input[type=file]").last
    for label, told in (
        ("right", "eva.csv, line 2: the label 'right' is none of correct"),
        ("wrong", "the annotator sees that of “eva.csv” (1 of 48 items)"),
    ):
        row = f"{HEAD}numpy_1_reproduced,heron,code,{label}\n".encode()
        given.set_input_files(
            {"name": "eva.csv", "mimeType": "text/csv", "buffer": row}
        )
        sees(settled(page), told)
        if label == "right":
            expect(
                page.get_by_role("button", name="Create campaign")
            ).to_have_count(0)
            click_button(page, "Remove eva.csv")
    click_button(page, "Create campaign")
    arrives(page, of_campaign(name))
    plan = kept_campaign(answered_app.folder, name).plan
    assert plan.shown_after is not None
    assert plan.shown_after.origin == "eva.csv"
    assert {
        plan.item(item).verdict.instance_id: label
        for item, label in plan.shown_after.labels.items()
    } == {"numpy_1_reproduced": "wrong"}


@pytest.mark.slow
def test_second_labels_are_drawn_more_often_where_a_judge_differs(
    open_page: OpenPage, study_app: Served
) -> None:
    name, folder = unique("adaptive"), study_app.folder
    design = Design(overlap=Overlap.ADAPTIVE, repeats=0.0)
    wish = CampaignRequest(name, ("ana", "ben"), STUDY, design, SEED)
    plan = drawn_plan(study_app.store, wish)
    keep_campaign(folder, plan)
    said = labels_of_judge(study_app.store, plan, JUDGE)
    # What earlier second labels showed weighs: they differ where the judge does.
    label_some(folder, name, said, share=0.6)
    draw_second(folder, name, by="lea")
    label_some(folder, name, said, share=1.0)
    page = open_page(
        f"{study_app.address}/campaigns?campaign={name}&part=People+and+guideline"
    )
    sees(page, "items with a first label wait for the draw")
    choose(settled(page), "LLM judge", JUDGE)
    form = page.get_by_test_id("stForm").filter(has_text="Draw second labels")
    form.get_by_label("Changed by").fill("mo")
    click_button(page, "Draw second labels")
    sees(page, "mo: ")
    drawn = kept_campaign(folder, name).plan.rounds[-1].second
    chances: dict[bool, list[float]] = {True: [], False: []}
    for item in said.keys() & drawn.keys():
        chances[said[item] == "correct"].append(drawn[item].chance)
    assert min(chances[False]) > max(chances[True])


def label_some(
    folder: DataFolder, name: str, said: dict[str, str], *, share: float
) -> None:
    """First labels are correct, and second ones what the judge said, of this share of each order."""
    plan = kept_campaign(folder, name).plan
    is_second = {item for entry in plan.rounds for item in entry.second or {}}
    for who in plan.annotators:
        given = journal_of(folder, plan, who).given
        order = plan.orders[who]
        for showing in order[: round(len(order) * share)]:
            if showing not in given:
                item = showing.item
                label = (
                    said.get(item, "correct")
                    if item in is_second
                    else "correct"
                )
                give_labels(folder, name, who, {item: label})
