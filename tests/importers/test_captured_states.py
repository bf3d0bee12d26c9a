"""Files that `capture` wrote become states; what is none, or of no pair, is a problem with its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crane_core.domain import KernelState, LoadProblem, Record, Setting
from crane_core.importers.registry import importer_for

from .conftest import TreeOf

FRAME = {
    "type": "pandas.DataFrame",
    "structure": {"shape": [3, 2]},
    "representation": {},
    "values": {},
}
STATE: dict[str, Any] = {
    "schema_version": 2,
    "captured": {
        "python": "3.11.2",
        "packages": {"pandas": "3.1.1"},
        "seconds": 0.001,
    },
    "variables": {
        "laps": FRAME | {"plus": {"values": {"has_duplicates": True}}},
        "odd": {"type": "x.Odd", "unavailable": "slow"},
    },
    "accesses": {},
    "absent": {"names": ["lanes"], "attributes": [], "columns": [], "keys": []},
    "unavailable": {"odd": "slow"},
    "notebook": "swim_1_fixed.ipynb",
    "target": 4,
    "probes": [],
}


def read(tree_of: TreeOf, *documents: Any) -> list[Record]:
    texts = [
        document if isinstance(document, str) else json.dumps(document)
        for document in documents
    ]
    tree = tree_of({f"state_{n}.json": text for n, text in enumerate(texts)})
    importer = importer_for(tree)
    assert importer.KIND == "captured-states"
    return list(importer.read(tree))


def test_a_file_becomes_the_state_of_its_instance(tree_of: TreeOf) -> None:
    [state] = read(tree_of, STATE | {"benchmark": "Swim School"})
    assert isinstance(state, KernelState)
    assert (state.benchmark, state.instance_id) == (
        "swim-school",
        "swim_1_fixed",
    )
    assert (state.setting, state.origin, state.schema_version) == (
        Setting.RUNTIME_PLUS,
        "capture",
        2,
    )
    assert state.variables["laps"].plus == {"values": {"has_duplicates": True}}
    assert state.variables["odd"].unavailable == "slow"
    told = state.to_json()
    assert {
        name: told[name] for name in ("absent", "unavailable", "captured")
    } == {name: STATE[name] for name in ("absent", "unavailable", "captured")}


def test_without_a_benchmark_it_is_junobench_as_for_predictions(
    tree_of: TreeOf,
) -> None:
    [state] = read(tree_of, STATE)
    assert isinstance(state, KernelState)
    assert state.benchmark == "junobench"


def test_several_files_are_several_states(tree_of: TreeOf) -> None:
    records = read(
        tree_of, STATE, STATE | {"notebook": "swim_1_reproduced.ipynb"}
    )
    assert [getattr(record, "instance_id", None) for record in records] == [
        "swim_1_fixed",
        "swim_1_reproduced",
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"notebook": "swim.ipynb"},
            "swim.ipynb is not called <case>_reproduced.ipynb or <case>_fixed.ipynb",
        ),
        ({"notebook": None}, "notebook is missing"),
        ({"schema_version": 1}, "expected a captured state of schema 2"),
        ({"absent": []}, "absent must be an object"),
        ({"variables": {"laps": []}}, "the entry 'laps' is not an object"),
        ({"variables": {"laps": {"structure": {}}}}, "type is missing"),
        (
            {"accesses": {"laps.x": FRAME | {"plus": 3}}},
            "plus must be an object",
        ),
    ],
)
def test_what_is_no_captured_state_is_a_problem(
    tree_of: TreeOf, changes: dict[str, Any], reason: str
) -> None:
    [problem, state] = read(tree_of, STATE | changes, STATE)
    assert problem == LoadProblem("state_0.json", "file", reason)
    assert isinstance(state, KernelState)


def test_a_torn_file_is_a_problem(tree_of: TreeOf) -> None:
    [problem] = read(tree_of, json.dumps(STATE)[:150])
    assert isinstance(problem, LoadProblem)
    assert "it is not JSON" in problem.reason
