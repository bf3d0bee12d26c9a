"""Cases that visitors bring: one source each, in their own benchmarks only."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from crane_core.errors import SourceError
from crane_core.pipeline.loading.load import import_paths, prepare, rebuild
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.verification.add_case import (
    NewCase,
    add_own_case,
    own_benchmarks,
)
from crane_core.runtime.limits import KernelLimits
from crane_core.storage import cases, state
from crane_core.storage.store import Store
from tests.written_pairs import write_notebook, write_pair

CRASHING, FIXED = ["a = 0", "1 / a"], ["a = 1", "1 / a"]


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    (tmp_path / "data").mkdir()
    return DataFolder(tmp_path / "data")


@pytest.fixture
def store(folder: DataFolder) -> Iterator[Store]:
    opened = prepare(folder)
    yield opened
    opened.close()


def new_case(place: Path, name: str, zero: str = "0") -> NewCase:
    crashing, fixed = (
        write_notebook(
            place / f"{name}{n}.ipynb", [code.replace("0", zero), "1 / a"]
        )
        for n, code in enumerate(("a = 0", "a = 1"))
    )
    return NewCase(
        name,
        json.loads(crashing.read_text()),
        json.loads(fixed.read_text()),
        None,
        library="numpy",
    )


@pytest.mark.slow
def test_two_cases_share_a_benchmark_and_survive_a_rebuild(
    tmp_path: Path, folder: DataFolder, store: Store
) -> None:
    write_pair(tmp_path / "My Pairs", "tour", CRASHING, FIXED)
    import_paths([tmp_path / "My Pairs"], folder, store)
    for name, zero in (("trip", "0"), ("ride", "False")):
        own = add_own_case(
            new_case(tmp_path, name, zero),
            "My Pairs",
            folder,
            store,
            KernelLimits(),
            stop=threading.Event(),
        )
        assert (own.benchmark, own.added.exception) == (
            "my-pairs",
            "ZeroDivisionError",
        )
    assert own_benchmarks(store) == ["my-pairs"]
    assert set(cases.case_list(store.cursor(), "my-pairs")["case_id"]) == {
        "tour",
        "trip",
        "ride",
    }
    assert set(state.load_problems(store.cursor())["source_id"]) == {
        "published"
    }
    with pytest.raises(SourceError, match="my-pairs has a case trip already"):
        add_own_case(
            new_case(tmp_path, "trip", "0.0"),
            "My Pairs",
            folder,
            store,
            KernelLimits(),
            stop=threading.Event(),
        )
    before = state.content(store.cursor())
    store.close()
    rebuild(folder)
    again = prepare(folder)
    try:
        assert state.content(again.cursor()) == before
    finally:
        again.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["junobench", "MiniBench"])
def test_benchmarks_of_others_take_no_case(
    tmp_path: Path, folder: DataFolder, store: Store, name: str
) -> None:
    with pytest.raises(SourceError, match="is not your own benchmark"):
        add_own_case(
            new_case(tmp_path, "trip"),
            name,
            folder,
            store,
            KernelLimits(),
            stop=threading.Event(),
        )
