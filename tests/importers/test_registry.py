"""The folder is the registry: a module with a KIND is an importer, and the surest one reads a tree."""

from __future__ import annotations

import pytest

from crane_core.errors import SourceError
from crane_core.importers.registry import importer_for, importers

from .conftest import TreeOf

MARKS = {
    "crane-dataset": "crane_dataset.json",
    "crane-llm-2025-10": "llms/llms_outputs/results_raw/gpt_5/crash_detection_code/pandas_1_fixed.json",
    "crane-llm-2026": "llms/llms_outputs/results_raw/crash_detection_gpt5_code/pandas_1_fixed.json",
    "junobench-construct": "llms/detect_if_cell_crash/m/results_buggy/crash_detection_results_pandas_1.json",
    "notebook-pairs": "benchmark/pandas_1/pandas_1_fixed.ipynb",
    "predictions": "mine.jsonl",
    "published-facts": "detections.csv",
}


def test_every_module_with_a_kind_is_an_importer() -> None:
    kinds = [importer.KIND for importer in importers()]
    told_by_content = ["captured-states", "inspect-log", "mapped-answers"]
    told_where_alone = ["notebook-column"]
    assert kinds == sorted([*MARKS, *told_by_content, *told_where_alone])


@pytest.mark.parametrize("kind", MARKS)
def test_each_layout_is_read_by_its_own_importer(
    tree_of: TreeOf, kind: str
) -> None:
    tree = tree_of({MARKS[kind]: "[]", "cases.csv": "", "LICENSE": ""})
    assert kind == importer_for(tree).KIND
    assert all(0 <= importer.recognises(tree) <= 1 for importer in importers())


def test_without_any_layout_the_refusal_lists_what_there_is(
    tree_of: TreeOf,
) -> None:
    with pytest.raises(SourceError) as refusal:
        importer_for(tree_of({"README.md": "", "thesis.pdf": ""}, "thesis"))
    assert "thesis holds 2 files" in str(refusal.value)
    assert all(kind in refusal.value.remedy for kind in MARKS)


def test_an_empty_source_is_refused(tree_of: TreeOf) -> None:
    with pytest.raises(SourceError, match="made is empty"):
        importer_for(tree_of({}))
