"""The label model of a campaign: what enters it, and that it stands beside the final labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    Gold,
    LabelledVerdict,
    Plan,
    Population,
)
from crane_core.errors import CampaignError
from crane_core.pipeline.agreement.crowd_kit import CROWD_MODELS
from crane_core.pipeline.agreement.label_model import (
    FINAL,
    KNOWN,
    campaign_label_model,
    compared_models,
    models_json,
    models_words,
)
from crane_core.pipeline.campaigns.campaigns import (
    keep_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder
from tests.optional import needing

N_ITEMS = 24
PEOPLE = ("ana", "ben", "cleo")


def verdict(place: int) -> LabelledVerdict:
    return LabelledVerdict(
        "made", f"case_{place}_reproduced", "heron", "code", "e", f"case_{place}"
    )  # fmt: skip


def campaign(folder: DataFolder, people: tuple[str, ...]) -> Plan:
    """Items of cases 0..23, of which the first is gold; all are labelled, and cleo errs on each third."""
    gold = Gold("", verdict(0), "wrong", "", None, "file")
    wish = CampaignRequest(
        "pilot",
        people,
        Population("made", "e"),
        Design(kind=DrawKind.ALL, repeats=0.1),
        7,
        gold=(gold,) if "ana" in people else (),
    )
    plan = draw_plan(
        wish,
        [verdict(place) for place in range(N_ITEMS)],
        guideline="g",
        created_at="2026-11-27T10:00:00+00:00",
        left_out=0,
    )
    keep_campaign(folder, plan)
    desk = LabelStore(folder, "pilot")
    for who in people:
        for n, showing in enumerate(plan.orders[who]):
            place = int(plan.item(showing.item).verdict.case_id[5:])
            errs = who == "cleo" and place % 3 == 1
            right = "wrong" if place % 2 == 0 else "correct"
            act = {
                "event": f"event-{who}-{n:04}",
                "action": "label",
                "item": showing.item,
                "showing": showing.showing,
                "label": "partial" if errs else right,
            }
            assert desk.take(who, [act]).refused == {}
    return plan


def test_it_stands_beside_the_final_labels(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    plan = campaign(folder, PEOPLE)
    with pytest.raises(CampaignError, match="not locked"):
        campaign_label_model(folder, "pilot")
    lock_campaign(folder, "pilot", by="lea")
    found = campaign_label_model(folder, "pilot")
    assert (len(found.items), len(found.gold)) == (N_ITEMS - 1, 1)
    # Where cleo errs no final label is there, and the model follows the other two.
    is_open = found.items["final"].isna()
    assert is_open.sum() == 8
    assert found.n_unlike == 0
    right = {
        item.item: "wrong" if int(item.verdict.case_id[5:]) % 2 == 0 else "correct"
        for item in plan.items
    }  # fmt: skip
    assert dict(zip(found.items["item"], found.items["likely"], strict=True)) == right  # fmt: skip
    people = found.people.set_index("annotator")
    assert people.loc["cleo", "ability"] < people.loc["ana", "ability"]
    assert (people["low"] <= people["high"]).all()
    assert people["n"].tolist() == [N_ITEMS] * 3
    assert people["n_gold_right"].tolist() == [1, 1, 1]
    assert (people["n_same"] == people["n_repeats"]).all()
    assert (people["n_repeats"] > 0).all()


def test_models_are_compared_with_each_other_and_with_final_labels(
    tmp_path: Path,
) -> None:
    folder = DataFolder(tmp_path)
    campaign(folder, PEOPLE)
    lock_campaign(folder, "pilot", by="lea")
    ours = campaign_label_model(folder, "pilot")
    other = ours._replace(
        model="GLAD",
        # Of three items it names another label: one of them has a final label.
        items=ours.items.assign(likely=["none"] * 3 + list(ours.items["likely"][3:])),
        gold=ours.gold.assign(likely="correct"),
    )  # fmt: skip
    n_final = int(ours.items["final"].notna().sum())
    n_unlike = int(ours.items["final"].head(3).notna().sum())
    rows = compared_models([ours, other]).set_index(["first", "second"])
    assert rows["n"].to_dict() == {
        ("Dawid-Skene", "GLAD"): N_ITEMS - 1,
        ("Dawid-Skene", FINAL): n_final,
        ("GLAD", FINAL): n_final,
        ("GLAD", KNOWN): 1,
    }
    same = (rows["value"] * rows["n"]).round(9)
    assert same.tolist() == [N_ITEMS - 4, n_final, n_final - n_unlike, 0]
    words = models_words([ours, other])
    assert "Dawid-Skene: the likely label of 0 of 15 items" in words
    assert "1 gold items, fixed at their label" in words
    assert "GLAD and gold items: 0.0% (0.0 to 100.0%), n 1, 1 cases" in words
    told = models_json([ours, other])
    assert len(told["models"]["GLAD"]["items"]) == N_ITEMS - 1
    assert len(told["compared"]) == 4


@needing("crowdkit")
@pytest.mark.slow
@pytest.mark.parametrize("model", CROWD_MODELS)
def test_a_model_of_crowd_kit_takes_gold_items_for_items(
    tmp_path: Path, model: str
) -> None:
    folder = DataFolder(tmp_path)
    campaign(folder, PEOPLE)
    lock_campaign(folder, "pilot", by="lea")
    found = campaign_label_model(folder, "pilot", model)
    people = found.people.set_index("annotator")
    assert people.loc["cleo", "ability"] < people.loc["ana", "ability"]
    assert people["n"].tolist() == [N_ITEMS] * 3
    assert found.gold["likely"].tolist() == ["wrong"]
    assert found.n_unlike == 0


def test_two_annotators_without_gold_are_too_few(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    campaign(folder, ("ben", "cleo"))
    lock_campaign(folder, "pilot", by="lea")
    with pytest.raises(CampaignError, match="2 annotators and 0 labelled gold"):
        campaign_label_model(folder, "pilot")
