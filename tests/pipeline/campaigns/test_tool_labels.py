"""Labels in files of other annotation tools: read as those of one annotator, spans and texts kept as notes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, DrawKind, Plan, Population
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    journal_of,
    keep_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.export.forms import exported
from crane_core.pipeline.campaigns.label_import import (
    Columns,
    Read,
    read_labels,
)
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder

OURS = Population("minibench", "ours")
Write = Callable[[str, Any], Path]


@pytest.fixture
def plan(answered: DataFolder) -> Plan:
    store = prepare(answered)
    request = CampaignRequest(
        "pilot", ("ana", "eva"), OURS, Design(kind=DrawKind.ALL), seed=7
    )
    plan = drawn_plan(store, request)
    store.close()
    keep_campaign(answered, plan)
    return plan


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, content: Any) -> Path:
        """A list becomes lines in a file of JSON lines, and one document elsewhere."""
        is_lines = name.endswith(".jsonl")
        text = (
            "".join(f"{json.dumps(row)}\n" for row in content)
            if is_lines
            else json.dumps(content)
        )
        (tmp_path / name).write_text(text, "utf-8")
        return tmp_path / name

    return written


def label_studio(item: str, person: Any, *labels: str) -> dict[str, Any]:
    result = [
        {
            "from_name": "verdict",
            "to_name": "text",
            "type": "choices",
            "value": {"choices": list(labels)},
        },
        {
            "from_name": "where",
            "to_name": "text",
            "type": "labels",
            "value": {"start": 3, "end": 9, "text": "column", "labels": ["x"]},
        },
    ]
    annotation = {"id": 1, "completed_by": person, "result": result}
    cancelled = annotation | {"was_cancelled": True}
    return {
        "id": 1,
        "data": {"text": "t", "item": item},
        "annotations": [cancelled, annotation],
    }


SPAN = json.dumps({"start": 3, "end": 9, "text": "column", "labels": ["x"]})

TOOLS: dict[str, Callable[[str], Any]] = {
    "label_studio.json": lambda item: [
        label_studio(item, {"id": 5, "email": "eva@example.org"}, "partial")
    ],
    "argilla.json": lambda item: [
        {
            "id": "r1",
            "fields": {"text": "t"},
            "metadata": {"item": item},
            "responses": {
                "label": [{"value": "partial", "user_id": "eva@example.org"}],
                "note": [{"value": "unsure", "user_id": "eva@example.org"}],
            },
        }
    ],
    "prodigy.jsonl": lambda item: [
        {
            "text": "t",
            "meta": {"item": item},
            "accept": ["partial"],
            "answer": "accept",
            "_annotator_id": "eva@example.org",
            "user_input": "unsure",
        },
        {
            "text": "t",
            "meta": {"item": "not looked at"},
            "accept": [],
            "answer": "ignore",
            "_annotator_id": "eva@example.org",
        },
    ],
    "doccano.jsonl": lambda item: [
        {"id": 1, "text": "t", "item": item, "label": ["partial"],
         "Comments": ["unsure"]},
    ],
    "potato.jsonl": lambda item: [
        {
            "id": item,
            "displayed_text": "t",
            "label_annotations": {
                "diagnosis": {"partial": "2"},
                "note": {"text_box": "unsure"},
            },
        }
    ],
}  # fmt: skip


def read(folder: DataFolder, file: Path, **more: Any) -> Read:
    columns = more.pop("columns", Columns())
    return read_labels(
        LabelStore(folder, "pilot"), "eva", file, columns, {}, **more
    )


@pytest.mark.parametrize("name", TOOLS)
def test_a_label_and_its_note_come_from_each_tool(
    answered: DataFolder, plan: Plan, write: Write, name: str
) -> None:
    item = plan.items[0].item
    found = read(answered, write(name, TOOLS[name](item)))
    assert found.faults == []
    labels = [act for act in found.acts if act["action"] == "label"]
    notes = [act["note"] for act in found.acts if act["action"] == "note"]
    assert [(act["item"], act["label"]) for act in labels] == [
        (item, "partial")
    ]
    assert notes == [SPAN if name.startswith("label_studio") else "unsure"]
    assert "item from " in found.told


def test_lines_in_a_file_that_ends_in_json_are_read(
    answered: DataFolder, plan: Plan, tmp_path: Path
) -> None:
    rows = [TOOLS["potato.jsonl"](entry.item)[0] for entry in plan.items[:2]]
    file = tmp_path / "annotated_instances.json"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    assert read(answered, file).n_labels == 2


def test_among_several_people_one_is_named(
    answered: DataFolder, plan: Plan, write: Write
) -> None:
    items = [entry.item for entry in plan.items[:3]]
    file = write(
        "tasks.json",
        [
            label_studio(items[0], 4, "correct"),
            label_studio(items[1], 5, "wrong"),
            label_studio(items[2], 5, "partial"),
        ],
    )
    with pytest.raises(CampaignError) as refusal:
        read(answered, file)
    assert "labels of 2 people, and none is eva" in str(refusal.value)
    assert "'5' (2), '4' (1)" in refusal.value.remedy
    found = read(answered, file, whose="5")
    labels = [act for act in found.acts if act["action"] == "label"]
    assert [act["label"] for act in labels] == ["wrong", "partial"]
    with pytest.raises(CampaignError, match="no labels of 'kim'"):
        read(answered, file, whose="kim")


def test_two_labels_of_an_item_and_unknown_items_are_faults(
    answered: DataFolder, plan: Plan, write: Write
) -> None:
    item = plan.items[0].item
    tasks = [
        label_studio(item, 5, "correct", "wrong"),
        label_studio("elsewhere", 5, "wrong"),
    ]
    found = read(answered, write("tasks.json", tasks))
    assert [fault.words for fault in found.faults] == [
        "the item has 2 labels; it can have one",
        "'elsewhere' is not an item of pilot",
    ]
    assert found.acts == []


def test_a_path_in_place_of_the_usual_one(
    answered: DataFolder, plan: Plan, write: Write
) -> None:
    item = plan.items[0].item
    row = {"text": "t", "label": ["x"], "my": {"id": item, "label": "wrong"}}
    file = write("all.jsonl", [row])
    columns = Columns(item="my.id", label="my.label")
    found = read(answered, file, columns=columns)
    assert [act["label"] for act in found.acts] == ["wrong"]
    with pytest.raises(CampaignError, match="is not a path"):
        read(answered, file, columns=Columns(item="a[b]"))


@pytest.mark.parametrize(
    ("form", "name"),
    [("label-studio", "tasks.json"), ("dataset", "records.parquet")],
)
def test_our_own_exports_come_back_as_they_were(
    answered: DataFolder, plan: Plan, tmp_path: Path, form: str, name: str
) -> None:
    store = LabelStore(answered, "pilot")
    reasons = list(plan.labels.reason_words)
    given = {
        "ana": ["correct", "partial", "wrong"],
        "eva": ["wrong", "correct", "partial"],
    }
    for person, labels in given.items():
        rows = [
            f"{entry.item},{label},{reasons[0] if label == 'wrong' else ''},note of {person}"
            for entry, label in zip(plan.items, labels, strict=False)
        ]
        file = tmp_path / f"{person}.csv"
        file.write_text("\n".join(["item,label,reason,note", *rows]))
        columns = Columns("item", "label", "reason", "note")
        found = read_labels(store, person, file, columns, {})
        assert found.faults == []
        store.take_all(person, found.acts, source=found.source)
    lock_campaign(answered, "pilot", by="lea")
    exported_file = tmp_path / name
    content = exported(answered, "pilot", form, with_texts=False)[name]()
    exported_file.write_bytes(b"".join(content))
    before = {person: told(answered, plan, person) for person in given}
    fresh = DataFolder(tmp_path / "fresh")
    keep_campaign(fresh, plan)
    again = LabelStore(fresh, "pilot")
    for person in given:
        found = read_labels(again, person, exported_file, Columns(), {})
        assert found.faults == []
        again.take_all(person, found.acts, source=found.source)
        assert told(fresh, plan, person) == before[person]


def told(folder: DataFolder, plan: Plan, person: str) -> list[tuple[Any, ...]]:
    """Label, reason and note of each item that a person labelled."""
    journal = journal_of(folder, plan, person)
    return sorted(
        (showing.item, act.label, act.reason, journal.notes.get(showing))
        for showing, act in journal.given.items()
    )
