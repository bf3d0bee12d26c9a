"""Our own pairs hold: each crashing notebook crashes in its target as recorded, its twin runs through the same cell."""

from __future__ import annotations

import csv
import difflib
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

MINIBENCH = Path(__file__).resolve().parents[1] / "data" / "minibench"
CASES = list(csv.DictReader((MINIBENCH / "cases.csv").read_text("utf-8").splitlines()))
CASE_IDS = [case["case_id"] for case in CASES]
CELL_TIMEOUT_S = 60
MOST_CHANGED_LINES = 4

ROOT_CAUSES = {
    "API misuse",
    "data confusion",
    "NB specific",
    "implementation error",
    "ML model confusion",
    "library cause",
}
CRASH_TYPES = {
    "invalid argument",
    "tensor shape mismatch",
    "key error",
    "value error",
    "variable not found",
    "index error",
    "attribute error",
    "data value violation",
    "unsupported broadcast",
    "type error",
    "module not found",
    "runtime error",
    "feature name mismatch",
    "io error",
    "model initialization error",
}
STAGES = {"training", "data preparation", "evaluation/prediction", "data visualization", "model construction"}


def notebook_path(case_id: str, version: str) -> Path:
    return MINIBENCH / "benchmark" / case_id / f"{case_id}_{version}.ipynb"


def read(case_id: str, version: str) -> nbformat.NotebookNode:
    return nbformat.read(notebook_path(case_id, version), as_version=4)


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def errors_of(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [output for output in cell.outputs if output.output_type == "error"]


def target_index(case_id: str) -> int:
    """Place among the code cells of the one that crashed; both versions share it."""
    (index,) = [at for at, cell in enumerate(code_cells(read(case_id, "reproduced"))) if errors_of(cell)]
    return index


def run_order(notebook: nbformat.NotebookNode, target: int) -> list[int]:
    """Code cells that had run before the target, by execution count, then the target."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    earlier = [at for at, count in enumerate(counts) if count is not None and count < counts[target]]
    return [*sorted(earlier, key=lambda at: counts[at]), target]


def client_of(case_id: str, version: str, sockets: str) -> NotebookClient:
    """A client whose kernel works in the case's folder and is reached over files, not over the network."""
    path = notebook_path(case_id, version)
    return NotebookClient(
        read(case_id, version),
        timeout=CELL_TIMEOUT_S,
        resources={"metadata": {"path": str(path.parent)}},
        config=Config(KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"}),
    )


def replay(case_id: str, version: str) -> tuple[str | None, int | None]:
    """Runs a notebook up to its target in a fresh kernel: the error's class and the code cell that raised it."""
    with TemporaryDirectory() as sockets:
        client = client_of(case_id, version, sockets)
        places = [at for at, cell in enumerate(client.nb.cells) if cell.cell_type == "code"]
        with client.setup_kernel():
            for index in run_order(client.nb, target_index(case_id)):
                try:
                    client.execute_cell(client.nb.cells[places[index]], places[index])
                except CellExecutionError as error:
                    return error.ename.lower(), index
    return None, None


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_reproduced_crashes_in_its_target_as_recorded(case: dict[str, str]) -> None:
    assert replay(case["case_id"], "reproduced") == (case["exception"], target_index(case["case_id"]))


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_fixed_runs_through_its_target(case_id: str) -> None:
    assert replay(case_id, "fixed") == (None, None)


def test_twelve_pairs_from_every_library_and_several_causes() -> None:
    counts = {library: sum(case["library"] == library for case in CASES) for library in {c["library"] for c in CASES}}
    assert counts == {"numpy": 2, "pandas": 3, "sklearn": 3, "matplotlib": 2, "NBspecific": 2}
    assert len({case["root_cause"] for case in CASES}) >= 4


def test_table_sources_and_folders_name_the_same_cases() -> None:
    assert len(set(CASE_IDS)) == len(CASE_IDS)
    assert {path.stem for path in (MINIBENCH / "sources").glob("*.toml")} == set(CASE_IDS)
    assert {path.name for path in (MINIBENCH / "benchmark").iterdir()} == set(CASE_IDS)


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_labels_use_the_vocabularies_of_junobench(case: dict[str, str]) -> None:
    assert case["case_id"].startswith(f"{case['library']}_")
    assert case["root_cause"] in ROOT_CAUSES
    assert case["crash_type"] in CRASH_TYPES
    assert case["stage"] in STAGES
    assert 60 <= len(case["diagnosis"]) <= 300


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_recorded_error_is_the_one_in_the_notebook(case: dict[str, str]) -> None:
    notebook = read(case["case_id"], "reproduced")
    (error,) = errors_of(code_cells(notebook)[target_index(case["case_id"])])
    assert error.ename.lower() == case["exception"]
    assert error.traceback[-1].startswith(f"{error.ename}: ")
    assert not any(errors_of(cell) for cell in code_cells(read(case["case_id"], "fixed")))


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_versions_differ_by_few_lines_or_by_order_alone(case_id: str) -> None:
    pair = [code_cells(read(case_id, version)) for version in ("reproduced", "fixed")]
    texts = ["\n".join(cell.source for cell in cells).splitlines() for cells in pair]
    changed = [line for line in difflib.ndiff(*texts) if line[0] in "+-"]
    orders = [run_order(read(case_id, version), target_index(case_id)) for version in ("reproduced", "fixed")]
    assert len(changed) <= 2 * MOST_CHANGED_LINES
    assert bool(changed) != (orders[0] != orders[1])


@pytest.mark.parametrize("version", ["reproduced", "fixed"])
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_files_hold_nothing_of_the_building_machine(case_id: str, version: str) -> None:
    text = notebook_path(case_id, version).read_text("utf-8")
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert not re.search(r'"id":|\\u001b|image/png|0x[0-9a-f]{4}|/site-packages"|[^"\s]/site-packages/', text)
    assert not re.search(r"ipykernel_\d+|\d{4}-\d\d-\d\dT\d\d:", text)
