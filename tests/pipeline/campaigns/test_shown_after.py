"""Labels of somebody else, shown after one's own: when, to whom, what the ledger keeps, and what the plan says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan, plan_from_json
from crane_core.domain import AnnotationAction
from crane_core.pipeline.campaigns.campaigns import acts_of, kept_campaign
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.status import campaign_status, status_words
from crane_core.pipeline.places import DataFolder
from crane_core.ui.annotate.desk import told_of_another
from tests.spoken import Run, speaker

CREATE = (
    "create pilot --benchmark minibench --experiment ours --annotators ana,ben "
    "--design all --seed 20261128078"
)
TABLE = """instance,detector,setting,label
numpy_1_reproduced,heron,code,wrong
numpy_2_reproduced,heron,code,correct
"""


@pytest.fixture
def run(answered: DataFolder, capsys: pytest.CaptureFixture[str]) -> Run:
    return speaker(answered.path, capsys, "campaign")


@pytest.fixture
def created(answered: DataFolder, run: Run, tmp_path: Path) -> Plan:
    """A campaign that shows two labels of <b>eva</b>."""
    table = tmp_path / "<b>eva.csv"
    table.write_text(TABLE)
    assert run(f"{CREATE} --repeats 0 --show-after {table}").code == 0
    return kept_campaign(answered, "pilot").plan


def give(
    folder: DataFolder, item: str, label: str, *, event: str, showing: int = 1
) -> None:
    act = {
        "event": f"event-{event}",
        "action": "label",
        "item": item,
        "showing": showing,
        "label": label,
    }
    assert LabelStore(folder, "pilot").take("ana", [act]).refused == {}


def told(folder: DataFolder) -> str | None:
    store = LabelStore(folder, "pilot")
    found = told_of_another(
        store.plan, store.journal("ana"), store.names("ana")
    )
    return found and str(found["html"])


def shown_acts(folder: DataFolder, plan: Plan) -> list[tuple[str, str | None]]:
    return [
        (act.item, act.label)
        for act in acts_of(folder, plan, "ana")
        if act.action is AnnotationAction.SHOWN
    ]


def test_it_is_shown_after_the_own_label_and_the_ledger_knows(
    answered: DataFolder, created: Plan
) -> None:
    assert created.shown_after is not None
    named = {label: item for item, label in created.shown_after.labels.items()}
    other = next(
        one.item
        for one in created.items
        if one.item not in created.shown_after.labels
    )
    assert told(answered) is None
    give(answered, named["wrong"], "correct", event="first")
    assert told(answered) == (
        "<b>The label of &lt;b&gt;eva.csv for the previous item: ✗ wrong.</b> You said ✓ correct. "
    )
    give(answered, other, "correct", event="other")
    assert told(answered) is None
    give(answered, named["correct"], "correct", event="same")
    assert "You said the same." in str(told(answered))
    # A label that is changed is not shown a second time.
    give(answered, named["wrong"], "wrong", event="changed")
    assert shown_acts(answered, created) == [
        (named["wrong"], "wrong"),
        (named["correct"], "correct"),
    ]
    ana = campaign_status(answered, "pilot").progress[0]
    assert (ana.n_shown, ana.n_changed) == (2, 1)
    assert "2 shown another label, 1 of them changed since" in status_words(
        campaign_status(answered, "pilot")
    )


def test_an_item_that_comes_back_is_shown_at_its_second_showing(
    answered: DataFolder, run: Run, tmp_path: Path
) -> None:
    table = tmp_path / "eva.csv"
    cases = ["numpy_1", "numpy_2", "pandas_1", "sklearn_1"]
    rows = [
        f"{case}_reproduced,{detector},{setting},wrong"
        for case in cases
        for detector in ("heron", "owl")
        for setting in ("code", "runtime")
    ]
    known = [TABLE.splitlines()[0], *rows[:1]]
    table.write_text("\n".join(known) + "\n")
    assert run(f"{CREATE} --repeats 0.5 --show-after {table}").code == 0
    plan = kept_campaign(answered, "pilot").plan
    assert plan.shown_after is not None
    again = {s.item for s in plan.orders["ana"] if s.showing == 2}
    (item,) = plan.shown_after.labels
    give(answered, item, "correct", event="first")
    is_repeated = item in again
    assert (told(answered) is None) == is_repeated
    if is_repeated:
        give(answered, item, "correct", event="second", showing=2)
    assert told(answered)
    journal = LabelStore(answered, "pilot").journal("ana")
    assert [*journal.shown] == [Showing(item, 1 + is_repeated)]


def test_a_browser_cannot_say_that_it_was_shown(
    answered: DataFolder, created: Plan
) -> None:
    act = {
        "event": "event-shown",
        "action": "shown",
        "item": created.items[0].item,
        "showing": 1,
    }
    taken = LabelStore(answered, "pilot").take("ana", [act])
    assert taken.refused == {
        "event-shown": "shown is not an act of an annotator"
    }


def test_the_plan_says_whose_labels_and_what_that_costs(
    run: Run, tmp_path: Path
) -> None:
    table = tmp_path / "eva.csv"
    table.write_text(TABLE)
    shown = run(f"{CREATE} --show-after {table} --dry-run")
    assert "the annotator sees that of “eva.csv” (2 of 48 items)" in shown.out
    assert "moves 1 point towards it" in shown.out
    told_as_json = run(f"{CREATE} --show-after {table} --dry-run --json")
    assert json.loads(told_as_json.out)["shown_after"] == {
        "origin": "eva.csv",
        "items": 2,
    }


def test_a_plan_with_it_is_read_back_and_one_before_it_has_none(
    created: Plan,
) -> None:
    assert plan_from_json(created.to_json()) == created
    body = json.loads(created.to_json())
    del body["shown_after"]
    assert plan_from_json(json.dumps(body)).shown_after is None
    body["shown_after"] = {"origin": "eva", "labels": {"unknown": "wrong"}}
    with pytest.raises(ValueError, match="items that it does not have"):
        plan_from_json(json.dumps(body))


def test_labels_survive_an_export_and_a_repetition_under_another_name(
    answered: DataFolder, created: Plan, run: Run, tmp_path: Path
) -> None:
    assert run("lock pilot --by lea --anyway").code == 0
    assert run(f"export pilot --out {tmp_path}/out").code == 0
    assert run(f"create later --from {tmp_path}/out/plan.json").code == 0
    later = kept_campaign(answered, "later").plan
    assert created.shown_after is not None
    assert later.shown_after is not None
    key = {
        plan.campaign: {
            plan.item(item).verdict.key: label
            for item, label in told.labels.items()
        }
        for plan, told in (
            (created, created.shown_after),
            (later, later.shown_after),
        )
    }
    assert key["pilot"] == key["later"]


@pytest.mark.parametrize(
    ("whose", "why"),
    [
        ("nobody", "No judge 'nobody' labelled items of pilot"),
        ("missing.csv", "missing.csv cannot be read"),
    ],
)
def test_unknown_labels_are_refused(run: Run, whose: str, why: str) -> None:
    refused = run(f"{CREATE} --show-after {whose}")
    assert refused.code == 1
    assert why in refused.err
