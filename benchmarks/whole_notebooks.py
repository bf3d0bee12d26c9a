"""Whole notebooks without a run: crashes of the study that are found, false alarms, and what one pass saves.

python -m benchmarks.whole_notebooks [--folder FOLDER]

The study's notebook-specific pairs (20 of 111), of which the published archive has the executed cells and the target:
each is written as a notebook in that order and checked as `check --all --no-run` does. Found is a crash of which the
exception is the true one and the cell is the target; anything said of a fixed notebook is a false alarm. With a folder,
every notebook in it is checked, once in one pass and once with the cells above interpreted again for each cell.
Processor seconds are those of this process; libraries are asked in others.
"""

from __future__ import annotations

import csv
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import nbformat.v4

from benchmarks._data import ARCHIVE, archive_or_exit
from benchmarks._timing import command, machine
from crane_core.domain import Cell
from crane_core.importers import crane_llm_october
from crane_core.importers.filetree import open_tree
from crane_core.pipeline.own_notebooks.whole import check_whole as module
from crane_core.pipeline.own_notebooks.whole.cell_results import NotebookResult
from crane_core.pipeline.own_notebooks.whole.check_whole import (
    WholeOptions,
    check_whole,
)
from crane_core.pipeline.places import CHECKOUT

CASES = CHECKOUT / "data" / "published" / "cases.csv"
ROOT_CAUSE = "NB specific"
CRASHING = "_reproduced"


def true_exceptions() -> dict[str, str]:
    """By case of the study's class of notebook-specific crashes: its exception in lower case."""
    with CASES.open(encoding="utf-8", newline="") as file:
        return {
            row["case_id"]: row["exception"]
            for row in csv.DictReader(file)
            if row["root_cause"] == ROOT_CAUSE
        }


def instances(names: set[str]) -> dict[str, list[str]]:
    """The sources of each instance of these cases: executed cells in their order, then the target."""
    found: dict[str, list[Cell]] = defaultdict(list)
    for record in crane_llm_october.read(open_tree(ARCHIVE)):
        if isinstance(record, Cell):
            case = record.instance_id.rpartition("_")[0]
            if case in names:
                found[record.instance_id].append(record)
    return {
        name: [
            cell.code for cell in sorted(cells, key=lambda one: one.position)
        ]
        for name, cells in found.items()
    }


def checked(folder: Path, sources: list[str]) -> NotebookResult:
    """The cells as a notebook of which each has run once, in this order."""
    cells = [
        nbformat.v4.new_code_cell(source, execution_count=count)
        for count, source in enumerate(sources, start=1)
    ]
    path = folder / "notebook.ipynb"
    notebook = nbformat.v4.new_notebook(cells=cells)
    path.write_text(nbformat.v4.writes(notebook), "utf-8")
    return check_whole(path, WholeOptions(runs=False))


def on_the_study() -> Iterator[str]:
    truth = true_exceptions()
    by_exception: dict[str, list[bool]] = defaultdict(list)
    false_alarms = []
    with TemporaryDirectory() as folder:
        for name, sources in instances(set(truth)).items():
            result = checked(Path(folder), sources)
            if not name.endswith(CRASHING):
                false_alarms += [name] if result.problems else []
                continue
            true = truth[name.removesuffix(CRASHING)]
            is_found = any(
                problem.rule.lower() == true
                and problem.cell == len(sources) - 1
                for problem in result.problems
            )
            by_exception[true].append(is_found)
    for exception, found in sorted(by_exception.items()):
        yield f"{exception}: {sum(found)} of {len(found)} found"
    n_all = sum(map(len, by_exception.values()))
    n_found = sum(map(sum, by_exception.values()))
    yield f"all: {n_found} of {n_all} found; false alarms on their fixed notebooks: {len(false_alarms)} {false_alarms}"


def processor_seconds(
    path: Path, passes: AbstractContextManager[object]
) -> tuple[float, NotebookResult]:
    with passes:
        began = time.process_time()
        result = check_whole(path, WholeOptions(runs=False))
        return time.process_time() - began, result


def on_folder(folder: Path) -> Iterator[str]:
    n_cells = n_findings = n_notebooks = 0
    for path in sorted(folder.rglob("*.ipynb")):
        once_s, result = processor_seconds(path, nullcontext())
        if result.error is not None:
            yield f"{path.name}: {result.error}"
            continue
        again = patch.object(module, "one_notebook", nullcontext)
        again_s, other = processor_seconds(path, again)
        same = "" if other.to_json() == result.to_json() else ", OTHER ANSWERS"
        n_notebooks += 1
        n_cells += len(result.cells)
        n_findings += len(result.problems)
        yield (
            f"{path.name}: {len(result.cells)} cells, {once_s:.2f} s in one pass, {again_s:.2f} s again for each"
            f" cell, ratio {again_s / max(once_s, 1e-3):.1f}, findings {len(result.problems)}{same}"
        )
    yield f"{n_notebooks} notebooks, {n_cells} cells, {n_findings} findings"


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    if chosen.folder is not None:
        for line in on_folder(chosen.folder):
            print(line, flush=True)
    else:
        archive_or_exit()
        print("\n".join(on_the_study()))
    print(machine())


if __name__ == "__main__":
    main()
