"""`vary`: a copy counts if it crashes like its original; the others are counted with the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.pipeline.places import DataFolder
from tests.spoken import Run
from tests.written_pairs import write_pair


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    folder = tmp_path / "lab"
    same = ["rows = [10, 20]", "rows[5]"], ["rows = [10, 20]", "rows[1]"]
    write_pair(folder, "same", *same, error="IndexError")
    # The text keeps its number, so that a copy with another one in the code would not crash.
    number = ["n = int('30')", "1 / (n - 30)"], ["n = 40", "1 / (n - 30)"]
    write_pair(folder, "number", *number)
    write_pair(folder, "magic", ["%time a = 0", "1 / a"], ["a = 1", "1 / a"])
    write_pair(
        folder, "other", ["a = 1", "1 / (a - 1)"], ["a = 2"], error="KeyError"
    )
    (folder / "other" / "rows.csv").write_text("a\n1\n", "utf-8")
    return folder


def test_copies_that_crash_alike_are_kept_and_the_others_counted(
    run: Run, folder: DataFolder, pairs: Path, tmp_path: Path
) -> None:
    out = tmp_path / "lab-varied"
    spoken = run("vary", str(pairs), "--out", str(out), "--json")
    told = json.loads(spoken.out)
    assert (spoken.code, told["copies"], told["left_out"]) == (0, 2, 2)
    by_case = {each["case_id"]: each for each in told["cases"]}
    assert by_case["same"]["exception"] == "IndexError"
    assert by_case["same"]["n_names"] == 1
    assert by_case["number"]["n_names"] == 1
    assert by_case["number"]["n_numbers"] == 0
    assert by_case["magic"]["why_not"] == "A code cell is not plain Python."
    assert (out / "cases.csv").read_text("utf-8").splitlines()[1:] == [
        "number,zerodivisionerror,,,,,lab",
        "same,indexerror,,,,,lab",
    ]
    assert "KeyError" in by_case["other"]["why_not"]
    kept = sorted(path.name for path in (out / "lab").iterdir())
    assert kept == ["number", "same"]
    [path] = out.rglob("same_reproduced.ipynb")
    cells = json.loads(path.read_text("utf-8"))["cells"]
    assert [cell["source"] for cell in cells] == ["my_rows = [11, 21]", "my_rows[5]"]  # fmt: skip
    assert cells[1]["outputs"][0]["ename"] == "IndexError"
    assert cells[1]["outputs"][0]["evalue"] == ""


def test_a_taken_folder_and_a_name_of_no_case_are_refused(
    run: Run, folder: DataFolder, pairs: Path, tmp_path: Path
) -> None:
    spoken = run("vary", str(pairs), "--out", str(pairs))
    assert spoken.code == 1
    out = tmp_path / "none"
    spoken = run("vary", str(pairs), "--out", str(out), "--cases", "pandas_*")
    assert spoken.code == 1 and "No case of lab matches" in spoken.err
    assert not out.exists()
