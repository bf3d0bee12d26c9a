"""A dataset that `export --hf` wrote: Parquet files, one folder per table, as records again.

Knows its marker and its tables. Refuses to guess: a row that is not a record is a problem, and the others are read.
"""

import io
import json
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, get_type_hints

from crane_core import domain
from crane_core.domain import KernelState, LoadProblem, Record, Setting
from crane_core.importers.filetree import FileTree
from crane_core.importers.reading import UnreadableFileError, read_bytes

KIND = "crane-dataset"
MARKER = "crane_dataset.json"
TABLES: dict[str, type] = {
    "benchmarks": domain.Benchmark,
    "cases": domain.Case,
    "instances": domain.Instance,
    "cells": domain.Cell,
    "kernel_states": domain.KernelState,
    "prompts": domain.Prompt,
    "detectors": domain.Detector,
    "verdicts": domain.Run,
    "labels": domain.Judgement,
    "printed_numbers": domain.PublishedNumber,
}
"""Folder of the dataset to the records in it."""
COMPUTED = {"instance_id", "crashes"}
"""Columns of instances that follow from the others."""


def recognises(tree: FileTree) -> float:
    """Confidence (0..1), by the marker alone."""
    return 1.0 if MARKER in tree else 0.0


def read(tree: FileTree) -> Iterator[Record]:
    """The records of every table, in the order of TABLES."""
    yield from tree.problems
    for name, record in TABLES.items():
        for path in tree.paths:
            if path.startswith(f"{name}/") and path.endswith(".parquet"):
                yield from _rows(tree, path, record)
    if MARKER in tree:
        tree.read(MARKER)  # so that a kept copy is recognised, too


def _rows(tree: FileTree, path: str, record: type) -> Iterator[Record]:
    # Only here: most imports read no Parquet, and pyarrow takes long to load.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        batches = pq.ParquetFile(
            io.BytesIO(read_bytes(tree, path))
        ).iter_batches()
        make, number = _maker(record), 0
        for batch in batches:
            for row in batch.to_pylist():
                number += 1
                yield _record(make, row, path, number)
    except UnreadableFileError as error:
        yield error.problem
    except (pa.ArrowException, OSError) as error:
        yield LoadProblem(path, "file", f"it is not Parquet: {error}"[:300])


def _record(
    make: Callable[[dict[str, Any]], Record],
    row: dict[str, Any],
    path: str,
    number: int,
) -> Record:
    try:
        return make(row)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return LoadProblem(
            path,
            f"row {number}",
            f"it does not belong to this table: {error}"[:300],
        )


def _maker(record: type) -> Callable[[dict[str, Any]], Record]:
    if record is KernelState:
        return _state
    enums = {
        name: kind
        for name, kind in get_type_hints(record).items()
        if _is_enum(kind)
    }
    # They are properties of the record, which computes them from its other members.
    left_out = COMPUTED if record is domain.Instance else set()

    def make(row: dict[str, Any]) -> Record:
        members = {
            name: value for name, value in row.items() if name not in left_out
        }
        made: Record = record(
            **members
            | {name: kind(members[name]) for name, kind in enums.items()}
        )
        return made

    return make


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, StrEnum)


def _state(row: dict[str, Any]) -> KernelState:
    where = {
        name: str(row[name]) for name in ("benchmark", "instance_id", "origin")
    }
    return KernelState.from_json(
        json.loads(row["state"]), setting=Setting(row["setting"]), **where
    )
