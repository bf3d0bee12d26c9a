"""A dataset: typed for `load_dataset`, identical tables when it is imported again, no texts of others unless asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from crane_core.importers.crane_dataset import TABLES
from crane_core.pipeline.export import hf_dataset
from crane_core.pipeline.export.hf_dataset import write_dataset
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.loading import load
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder, data_folder
from crane_core.pipeline.results.exported_statistic import ExportedStatistic
from crane_core.storage.store import Store
from crane_core.storage.tables import table_rows
from tests.pipeline.conftest import ship_minibench_alone

ONE = ExportedStatistic("Results", "gain", "accuracy").measured(
    0.5, 0.4, 0.6, unit="share", method="m", n=7, n_cases=4
)


def tables(store: Store) -> dict[str, list[dict[str, Any]]]:
    return {
        name: table_rows(store.cursor(), record).to_pylist()
        for name, record in TABLES.items()
    }


@pytest.fixture
def written(
    answered: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, dict[str, Any]]:
    """Everything with its texts, which are ours; and the tables it was made from."""
    monkeypatch.setattr(
        hf_dataset, "all_statistics", lambda *_: {"gains": [ONE]}
    )
    store = prepare(answered)
    write_dataset(
        Material(store, answered), tmp_path / "dataset", with_texts=True
    )
    found = tables(store)
    store.close()
    return tmp_path / "dataset", found


def test_an_import_gives_identical_tables(
    written: tuple[Path, dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(load, "embedded", dict)
    elsewhere = data_folder(tmp_path / "elsewhere")
    imported = import_paths([written[0]], elsewhere)
    assert imported.problems == []
    store = prepare(elsewhere)
    assert tables(store) == written[1]
    store.close()


@pytest.mark.slow
def test_load_dataset_reads_typed_columns(
    written: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    program = (
        "import sys, json; from datasets import load_dataset, get_dataset_config_names\n"
        "names = get_dataset_config_names(sys.argv[1])\n"
        "read = {n: load_dataset(sys.argv[1], n, split='train', cache_dir=sys.argv[2]) for n in names}\n"
        "types = {n: {c: getattr(f, 'dtype', '') for c, f in d.features.items()} for n, d in read.items()}\n"
        "print(json.dumps({'rows': {n: len(d) for n, d in read.items()}, 'types': types}))"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            program,
            str(written[0]),
            str(tmp_path / "cache"),
        ],
        env=os.environ
        | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    expected = {
        name: len(rows) for name, rows in written[1].items() if rows
    } | {"statistics": 1}
    assert told["rows"] == expected
    assert told["types"]["verdicts"]["crashes"] == "bool"
    assert told["types"]["statistics"]["value"] == "float64"
    assert told["types"]["statistics"]["n"] == "int64"
    assert told["types"]["cases"]["root_cause"] == "string"


def test_the_card_names_the_type_of_each_column(
    written: tuple[Path, dict[str, Any]],
) -> None:
    head = yaml.safe_load(
        (written[0] / "README.md").read_text("utf-8").split("---\n")[1]
    )
    configs = {one["config_name"] for one in head["configs"]}
    assert configs == {one["config_name"] for one in head["dataset_info"]}
    for one in head["dataset_info"]:
        files = sorted((written[0] / one["config_name"]).glob("*.parquet"))
        stored = pq.read_schema(files[0])
        assert [each["name"] for each in one["features"]] == stored.names
    types = {
        (one["config_name"], each["name"]): each.get("dtype")
        for one in head["dataset_info"]
        for each in one["features"]
    }
    assert types["verdicts", "crashes"] == "bool"
    assert types["statistics", "value"] == "float64"


def test_texts_are_left_out_unless_asked_for(
    only_minibench: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship_minibench_alone(monkeypatch)
    monkeypatch.setattr(
        hf_dataset, "all_statistics", lambda *_: {"gains": [ONE]}
    )
    store = prepare(only_minibench)
    write_dataset(
        Material(store, only_minibench), tmp_path / "facts", with_texts=False
    )
    store.close()
    assert not (tmp_path / "facts" / "cells").exists()
    columns = {
        path.parent.name: pq.read_schema(path).names
        for path in (tmp_path / "facts").rglob("*.parquet")
    }
    assert not {"message", "traceback", "diagnosis"} & set(columns["cases"])
    assert "remark" not in columns["instances"]
    card = (tmp_path / "facts" / "README.md").read_text("utf-8")
    assert "not included, because they belong to their authors" in card
    assert {"BSD-3-Clause", "CC-BY-4.0", "MIT"} <= set(
        card.replace(",", " ").replace(")", " ").replace("(", " ").split()
    )
    folder = data_folder(tmp_path / "again")
    assert import_paths([tmp_path / "facts"], folder).problems == []
