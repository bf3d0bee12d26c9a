"""Prompts of stored instances: published inputs byte for byte, and the cells that a state was taken beside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from crane_core.domain import (
    Benchmark,
    Case,
    Cell,
    CellRole,
    Instance,
    KernelState,
    Record,
    Setting,
    VariableState,
    Version,
)
from crane_core.errors import PromptError
from crane_core.importers.crane_llm_inputs import InputFile, read_inputs
from crane_core.importers.filetree import FileTree, open_tree
from crane_core.pipeline.detection.prompt import prompt_of_instance
from crane_core.prompts.published import split_input
from crane_core.prompts.template import PLACEHOLDER, Template
from crane_core.storage import write
from crane_core.storage.store import IN_MEMORY, Store, open_store

OCTOBER = "crane-llm-2025-10"
BARE = Template("bare", PLACEHOLDER)
_INPUT = re.compile(
    r".*/executed_(?P<kind>code|code_runinfo)/[^/]+/(?P<name>\w+)\.txt"
)
_SETTINGS = {"code": Setting.CODE, "code_runinfo": Setting.RUNTIME}


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store(IN_MEMORY)
    yield opened
    opened.close()


def put(store: Store, *records: Record) -> None:
    store.write(
        lambda cursor: write.add_records(
            cursor, list(records), source_id="made"
        )
    )


def input_files(tree: FileTree) -> list[InputFile]:
    found = [
        (path, _INPUT.fullmatch(path))
        for path in tree.paths
        if "/llms_inputs/" in path
    ]
    return [
        InputFile(path, match["name"], _SETTINGS[match["kind"]])
        for path, match in found
        if match
    ]


@pytest.mark.slow
def test_every_published_input_comes_back_out_of_the_store(
    store: Store, root: Path
) -> None:
    archive = root.parent / "shared" / "upstream" / "crane_llm.tar.gz"
    if not archive.is_file():
        pytest.skip(
            f"the published archive {archive.name} is not beside the checkout"
        )
    tree = open_tree(archive)
    files = input_files(tree)
    names = {file.instance_id for file in files}
    instances = [
        Instance(
            "junobench",
            name.rpartition("_")[0],
            Version(name.rpartition("_")[2]),
        )
        for name in sorted(names)
    ]
    put(store, *instances, *read_inputs(tree, files, OCTOBER))
    different = []
    for file in files:
        written = prompt_of_instance(
            store, file.instance_id, file.setting, BARE
        )
        if (
            not written.prompt.text
            == written.body
            == tree.read(file.path).decode("utf-8")
        ):
            different.append(file.path)
    assert (len(files), different) == (444, [])


def made(benchmark: str, origin: str, *codes: str) -> list[Record]:
    """An instance trip_1_fixed: cells of which the last is the target."""
    roles = [CellRole.EXECUTED] * (len(codes) - 1) + [CellRole.TARGET]
    return [
        Cell(
            benchmark,
            "trip_1_fixed",
            origin,
            position,
            role,
            code,
            notebook_index=position,
        )
        for position, (role, code) in enumerate(zip(roles, codes, strict=True))
    ]


def instance(benchmark: str) -> list[Record]:
    return [
        Benchmark(benchmark, benchmark),
        Case(benchmark, "trip_1"),
        Instance(benchmark, "trip_1", Version.FIXED),
    ]


def state(
    benchmark: str,
    origin: str,
    setting: Setting,
    value: int,
    ran: list[int] | None = None,
) -> KernelState:
    captured = (
        {}
        if ran is None
        else {"cells": [{"cell": index, "seconds": 0.1} for index in ran]}
    )
    variables = {
        "x": VariableState(
            "int", values={"value": value}, plus={"values": {"prime": True}}
        )
    }
    schema = 1 if ran is None else 2
    return KernelState(
        benchmark,
        "trip_1_fixed",
        setting,
        origin,
        variables,
        schema_version=schema,
        captured=captured,
    )


def test_a_captured_state_stands_beside_the_cells_of_its_notebook(
    store: Store,
) -> None:
    put(
        store,
        *instance("junobench"),
        *made("junobench", OCTOBER, "x=1", "x"),
        *made("junobench", "notebook", "x = 1  # one", "x"),
        state("junobench", OCTOBER, Setting.RUNTIME, 1),
        state("junobench", "capture", Setting.RUNTIME_PLUS, 2, [0]),
    )
    published = prompt_of_instance(store, "trip_1_fixed", Setting.RUNTIME, BARE)
    assert split_input(published.body).executed == ("x=1",)
    assert "'value': 1" in published.body
    captured = prompt_of_instance(
        store, "trip_1_fixed", Setting.RUNTIME_PLUS, BARE
    )
    assert split_input(captured.body).executed == ("x = 1  # one",)
    assert '{"prime": true, "value": 2}' in captured.body
    assert captured.prompt.origin == "notebook in bare"
    assert split_input(
        prompt_of_instance(store, "trip_1_fixed", Setting.CODE, BARE).body
    ).executed == ("x=1",)


def test_a_state_published_under_the_very_setting_comes_before_one_that_can_be_cut_to_it(
    store: Store,
) -> None:
    put(
        store,
        *instance("junobench"),
        *made("junobench", OCTOBER, "x"),
        *made("junobench", "crane-llm-2026", "y"),
        state("junobench", OCTOBER, Setting.RUNTIME, 1),
        state("junobench", "crane-llm-2026", Setting.RUNTIME_WITHOUT_S, 2),
    )
    assert (
        "'value': 2"
        in prompt_of_instance(
            store, "trip_1_fixed", Setting.RUNTIME_WITHOUT_S, BARE
        ).body
    )
    assert (
        "'value': 1"
        in prompt_of_instance(
            store, "trip_1_fixed", Setting.RUNTIME_WITHOUT_R, BARE
        ).body
    )


def test_a_state_captured_before_another_target_is_refused(
    store: Store,
) -> None:
    put(
        store,
        *instance("mine"),
        *made("mine", "notebook", "x = 1", "x = 2", "x"),
        state("mine", "capture", Setting.RUNTIME_PLUS, 1, [0]),
    )
    with pytest.raises(
        PromptError, match="captured for a different target cell"
    ):
        prompt_of_instance(store, "trip_1_fixed", Setting.RUNTIME_PLUS)


def test_the_benchmark_with_the_texts_is_meant(store: Store) -> None:
    put(
        store,
        *instance("junobench"),
        *instance("mine"),
        *made("mine", "notebook", "x"),
    )
    assert (
        prompt_of_instance(store, "trip_1_fixed", Setting.CODE).prompt.benchmark
        == "mine"
    )
    put(store, *made("junobench", OCTOBER, "y"))
    assert (
        prompt_of_instance(store, "trip_1_fixed", Setting.CODE).prompt.benchmark
        == "junobench"
    )
    named = prompt_of_instance(
        store, "trip_1_fixed", Setting.CODE, benchmark="mine"
    )
    assert named.prompt.benchmark == "mine"


def test_two_benchmarks_of_ones_own_must_be_told_apart(store: Store) -> None:
    for benchmark in ("mine", "yours"):
        put(store, *instance(benchmark), *made(benchmark, "notebook", "x"))
    with pytest.raises(PromptError, match="of mine and of yours"):
        prompt_of_instance(store, "trip_1_fixed", Setting.CODE)


def test_what_is_not_at_hand_is_told_with_a_remedy(store: Store) -> None:
    with pytest.raises(PromptError, match="no instance trip_1_fixed"):
        prompt_of_instance(store, "trip_1_fixed", Setting.CODE)
    put(store, *instance("junobench"))
    with pytest.raises(PromptError, match="fetch crane-llm"):
        prompt_of_instance(store, "trip_1_fixed", Setting.CODE)
    put(store, *made("junobench", OCTOBER, "x"))
    with pytest.raises(PromptError, match=r"has the facts for runtime\+"):
        prompt_of_instance(store, "trip_1_fixed", Setting.RUNTIME_PLUS)
