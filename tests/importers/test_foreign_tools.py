"""A file of another evaluation or labelling tool is refused in one line that says how to bring its content."""

from __future__ import annotations

import json

import pytest

from crane_core.errors import SourceError
from crane_core.importers.foreign_tools import foreign_tool
from crane_core.importers.registry import importer_for
from tests.importers.conftest import TreeOf

ANSWERS = {
    ("HELM", "scenario_state.json"): json.dumps(
        {"adapter_spec": {}, "request_states": []}
    ),
}
LABELS = {
    ("Label Studio", "export.json"): json.dumps(
        [{"id": 1, "data": {}, "annotations": []}]
    ),
    ("Label Studio", "small.csv"): "item,annotation_id,annotator,label\n",
    ("Argilla", "records.json"): json.dumps([{"fields": {}, "responses": {}}]),
    ("doccano", "all.jsonl"): '{"id": 1, "text": "x", "label": ["correct"]}\n',
    (
        "Potato",
        "annotated.json",
    ): '{"id": "i1", "displayed_text": "x"}\n{"id": "i2", "displayed_text": "y"}\n',
    (
        "Prodigy",
        "labels.jsonl",
    ): '{"text": "x", "accept": ["correct"], "answer": "accept", "_annotator_id": "s"}\n',
}


@pytest.mark.parametrize("of", [*ANSWERS, *LABELS])
def test_the_tool_is_named_with_the_way_in(
    tree_of: TreeOf, of: tuple[str, str]
) -> None:
    tool, name = of
    with pytest.raises(SourceError) as refusal:
        importer_for(tree_of({name: (ANSWERS | LABELS)[of]}))
    assert f"{name} is an export of {tool}" in str(refusal.value)
    way = (
        "instance, detector, setting, index, crashes"
        if of in ANSWERS
        else "`campaign labels NAME --file FILE"
    )
    assert way in refusal.value.remedy


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "own.jsonl",
            '{"instance": "a_1_fixed", "crashes": true, "text": "x", "label": "y"}',
        ),
        (
            "own.csv",
            "instance,detector,setting,index,crashes,name,input,output,scores\n",
        ),
        ("broken.json", '{"evalId": "e", "results"'),
        ("deep.json", "[" * 100_000),
        ("list.json", "[]"),
        ("empty.jsonl", ""),
        ("empty.csv", ""),
        ("null.json", "null"),
    ],
)
def test_other_files_are_left_to_the_importers(name: str, content: str) -> None:
    assert foreign_tool(name, content.encode()) is None


def test_an_unknown_form_is_told_both_ways_in(tree_of: TreeOf) -> None:
    with pytest.raises(SourceError) as refusal:
        importer_for(tree_of({"notes.txt": "x"}))
    assert "`campaign labels` with a CSV" in refusal.value.remedy
    assert (
        "JSON lines or CSV with instance, detector, setting, index, crashes"
        in refusal.value.remedy
    )
