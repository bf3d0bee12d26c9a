"""What every test may ask for: the checkout's root, a prepared store, and the Chromium that `make test` found."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import duckdb
import pytest

from crane_core.pipeline.loading import load
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder, data_folder
from crane_core.storage.store import IN_MEMORY, Store, open_store
from tests import examples, few_pairs, shared
from tests.spoken import Run, speaker

examples.register()

CHROMIUM_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


TWELVE = (
    "NBspecific_1", "NBspecific_2", "matplotlib_1", "matplotlib_2", "numpy_1", "numpy_2", "pandas_1", "pandas_2",
    "pandas_3", "sklearn_1", "sklearn_2", "sklearn_3",
)  # fmt: skip
"""Cases of the minibench that the tests of campaigns are about."""
THREE = ("NBspecific_2", "numpy_1", "pandas_1")
"""Cases of the minibench that the tests of verbs are about."""


def pytest_configure() -> None:
    """Collect no garbage while tests are collected: what is imported and made then stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what is loaded to the end out of every later garbage collection.

    With torch and TensorFlow in the process one collection takes a third of a second, and some tests ask for hundreds.
    """
    gc.enable()
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Or duckdb's binding counts what is never collected as leaked, on stderr."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def no_named_interpreter() -> Iterator[None]:
    """No later test asks an interpreter that a test has named: one that never answers costs 20 s."""
    yield
    if loaded := sys.modules.get("crane_core.runtime.interpreters"):
        loaded._named.clear()


@pytest.fixture(scope="session")
def root() -> Path:
    """The top folder of the checkout."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def chromium() -> str | None:
    """Executable for playwright's `launch(executable_path=...)`; None lets playwright take its own."""
    named = os.environ.get("CRANE_CHROMIUM")
    return named or next(
        (path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None
    )


@pytest.fixture(scope="session")
def run_folder(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder that all workers of this run have, for `tests.shared`."""
    return shared.run_folder(pytestconfig, tmp_path_factory)


@pytest.fixture(scope="session")
def prepared_folder(run_folder: Path) -> Iterator[DataFolder]:
    """A data folder with the embedded data loaded; of all workers, to be copied, not changed."""
    folder = DataFolder(
        shared.made_once(
            run_folder / "prepared",
            lambda place: prepare(DataFolder(place)).close(),
        )
    )
    with read_only(folder):
        yield folder


@pytest.fixture
def whole_folder(prepared_folder: DataFolder, tmp_path: Path) -> DataFolder:
    """A prepared data folder of the test's own with all embedded data."""
    return DataFolder(
        Path(shutil.copytree(prepared_folder.path, tmp_path / "data"))
    )


@pytest.fixture
def folder(whole_folder: DataFolder) -> DataFolder:
    """The data folder of a test; folders of tests and some files give a smaller one."""
    return whole_folder


@pytest.fixture
def run(folder: DataFolder, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a verb on the test's own data folder, in this process."""
    return speaker(folder.path, capsys)


@pytest.fixture(scope="session")
def three_pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three pairs of the minibench with their kernel states, in place of all that ships; they load sooner."""
    minibench = few_pairs.cut(tmp_path_factory.mktemp("ships"), THREE)
    return {"minibench": minibench, "minibench-states": minibench / "states"}


@pytest.fixture
def three_pairs_ship(
    three_pairs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From here on they are all of the embedded data, in this process."""
    monkeypatch.setattr(load, "embedded", lambda: three_pairs)


@pytest.fixture(scope="session")
def small_prepared_folder(
    three_pairs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> DataFolder:
    """A data folder with the three pairs loaded, closed; to be copied, not changed."""
    folder = data_folder(tmp_path_factory.mktemp("small"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "embedded", lambda: three_pairs)
        prepare(folder).close()
    return folder


@pytest.fixture
def small_folder(
    small_prepared_folder: DataFolder, three_pairs_ship: None, tmp_path: Path
) -> DataFolder:
    """Such a data folder of the test's own."""
    return DataFolder(
        Path(shutil.copytree(small_prepared_folder.path, tmp_path / "data"))
    )


@contextmanager
def read_only(folder: DataFolder) -> Iterator[None]:
    """A test that opens this database to write fails always, not only when another worker does the same."""
    with duckdb.connect(str(folder.database), read_only=True):
        yield


@pytest.fixture(scope="session")
def answered_folder(
    prepared_folder: DataFolder, run_folder: Path
) -> Iterator[DataFolder]:
    """A data folder with answers of two models to twelve cases of the minibench; of all workers, to be copied.

    Experiment "ours", our own texts: both predict every crash, with and without runtime state, in three runs each.
    """

    def make(place: Path) -> None:
        shutil.copytree(prepared_folder.path, place, dirs_exist_ok=True)
        answers = place.with_suffix(".jsonl")
        answers.write_text(_answers_of_two_models(), "utf-8")
        import_paths([answers], DataFolder(place))

    folder = DataFolder(shared.made_once(run_folder / "answered", make))
    with read_only(folder):
        yield folder


def _answers_of_two_models() -> str:
    lines = [
        {
            "benchmark": "minibench",
            "instance": f"{case}_reproduced",
            "detector": detector,
            "setting": setting,
        }
        | {
            "index": index,
            "crashes": True,
            "reasoning": f"{case} fails, said {index % 2}",
            "experiment": "ours",
        }
        for case in TWELVE
        for detector in ("Heron", "Egret")
        for setting in ("code", "runtime")
        for index in (1, 2, 3)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.fixture
def answered(answered_folder: DataFolder, tmp_path: Path) -> DataFolder:
    """Such a data folder of the test's own."""
    return DataFolder(
        Path(shutil.copytree(answered_folder.path, tmp_path / "answered"))
    )


@pytest.fixture(scope="session")
def embedded_store(
    prepared_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """An open store with the embedded data, to be read only."""
    store = open_store(
        shutil.copy(
            prepared_folder.database,
            tmp_path_factory.mktemp("embedded") / "crane.duckdb",
        )
    )
    yield store
    store.close()


@pytest.fixture(scope="module")
def emptied_store() -> Iterator[Store]:
    """A store in memory for tests of many examples, which empty it first: that takes a tenth of making one."""
    store = open_store(IN_MEMORY)
    yield store
    store.close()


@pytest.fixture(scope="session")
def held() -> Callable[..., AbstractContextManager[None]]:
    """A context in which another process has the given database open, to write or only to read."""
    program = (
        "import duckdb, sys; held = duckdb.connect(sys.argv[1], read_only=len(sys.argv) > 2); "
        "print('held', flush=True); sys.stdin.read()"
    )

    @contextmanager
    def hold(database: Path, *how: str) -> Iterator[None]:
        command = [sys.executable, "-c", program, str(database), *how]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert (
                process.stdout is not None
                and process.stdout.readline() == b"held\n"
            )
            yield
            assert process.stdin is not None
            process.stdin.close()

    return hold
