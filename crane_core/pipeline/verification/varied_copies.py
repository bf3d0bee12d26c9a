"""Copies of cases in other words, each executed: does a detector know the notebook, or what is wrong with it?

A copy is a case of another benchmark with the same name, so copies and originals are paired by their ids; the table
of the copies names the benchmark of the originals. A copy counts only if its target raises the same exception as in
the original, twice, and its fixed notebook runs through.
"""

import fnmatch
import json
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from crane_core.domain import JsonObject, Version
from crane_core.errors import NotebookError, SourceError
from crane_core.importers.pairs import VARIED_FROM
from crane_core.pipeline.fresh_folder import fresh_folder
from crane_core.pipeline.sheet_text import csv_of
from crane_core.pipeline.verification import add_case, varied_code
from crane_core.pipeline.verification.where import Bench, Pair
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.program import Program

LABELS = ("library", "root_cause", "crash_type", "stage")
"""Of the original; its diagnosis may name what was renamed, and is left out."""


class VariedCopy(NamedTuple):
    """A copy, or why there is none. The counts are of different names, columns and numbers that were replaced."""

    case_id: str
    exception: str | None
    n_names: int = 0
    n_columns: int = 0
    n_numbers: int = 0
    why_not: str | None = None


class CopyMaker(NamedTuple):
    """How copies are executed. labels: of each case, by its name."""

    program: Program
    limits: KernelLimits
    stop: threading.Event
    labels: Mapping[str, Mapping[str, Any]]


def varied_copies(
    bench: Bench,
    out: Path,
    pattern: str,
    maker: CopyMaker,
    progress: Callable[[VariedCopy], None],
) -> list[VariedCopy]:
    """Write a copy of each case whose name matches, as a folder of pairs with its table: whole or not at all.

    Raises SourceError if no case matches, if `out` is taken, and where not one copy crashes like its original.
    """
    pairs = [
        pair
        for pair in bench.pairs
        if fnmatch.fnmatchcase(pair.case_id, pattern)
    ]
    if not pairs:
        raise SourceError(
            f"No case of {bench.benchmark} matches {pattern!r}.",
            remedy="Omit --cases for all of them.",
        )
    copies: list[VariedCopy] = []
    with fresh_folder(out) as fresh:
        for pair in pairs:
            if maker.stop.is_set():
                raise KeyboardInterrupt
            copies.append(_copy(pair, bench.root, fresh, maker))
            progress(copies[-1])
        made = [copy for copy in copies if copy.why_not is None]
        if not made:
            raise SourceError(
                f"None of the {len(pairs)} copies crashes like its original. The first: {copies[0].why_not}",
                remedy="Use the --python whose libraries the notebooks need.",
            )
        for pair in pairs:
            # A pair with a fault may lack a notebook, and it was not copied.
            if pair.fault is None:
                place = _place_of(pair, bench.root, fresh)
                _drop_unused_data(place, fresh)
        rows = [
            {
                "case_id": copy.case_id,
                "exception": str(copy.exception).lower(),
            }
            | {
                name: maker.labels.get(copy.case_id, {}).get(name)
                for name in LABELS
            }
            | {VARIED_FROM: bench.benchmark}
            for copy in made
        ]
        (fresh / add_case.TABLE).write_text(csv_of(pd.DataFrame(rows)), "utf-8")
    return copies


def _place_of(pair: Pair, root: Path, out: Path) -> Path:
    """Where the copy and its data go: as the original lies below its benchmark."""
    return out / pair.paths[Version.REPRODUCED].parent.relative_to(root)


def _drop_unused_data(place: Path, out: Path) -> None:
    """Remove the data of a case whose copy was left out; several cases may share a folder, which one of them keeps."""
    while place != out:
        if place.exists():
            if any(place.rglob("*.ipynb")):
                return
            shutil.rmtree(place)
        place = place.parent


def reasons(copies: list[VariedCopy]) -> Counter[str]:
    """Why cases have no copy, each with how many."""
    return Counter(copy.why_not for copy in copies if copy.why_not is not None)


def _copy(pair: Pair, root: Path, out: Path, maker: CopyMaker) -> VariedCopy:
    if pair.fault is not None:
        return VariedCopy(pair.case_id, None, why_not=pair.fault)
    try:
        documents = {
            version: add_case.read_notebook(path)
            for version, path in pair.paths.items()
        }
        codes = [
            _source(cell) for one in documents.values() for cell in _code(one)
        ]
        whole = varied_code.variation_of(codes)
    except NotebookError as error:
        return VariedCopy(pair.case_id, None, why_not=str(error.args[0]))
    place = _place_of(pair, root, out)
    if not place.exists():
        shutil.copytree(
            pair.paths[Version.REPRODUCED].parent,
            place,
            ignore=shutil.ignore_patterns("*.ipynb", add_case.TABLE),
        )
    # Another number may change what crashes, and names alone may still be varied.
    why = "it has nothing to replace"
    attempts = [whole]
    if whole.numbers:
        attempts.append(whole._replace(numbers={}))
    for variation in attempts:
        if not variation.n_changes:
            continue
        try:
            return _added(pair.case_id, documents, variation, place, maker)
        except (NotebookError, SourceError) as error:
            why = str(error.args[0])
    return VariedCopy(pair.case_id, None, why_not=why)


def _added(
    case_id: str,
    documents: Mapping[Version, JsonObject],
    variation: varied_code.Variation,
    place: Path,
    maker: CopyMaker,
) -> VariedCopy:
    case = add_case.NewCase(
        case_id,
        _varied_document(documents[Version.REPRODUCED], variation),
        _varied_document(documents[Version.FIXED], variation),
        None,
    )
    # The error output names the exception of the original; a copy that raises another one is refused.
    added = add_case.add_case(
        case, place, maker.program, maker.limits, stop=maker.stop
    )
    return VariedCopy(
        case_id,
        added.exception,
        len(variation.names),
        len(variation.columns),
        len(variation.numbers),
    )


def _varied_document(
    notebook: JsonObject, variation: varied_code.Variation
) -> JsonObject:
    """A copy with other code; of its outputs only the class of each error stays, since texts name what was renamed."""
    copy: JsonObject = json.loads(json.dumps(notebook))
    for cell in _code(copy):
        cell["source"] = varied_code.varied(_source(cell), variation)
        cell["outputs"] = [
            {
                "output_type": "error",
                "ename": output.get("ename", ""),
                "evalue": "",
                "traceback": [],
            }
            for output in cell.get("outputs", [])
            if output.get("output_type") == "error"
        ]
    return copy


def _code(document: JsonObject) -> list[JsonObject]:
    return [cell for cell in document["cells"] if cell["cell_type"] == "code"]


def _source(cell: JsonObject) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)
