"""Our own pairs hold: each crashing notebook crashes in its target as recorded, its twin runs through the same cell.

What is called decisive of a pair is true in the kernel that crashes, and not all of it in the kernel that does not.
"""

from __future__ import annotations

import ast
import csv
import difflib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

from benchmarks._decisive import Fact, case_ids, facts_of

MINIBENCH = Path(__file__).resolve().parents[1] / "data" / "minibench"
CASES = list(
    csv.DictReader((MINIBENCH / "cases.csv").read_text("utf-8").splitlines())
)
CASE_IDS = [case["case_id"] for case in CASES]
CELL_TIMEOUT_S = 60
MOST_CHANGED_LINES = 4
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3"}

LIBRARIES = {
    "NBspecific": 7,
    "lightgbm": 1,
    "matplotlib": 2,
    "numpy": 5,
    "pandas": 5,
    "seaborn": 2,
    "sklearn": 5,
    "statsmodels": 1,
    "tensorflow": 5,
    "torch": 6,
    "torchvision": 1,
}
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
STAGES = {
    "training",
    "data preparation",
    "evaluation/prediction",
    "data visualization",
    "model construction",
}


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
    (index,) = [
        at
        for at, cell in enumerate(code_cells(read(case_id, "reproduced")))
        if errors_of(cell)
    ]
    return index


def run_order(notebook: nbformat.NotebookNode, target: int) -> list[int]:
    """Code cells that had run before the target, by execution count, then the target."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    earlier = [
        at
        for at, count in enumerate(counts)
        if count is not None and count < counts[target]
    ]
    return [*sorted(earlier, key=lambda at: counts[at]), target]


def client_of(case_id: str, version: str, sockets: str) -> NotebookClient:
    """A client whose kernel works in the case's folder and is reached over files, not over the network."""
    path = notebook_path(case_id, version)
    return NotebookClient(
        read(case_id, version),
        timeout=CELL_TIMEOUT_S,
        resources={"metadata": {"path": str(path.parent)}},
        config=Config(
            KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"}
        ),
    )


def imported_packages(case_id: str) -> set[str]:
    found = set()
    for cell in code_cells(read(case_id, "reproduced")):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found


def skip_without_its_packages(case_id: str) -> None:
    lacking = sorted(
        name for name in imported_packages(case_id) if find_spec(name) is None
    )
    if lacking:
        pytest.skip(f"{', '.join(lacking)} not installed: make ml")


@dataclass(frozen=True)
class Replay:
    """How a notebook went up to its target: the error's class, the code cell that raised it, what its facts gave."""

    error: str | None
    cell: int | None
    found: list[Any]


def replay(case_id: str, version: str) -> Replay:
    """Runs a notebook up to its target in a fresh kernel, and asks for the decisive facts just before the target."""
    with TemporaryDirectory() as sockets:
        client = client_of(case_id, version, sockets)
        places = [
            at
            for at, cell in enumerate(client.nb.cells)
            if cell.cell_type == "code"
        ]
        target = target_index(case_id)
        found: list[Any] = []
        with client.setup_kernel(env=os.environ | QUIET):
            for index in run_order(client.nb, target):
                if index == target:
                    found = [asked(client, fact) for fact in facts_of(case_id)]
                try:
                    client.execute_cell(
                        client.nb.cells[places[index]], places[index]
                    )
                except CellExecutionError as error:
                    return Replay(error.ename.lower(), index, found)
    return Replay(None, None, found)


def asked(client: NotebookClient, fact: Fact) -> Any:
    """What the kernel answers to a fact, None where it cannot: [value of its expression, is there what lacks?]."""
    question = f"print(__import__('json').dumps([{fact.expression}, {presence(fact)}]))"
    cell = nbformat.v4.new_code_cell(question)
    client.nb.cells.append(cell)
    try:
        client.execute_cell(cell, len(client.nb.cells) - 1)
    except CellExecutionError:
        return None
    return json.loads(cell.outputs[0].text)


def presence(fact: Fact) -> str:
    """An expression that is true where there is the name, attribute, column or key that the fact says is absent."""
    match fact.absent:
        case None:
            return "None"
        case ("names", name):
            return f"{name!r} in globals() or hasattr(__import__('builtins'), {name!r})"
        case ("attributes", name):
            return f"hasattr({fact.variable}, {name!r})"
        case (_, name):
            return f"{name!r} in {fact.expression}"
    raise AssertionError(fact)


def holds(fact: Fact, found: Any) -> bool:
    return found == [fact.value, False if fact.absent else None]


def target_source(case_id: str, version: str) -> str:
    return code_cells(read(case_id, version))[target_index(case_id)].source


@pytest.mark.corpus
@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_reproduced_crashes_in_its_target_as_recorded(
    case: dict[str, str],
) -> None:
    case_id = case["case_id"]
    skip_without_its_packages(case_id)
    done = replay(case_id, "reproduced")
    assert (done.error, done.cell) == (case["exception"], target_index(case_id))
    pairs = zip(facts_of(case_id), done.found, strict=True)
    assert [
        (fact.text, found) for fact, found in pairs if not holds(fact, found)
    ] == []


@pytest.mark.corpus
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_fixed_runs_through_its_target(case_id: str) -> None:
    skip_without_its_packages(case_id)
    done = replay(case_id, "fixed")
    assert (done.error, done.cell) == (None, None)
    all_hold = all(
        holds(fact, found)
        for fact, found in zip(facts_of(case_id), done.found, strict=True)
    )
    assert not all_hold or target_source(case_id, "fixed") != target_source(
        case_id, "reproduced"
    )


def test_pairs_from_every_library_and_every_root_cause_but_a_library_bug() -> (
    None
):
    assert Counter(case["library"] for case in CASES) == LIBRARIES
    assert sum(LIBRARIES.values()) == 40
    assert {case["root_cause"] for case in CASES} == ROOT_CAUSES - {
        "library cause"
    }


@pytest.mark.parametrize("column", ["library", "root_cause"])
def test_shares_are_near_those_of_junobench(column: str, root: Path) -> None:
    """Within three cases of the share in JunoBench; each library has at least one pair."""
    published = list(
        csv.DictReader(
            (root / "data" / "published" / "cases.csv")
            .read_text("utf-8")
            .splitlines()
        )
    )
    theirs, ours = (
        Counter(case[column] for case in cases) for cases in (published, CASES)
    )
    expected = {
        name: len(CASES) * n / len(published) for name, n in theirs.items()
    }
    assert {
        name: (ours[name], n)
        for name, n in expected.items()
        if abs(ours[name] - n) > 3
    } == {}


def needed_names(case_id: str) -> Iterator[str]:
    for cell in code_cells(read(case_id, "reproduced")):
        yield from re.findall(r"\w+", cell.source)


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_decisive_facts_are_about_names_of_the_notebook(case_id: str) -> None:
    facts = facts_of(case_id)
    assert 1 <= len(facts) <= 2
    for fact in facts:
        assert fact.variable in {None, *needed_names(case_id)}
        assert fact.shows or fact.absent
        assert (fact.expression is None) == (fact.value is None)
        assert fact.variable or (fact.absent and fact.absent[0] == "names")


def test_table_sources_and_folders_name_the_same_cases() -> None:
    assert len(set(CASE_IDS)) == len(CASE_IDS)
    assert case_ids() == CASE_IDS
    assert {path.name for path in (MINIBENCH / "benchmark").iterdir()} == set(
        CASE_IDS
    )


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_labels_use_the_vocabularies_of_junobench(case: dict[str, str]) -> None:
    assert case["case_id"].startswith(f"{case['library']}_")
    assert case["root_cause"] in ROOT_CAUSES
    assert case["crash_type"] in CRASH_TYPES
    assert case["stage"] in STAGES
    assert 60 <= len(case["diagnosis"]) <= 300


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_recorded_error_is_the_one_in_the_notebook(
    case: dict[str, str],
) -> None:
    notebook = read(case["case_id"], "reproduced")
    (error,) = errors_of(code_cells(notebook)[target_index(case["case_id"])])
    assert error.ename.lower() == case["exception"]
    assert error.traceback[-1].startswith(f"{error.ename}: ")
    assert not any(
        errors_of(cell) for cell in code_cells(read(case["case_id"], "fixed"))
    )


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_versions_differ_by_few_lines_or_by_order_alone(case_id: str) -> None:
    pair = [
        code_cells(read(case_id, version))
        for version in ("reproduced", "fixed")
    ]
    texts = [
        "\n".join(cell.source for cell in cells).splitlines() for cells in pair
    ]
    changed = [line for line in difflib.ndiff(*texts) if line[0] in "+-"]
    orders = [
        run_order(read(case_id, version), target_index(case_id))
        for version in ("reproduced", "fixed")
    ]
    assert len(changed) <= 2 * MOST_CHANGED_LINES
    assert bool(changed) != (orders[0] != orders[1])


@pytest.mark.parametrize("version", ["reproduced", "fixed"])
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_files_hold_nothing_of_the_building_machine(
    case_id: str, version: str
) -> None:
    text = notebook_path(case_id, version).read_text("utf-8")
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert not re.search(
        r'"id":|\\u001b|image/png|0x[0-9a-f]{4}|/site-packages"|[^"\s]/site-packages/',
        text,
    )
    assert not re.search(r"ipykernel_\d+|\d{4}-\d\d-\d\dT\d\d:", text)
