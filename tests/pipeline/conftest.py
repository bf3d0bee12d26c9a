"""Sources to import: predictions, notebook pairs, and the published archive where it is available."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    LabelledVerdict,
    Plan,
    Population,
)
from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.pipeline.campaigns.campaigns import keep_campaign
from crane_core.pipeline.loading import load
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder, data_folder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.storage.store import Store, open_store
from tests.few_pairs import five_pairs

Cells = list[tuple[str, int | None]]
"""Source and execution count of each code cell."""


def notebook(cells: Cells, *, crash: bool) -> str:
    """An .ipynb file; with `crash` the last cell has an error output."""
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "no lanes",
        "traceback": ["ValueError: no lanes"],
    }
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{index}",
                    "metadata": {},
                    "source": source,
                    "execution_count": count,
                    "outputs": [error]
                    if crash and index == len(cells) - 1
                    else [],
                }
                for index, (source, count) in enumerate(cells)
            ],
        }
    )


@pytest.fixture(scope="session")
def write_pair() -> Callable[..., tuple[Path, Path]]:
    """Write the two notebooks of a case into a folder; the paths of the crashing and the fixed one."""

    def write(
        folder: Path, case_id: str, cells: Cells | None = None
    ) -> tuple[Path, Path]:
        folder.mkdir(parents=True, exist_ok=True)
        used = cells or [("lanes = []", 1), ("lanes[0]", 2)]
        paths = (
            folder / f"{case_id}_reproduced.ipynb",
            folder / f"{case_id}_fixed.ipynb",
        )
        paths[0].write_text(notebook(used, crash=True), "utf-8")
        paths[1].write_text(notebook(used, crash=False), "utf-8")
        return paths

    return write


@pytest.fixture
def pairs_folder(root: Path, tmp_path: Path) -> Path:
    """One's own folder with three pairs of the minibench, and files that are none."""
    return write_pairs_folder(root, tmp_path)


def write_pairs_folder(root: Path, place: Path) -> Path:
    folder = place / "My pairs"
    for case_id in ("numpy_1", "pandas_1", "NBspecific_2"):
        shutil.copytree(
            root / "data" / "minibench" / "benchmark" / case_id,
            folder / "benchmark" / case_id,
        )
    (folder / "README.md").write_text("Three pairs.\n")
    return folder


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    """Answers of a detector to the minibench, one line of which is invalid."""
    return write_predictions(tmp_path)


def write_predictions(place: Path) -> Path:
    lines: list[dict[str, object]] = [
        {
            "benchmark": "minibench",
            "instance": f"numpy_{case}_{version}",
            "detector": "My Model",
            "setting": "code",
        }
        | {
            "index": index,
            "crashes": version == "reproduced",
            "reasoning": f"answer {index}",
        }
        for case in (1, 2)
        for version in ("reproduced", "fixed")
        for index in (1, 2, 3)
    ]
    path = place / "mine.jsonl"
    path.write_text(
        "".join(
            json.dumps(line) + "\n"
            for line in [*lines, {"instance": "numpy_1"}]
        ),
        "utf-8",
    )
    return path


@pytest.fixture(scope="session")
def minibench_folder(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """A data folder with five pairs of the minibench, which load in no time; to be copied, not changed."""
    folder = data_folder(tmp_path_factory.mktemp("minibench") / "data")
    with pytest.MonkeyPatch.context() as patch:
        ship_minibench_alone(patch)
        prepare(folder).close()
    return folder


def ship_minibench_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on five pairs of the minibench are all of the embedded data."""
    small = {"minibench": five_pairs()}
    monkeypatch.setattr(load, "embedded", lambda: small)


@pytest.fixture
def only_minibench(
    minibench_folder: DataFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> DataFolder:
    """Such a data folder of the test's own, in a checkout that ships nothing else."""
    ship_minibench_alone(monkeypatch)
    return DataFolder(
        Path(shutil.copytree(minibench_folder.path, tmp_path / "data"))
    )


@pytest.fixture(scope="session")
def crane_llm_archive(root: Path) -> Path:
    archive = root.parent / "shared" / "upstream" / "crane_llm.tar.gz"
    if not archive.is_file():
        pytest.skip(
            "the published archive crane_llm.tar.gz is not beside the checkout"
        )
    return archive


@pytest.fixture(scope="session")
def study_store(
    crane_llm_archive: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """An open store with the embedded data and the published archive, to be read only."""
    folder = DataFolder(tmp_path_factory.mktemp("study"))
    import_paths([crane_llm_archive], folder)
    store = prepare(folder)
    yield store
    store.close()


@pytest.fixture(scope="session")
def told_store(
    prepared_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """The embedded answers of the study, those that predict a crash with our own text; to be read only."""
    store = open_store(
        shutil.copy(
            prepared_folder.database,
            tmp_path_factory.mktemp("told") / "crane.duckdb",
        )
    )
    store.write(
        lambda cursor: cursor.execute(
            "UPDATE runs SET reasoning = 'It fails.' WHERE crashes"
        )
    )
    yield store
    store.close()


@pytest.fixture(scope="session")
def verdicts(embedded_store: Store) -> pd.DataFrame:
    """Of everything that ships; to be read only."""
    return verdict_frame(embedded_store)


@pytest.fixture(scope="session")
def study(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The verdicts of the published study."""
    return verdicts[verdicts["experiment"] == "crane-llm-2025-10"]


@pytest.fixture(scope="session")
def models(study: pd.DataFrame) -> pd.DataFrame:
    """Those of its language models."""
    return study[study["detector_kind"] == "llm"]


@pytest.fixture
def store(answered: DataFolder) -> Iterator[Store]:
    """The store of a folder with local answers."""
    opened = prepare(answered)
    yield opened
    opened.close()


@pytest.fixture
def base_url() -> Iterator[str]:
    """A model whose answers are made up."""
    with fake_server(FakePlan(seed=7)) as address:
        yield address


@pytest.fixture
def empty(tmp_path: Path) -> DataFolder:
    """A data folder without anything."""
    return data_folder(tmp_path)


@pytest.fixture
def pilot(tmp_path: Path) -> Callable[..., tuple[DataFolder, Plan]]:
    """Keep a campaign "pilot" about verdicts that nobody gave, in a data folder without a database."""

    def keep(
        n: int = 60,
        annotators: tuple[str, ...] = ("ana", "ben"),
        repeats: float = 0.05,
    ) -> tuple[DataFolder, Plan]:
        verdicts = [
            LabelledVerdict(
                "made",
                f"case_{i}_reproduced",
                "heron",
                "code",
                "ours",
                f"case_{i}",
            )
            for i in range(n)
        ]
        wish = CampaignRequest(
            "pilot",
            annotators,
            Population("made", "ours"),
            Design(kind=DrawKind.ALL, repeats=repeats),
            seed=5,
        )
        plan = draw_plan(
            wish,
            verdicts,
            guideline="g1",
            created_at="2026-01-02T03:04:05+00:00",
            left_out=0,
        )
        folder = DataFolder(tmp_path / "data")
        keep_campaign(folder, plan)
        return folder, plan

    return keep


def answers_of_job(store: Store, job: str) -> pd.DataFrame:
    """Every answer of a job as it lies in its table, by instance and index."""
    return (
        store.cursor()
        .execute(
            "FROM runs WHERE experiment = ? ORDER BY instance_id, run_index",
            [job],
        )
        .df()
    )
