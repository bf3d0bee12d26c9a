"""`note`: what is written about a case, an answer or a label can be listed, removed, restored and exported."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from crane_core.pipeline.loading.load import import_paths
from crane_core.pipeline.notes.reading import COLUMNS
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run

AT = ("--benchmark", "minibench")
WHY = "The key is missing after the merge."


@pytest.fixture
def answered(folder: DataFolder, tmp_path: Path) -> DataFolder:
    """Three pairs, and three answers to one of their notebooks."""
    file = tmp_path / "mine.jsonl"
    row = {"instance": "pandas_1_fixed", "detector": "m", "setting": "code"}
    row |= {"benchmark": "minibench", "reasoning": WHY}
    rows = [row | {"index": n, "crashes": n > 1} for n in (1, 2, 3)]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    import_paths([file], folder)
    return folder


def test_notes_are_written_listed_removed_and_restored(
    run: Run, answered: DataFolder, tmp_path: Path
) -> None:
    assert answered.database.exists()
    mine = ("pandas_1", *AT, "--by", "ana")
    assert run("note", *mine, "--tag", "merge").code == 0
    assert run("note", *mine, "--comment", "@ben\nsee cell 2").code == 0
    fixed = WHY.replace("merge", "join")
    answer = ("--run", "mine", "--index", "2")
    said = run("note", *mine, "--diagnosis", fixed, *answer)
    assert "after the [-merge-]{+join+}." in said.err
    assert run("note", *mine, "--comment", "all", "--run", "mine").code == 0
    listed = json.loads(run("note", "--json").out)
    assert [row["kind"] for row in listed] == [
        "tag",
        "comment",
        "diagnosis",
        "comment",
    ]
    about = [(row["about"], row["run_index"]) for row in listed]
    assert about == [
        ("case", None),
        ("case", None),
        ("answer", 2),
        ("answer", 0),
    ]
    assert listed[1]["mentions"] == "ben"
    assert listed[2]["corrects"] == WHY
    tagged = json.loads(run("note", "--tagged", "MERGE", "--json").out)
    assert tagged == listed[:1]
    assert run("note", "numpy_3", *AT).out.strip() == "none"
    assert (
        run("note", "--remove", listed[0]["note"], "--reason", "wrong").code
        == 0
    )
    assert "wrong" in run("note", "--removed").out
    out = tmp_path / "notes.csv"
    assert run("export", "--notes", out).code == 0
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert tuple(rows[0]) == COLUMNS
    assert [row["removed_because"] for row in rows] == ["wrong", "", "", ""]
    assert rows[2]["difference"].endswith("after the [-merge-]{+join+}.")
    assert run("note", "--restore", listed[0]["note"]).code == 0
    assert json.loads(run("note", "--json").out) == listed
    assert run("export", "--notes", tmp_path / "notes.json").code == 0
    exported = json.loads((tmp_path / "notes.json").read_text("utf-8"))
    assert exported == listed


def test_what_cannot_be_noted_is_refused(
    run: Run, answered: DataFolder, tmp_path: Path
) -> None:
    assert "about a case" in run("note", "--tag", "x").err
    assert (
        "has no such answer"
        in run(
            *("note", "pandas_1", *AT, "--comment", "x", "--run", "other")
        ).err
    )
    assert "can be removed" in run("note", "--remove", "x").err
    for name in ("there.txt", "none/notes.csv"):
        assert run("export", "--notes", tmp_path / name).code == 1
    assert answered.database.exists()
