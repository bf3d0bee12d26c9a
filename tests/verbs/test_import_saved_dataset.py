"""`import` of folders that the library `datasets` saved: one table, several splits, with a mapping, and damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crane_core.pipeline.places import DataFolder
from tests.spoken import Run


def rows(detector: str, crashes: str = "crashes") -> list[dict[str, Any]]:
    return [
        {
            "instance": f"numpy_{case}_{version}",
            "detector": detector,
            "setting": "code",
            "index": 1,
            crashes: version == "reproduced",
            "benchmark": "minibench",
        }
        for case in (1, 2)
        for version in ("reproduced", "fixed")
    ]


def n_runs(run: Run) -> list[tuple[str, int]]:
    said = run(
        "sql",
        "SELECT detector, count(*) AS n FROM runs WHERE detector LIKE 'ibis%' GROUP BY ALL ORDER BY ALL",
        "--json",
    )
    return [(row["detector"], row["n"]) for row in json.loads(said.out)]


def test_a_table_and_the_splits_of_a_dataset_are_imported(
    run: Run, folder: DataFolder, tmp_path: Path
) -> None:
    from datasets import Dataset, DatasetDict

    one, splits = tmp_path / "answers", tmp_path / "splits"
    Dataset.from_list(rows("ibis")).save_to_disk(one)
    DatasetDict(
        {
            name: Dataset.from_list(rows(f"ibis-{name}"))
            for name in ("first", "second")
        }
    ).save_to_disk(splits)
    assert run("import", str(one)).code == 0
    assert run("import", str(splits)).code == 0
    assert n_runs(run) == [("ibis", 4), ("ibis-first", 4), ("ibis-second", 4)]


def test_a_damaged_one_is_refused(
    run: Run, folder: DataFolder, tmp_path: Path
) -> None:
    from datasets import Dataset

    place = tmp_path / "answers"
    Dataset.from_list(rows("ibis")).save_to_disk(place)
    [table] = place.glob("*.arrow")
    table.write_bytes(table.read_bytes()[:100])
    for damage in (None, "{"):
        if damage:
            (place / "state.json").write_text(damage)
        said = run("import", str(place))
        assert said.code == 1
        assert "answers is a dataset that cannot be read" in said.err
        assert "save_to_disk" in said.err
    assert n_runs(run) == []
