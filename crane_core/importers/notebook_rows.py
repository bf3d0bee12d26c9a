"""Notebooks of a dataset with a notebook column; each that crashed becomes a crashing instance without a fixed one.

Knows the lines that `pipeline.loading.notebook_column` keeps of such a dataset. A notebook whose outputs hold an error
is a crashing instance: executed cells, a target, a message. There is no fixed version, so its case has one instance:
detectors have a recall on it but cannot raise a false alarm, so their accuracy means little.
"""

import json
from collections.abc import Iterator

from crane_core import domain
from crane_core.importers import reading
from crane_core.importers.filetree import FileTree
from crane_core.importers.published_detectors import slug
from crane_core.notebooks import crash_index, plan, read_code_cells

KIND = "notebook-column"
SUFFIX = ".notebooks.jsonl"
ORIGIN = "notebook"


def recognises(tree: FileTree) -> float:
    """Confidence (0..1), by the name of the file."""
    return (
        1.0
        if tree.paths and all(path.endswith(SUFFIX) for path in tree.paths)
        else 0.0
    )


def read(tree: FileTree) -> Iterator[domain.Record]:
    """A benchmark named after the dataset; a case, an instance and its cells per notebook; a problem per reason."""
    yield from tree.problems
    for path in tree.paths:
        try:
            data = reading.read_bytes(tree, path)
        except reading.UnreadableFileError as error:
            yield error.problem
            continue
        for number, line in enumerate(data.splitlines(), start=1):
            yield from _line(line, path, f"line {number}")


def _line(line: bytes, path: str, place: str) -> Iterator[domain.Record]:
    try:
        entry = reading.parse_json(line, path, place)
        if "dataset" in entry:
            yield domain.Benchmark(slug(entry["dataset"]), entry["dataset"])
        elif "skipped" in entry:
            rows = ", ".join(map(str, entry["rows"]))
            more = ", …" if entry["n"] > len(entry["rows"]) else ""
            yield domain.LoadProblem(
                path,
                f"rows {rows}{more}",
                f"{entry['n']} skipped: {entry['skipped']}",
            )
        else:
            yield from _notebook(entry)
    except reading.UnreadableFileError as error:
        yield error.problem
    except (ValueError, TypeError, KeyError) as error:
        yield domain.LoadProblem(
            path, place, f"it is not a line of a notebook: {error}"[:300]
        )


def _notebook(entry: domain.JsonObject) -> Iterator[domain.Record]:
    benchmark, case_id = slug(entry["of"]), f"row_{int(entry['row'])}"
    cells = read_code_cells(json.dumps(entry["notebook"]).encode())
    target = crash_index(cells)
    if target is None or (crash := cells[target].crash) is None:
        raise ValueError("no cell has an error output")
    yield domain.Case(
        benchmark,
        case_id,
        # Classes are in lower case throughout the benchmark's own labels.
        exception=crash.exception.lower() or None,
        message=crash.message or None,
        traceback=crash.traceback or None,
    )
    instance = domain.Instance(benchmark, case_id, domain.Version.REPRODUCED)
    yield instance
    for planned in plan(cells, target):
        is_target = planned.role is domain.CellRole.TARGET
        yield domain.Cell(
            benchmark=benchmark,
            instance_id=instance.instance_id,
            origin=ORIGIN,
            position=planned.position,
            role=planned.role,
            code=planned.cell.source,
            execution_count=planned.cell.execution_count,
            notebook_index=planned.cell.index,
            crash_line=crash.line if is_target else None,
        )
