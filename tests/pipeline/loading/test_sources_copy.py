"""A copy of the sources' rows takes the place of reading them only where that gives the same rows."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.domain import Listed, Run, Setting
from crane_core.pipeline.loading import load
from crane_core.pipeline.loading.load import (
    import_paths,
    prepare,
    prepare_or_read,
    rebuild,
)
from crane_core.pipeline.maintenance import inventory_list
from crane_core.pipeline.places import DataFolder
from crane_core.storage.copied import copy_rows
from crane_core.storage.schema import TABLE
from crane_core.storage.store import IN_MEMORY, Store, open_store
from crane_core.storage.tables import TABLES
from tests.written_pairs import write_pair

OWN = Run(
    "minibench", "numpy_1_fixed", "own", Setting.CODE, "night", 1, crashes=True
)


def rows(store: Store) -> dict[str, list[str]]:
    cursor = store.bare_cursor()
    tables = cursor.execute(
        "SELECT table_name FROM duckdb_tables() WHERE table_name <> ?", [TABLE]
    ).fetchall()
    return {
        name: sorted(map(repr, cursor.execute(f'FROM "{name}"').fetchall()))
        for (name,) in tables
    }


def content(folder: DataFolder) -> dict[str, list[str]]:
    store = prepare(folder)
    try:
        return rows(store)
    finally:
        store.close()


def rebuilt(folder: DataFolder) -> dict[str, list[str]]:
    rebuild(folder)
    return content(folder)


def act(folder: DataFolder, what: str, kind: Listed, name: str) -> None:
    if what == "restore":
        inventory_list.restore(folder, kind, name, by="ana")
        return
    store = prepare(folder)
    try:
        if what == "rename":
            inventory_list.rename(
                store, folder, kind, name, "Another name", by="ana"
            )
        else:
            inventory_list.remove(store, folder, kind, name, by="ana")
    finally:
        store.close()


@pytest.fixture
def folder(small_folder: DataFolder, tmp_path: Path) -> DataFolder:
    """Three pairs ship, one is imported, and the ledger has a run."""
    write_pair(
        tmp_path / "mine", "trip", ["a = 0", "1 / a"], ["a = 1", "1 / a"]
    )
    import_paths([tmp_path / "mine"], small_folder)
    ledger.append(small_folder.ledger / "runs" / "night.jsonl", OWN)
    rebuild(small_folder)
    return small_folder


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that were read again, by their id."""
    found: list[str] = []
    of_embedded, of_staged = load._load_embedded, load._load_staged
    monkeypatch.setattr(
        load,
        "_load_embedded",
        lambda *given: (found.append(given[2]), of_embedded(*given))[1],
    )
    monkeypatch.setattr(
        load,
        "_load_staged",
        lambda *given: (found.append(given[2].name), of_staged(*given))[1],
    )
    return found


@pytest.mark.parametrize(
    ("kind", "name", "is_read"),
    [
        (Listed.RUN, "night", False),
        pytest.param(Listed.BENCHMARK, "mine", True, marks=pytest.mark.slow),
        pytest.param(
            Listed.BENCHMARK, "minibench", True, marks=pytest.mark.slow
        ),
        pytest.param(Listed.SOURCE, "", True, marks=pytest.mark.slow),
    ],
)
def test_what_is_removed_and_restored_leaves_the_rows_of_a_rebuild(
    folder: DataFolder,
    read: list[str],
    kind: Listed,
    name: str,
    *,
    is_read: bool,
) -> None:
    name = name or next(folder.sources.iterdir()).name
    before = content(folder)
    assert read == []
    act(folder, "remove", kind, name)
    removed = content(folder)
    assert removed != before and bool(read) == is_read
    read.clear()
    assert removed == rebuilt(folder)
    act(folder, "restore", kind, name)
    read.clear()
    restored = content(folder)
    assert bool(read) == (kind is Listed.SOURCE) or kind is Listed.BENCHMARK
    assert restored == rebuilt(folder)
    changed = {table for table in before if restored[table] != before[table]}
    assert changed <= {"inventory_acts", "ledger_files"}


@pytest.mark.slow
def test_a_removed_run_is_removed_again_and_restored_without_reading_a_source(
    folder: DataFolder, read: list[str]
) -> None:
    for what in ("remove", "restore", "remove", "restore"):
        act(folder, what, Listed.RUN, "night")
        content(folder)
    assert read == []


@pytest.mark.parametrize(
    "kind",
    [
        Listed.BENCHMARK,
        pytest.param(Listed.SOURCE, marks=pytest.mark.slow),
        pytest.param(Listed.RUN, marks=pytest.mark.slow),
    ],
)
def test_a_new_name_leaves_the_rows_of_a_rebuild(
    folder: DataFolder, kind: Listed
) -> None:
    names = {
        Listed.BENCHMARK: "mine",
        Listed.RUN: "night",
        Listed.SOURCE: next(folder.sources.iterdir()).name,
    }
    act(folder, "rename", kind, names[kind])
    renamed = content(folder)
    assert any(
        "Another name" in row
        for row in renamed["sources"] + renamed["benchmarks"]
    ) == (kind is not Listed.RUN)
    assert renamed == rebuilt(folder)


def test_a_changed_source_or_code_is_read_again(
    folder: DataFolder, read: list[str]
) -> None:
    [kept] = folder.sources.glob("*/mine.tar.gz")
    kept.touch()
    act(folder, "remove", Listed.RUN, "night")
    content(folder)
    assert "mine" in read


@pytest.mark.slow
def test_a_copy_that_cannot_be_opened_is_not_taken(
    folder: DataFolder, read: list[str]
) -> None:
    for copy in folder.path.glob("*.copy"):
        copy.write_bytes(b"no database")
    act(folder, "remove", Listed.RUN, "night")
    assert content(folder) == rebuilt(folder)
    assert "minibench" in read


@pytest.mark.slow
def test_commands_beside_a_running_app_read_no_source(
    folder: DataFolder, read: list[str], held: object
) -> None:
    expected = content(folder)
    with held(folder.database):  # type: ignore[operator]
        store = prepare_or_read(folder)
        try:
            assert store.path == IN_MEMORY
            assert rows(store) == expected
        finally:
            store.close()
    assert read == []


def test_every_row_is_copied_with_its_types(folder: DataFolder) -> None:
    store, other = prepare(folder), open_store(IN_MEMORY)
    try:
        cursor = store.bare_cursor()
        other.write(lambda target: copy_rows(cursor, target))
        assert rows(other) == rows(store)
        assert len(rows(store)["kernel_states"]) > 0
    finally:
        store.close()
        other.close()


def test_what_a_record_belongs_to_is_a_column_of_its_table() -> None:
    members = ("benchmark", "experiment", "job", "campaign")
    missing = [
        (record.__name__, member)
        for record, table in TABLES.items()
        for member in members
        if member in {field.name for field in dataclasses.fields(record)}
        and member not in table.columns
    ]
    assert missing == []
