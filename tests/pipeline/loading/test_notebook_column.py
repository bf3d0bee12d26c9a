"""A dataset with a notebook column: crashing notebooks come in, in batches; the others are counted with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crane_core.pipeline.loading import notebook_column as column
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.loading.notebook_column import (
    kept_files,
    notebook_column,
)
from crane_core.pipeline.places import DataFolder, data_folder
from crane_core.storage.cases import cells
from tests.pipeline.conftest import notebook
from tests.spoken import speaker


def rows(n: int) -> list[dict[str, Any]]:
    """Every third crashes, every third runs through, every third is not a notebook."""
    texts = [
        notebook([("a = 1", 1), ("a[0]", 2)], crash=True),
        notebook([("a = 1", 1)], crash=False),
        "print('hi')",
    ]
    return [
        {"repo": f"r{i}", "content": texts[i % 3], "stars": i} for i in range(n)
    ]


def write(folder: Path, form: str, n: int = 12) -> Path:
    folder.mkdir(parents=True)
    listed = rows(n)
    for place, part in enumerate((listed[: n // 2], listed[n // 2 :])):
        if form == "parquet":
            pq.write_table(
                pa.Table.from_pylist(part), folder / f"train-{place:05}.parquet"
            )
        else:
            (folder / f"train-{place}.jsonl").write_text(
                "".join(json.dumps(row) + "\n" for row in part), "utf-8"
            )
    return folder


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_crashing_notebooks_become_instances(
    form: str,
    only_minibench: DataFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    dataset = write(tmp_path / "Some errors", form)
    done = speaker(only_minibench.path, capsys)("import", dataset, "--json")
    assert done.code == 0, done.err
    [entry] = json.loads(done.out)["imports"]
    assert entry["kind"] == "notebook-column"
    assert entry["records"]["instances"]["new"] == 4
    assert {
        (problem["place"], problem["reason"]) for problem in entry["problems"]
    } == {
        ("rows 1, 4, 7, 10", "4 skipped: no cell has an error output"),
        ("rows 2, 5, 8, 11", "4 skipped: it contains no notebook"),
    }
    store = prepare(only_minibench)
    found = cells(store.cursor(), "some-errors", "row_3")
    store.close()
    assert found["code"].tolist() == ["a = 1", "a[0]"]
    assert found["role"].tolist() == ["executed", "target"]
    assert set(found["version"]) == {"reproduced"}


def test_files_are_written_as_they_fill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column, "ROWS_PER_FILE", 2)
    dataset = notebook_column(write(tmp_path / "many", "parquet", 30))
    assert dataset is not None and dataset.column == "content"
    (tmp_path / "kept").mkdir()
    made = kept_files(dataset, tmp_path / "kept")
    first = next(made)
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [
        first.name
    ], "the rest is not read yet"
    lines = [json.loads(line) for line in first.read_text("utf-8").splitlines()]
    assert [line["row"] for line in lines if "notebook" in line] == [0, 3]
    assert len(list(made)) == 5


def test_rows_may_be_objects_and_too_large_ones_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column, "ROW_BYTES", 3_000)
    crash = json.loads(notebook([("a = 1", 1), ("a[0]", 2)], crash=True))
    large = notebook([("a = 1", 1), ("x" * 9_000, 2)], crash=True)
    lines = [{"nb": crash}, {"nb": large}, {"nb": crash}]
    file = tmp_path / "objects.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    dataset = notebook_column(file)
    assert dataset is not None
    [kept] = kept_files(dataset, tmp_path)
    read = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    assert [line["row"] for line in read if "notebook" in line] == [0, 2]
    assert read[-1] == {
        "skipped": "it is larger than 3,000 bytes",
        "n": 1,
        "rows": [1],
    }


def test_predictions_are_no_such_dataset(predictions: Path) -> None:
    assert notebook_column(predictions) is None


def test_a_broken_parquet_file_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really")
    done = speaker(data_folder(tmp_path / "data").path, capsys)(
        "import", tmp_path / "broken.parquet"
    )
    assert done.code == 1
    assert "broken.parquet cannot be read as Parquet" in done.err
