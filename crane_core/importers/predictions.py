"""Imported predictions: JSON lines, CSV or Parquet with instance, detector, setting, index, crashes and reasoning.

Knows the names and types of those fields. Refuses to guess: an invalid line or row is reported and left out.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from crane_core import domain
from crane_core.importers import reading
from crane_core.importers.filetree import FileTree
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.importers.prediction_rows import NEEDED, csv_rows, parquet_rows
from crane_core.importers.published_detectors import slug

KIND = "predictions"
_SUFFIX = ".jsonl"
_TABLES = (".csv", ".parquet")
_NO_ANSWER = "no answer was given"
_BOM = b"\xef\xbb\xbf"
_LONGEST_TROUBLE = 500
"""Characters of the reason why there is no answer."""
_MOST = 2**31 - 1
"""Of tokens, seconds or USD of one answer."""


def recognises(tree: FileTree) -> float:
    """Confidence (0..1): a tree of .jsonl, .csv and .parquet files only; lower if .jsonl files lie among others."""
    if tree.paths and all(
        path.endswith((_SUFFIX, *_TABLES)) for path in tree.paths
    ):
        # JSON lines may be another tool's, so nothing is certain; tables may be anything and count only if nobody
        # else knows the file.
        return (
            0.9 if any(path.endswith(_SUFFIX) for path in tree.paths) else 0.2
        )
    return 0.1 if any(path.endswith(_SUFFIX) for path in tree.paths) else 0.0


def read(tree: FileTree) -> Iterator[domain.Record]:
    """A Run per line or row, and each benchmark and detector before its first run.

    The fields benchmark, experiment and kind (of detector) may be left out: the defaults are JunoBench, the name of the
    file, and a language model. Without a field title, a detector's title is the field detector.
    """
    yield from tree.problems
    yield from once_named(_records(tree))


def once_named(records: Iterable[domain.Record]) -> Iterator[domain.Record]:
    """The records, each benchmark and detector before its first run alone."""
    named: set[domain.Record] = set()
    for record in records:
        if not isinstance(record, (domain.Benchmark, domain.Detector)):
            yield record
        elif record not in named:
            named.add(record)
            yield record


def experiment_of(path: str) -> str:
    """The experiment of a file's answers where they name none: the file's name."""
    return slug(path.rpartition("/")[2].rpartition(".")[0])


def _records(tree: FileTree) -> Iterator[domain.Record]:
    stated = reading.Statements()
    for path in tree.paths:
        if path.endswith((_SUFFIX, *_TABLES)):
            yield from _records_of_file(tree, path, stated)


@reading.with_problems
def _records_of_file(
    tree: FileTree, path: str, stated: reading.Statements
) -> Iterator[domain.Record]:
    experiment = experiment_of(path)
    for row in _rows(tree, path):
        if isinstance(row, domain.LoadProblem):
            yield row
        else:
            yield from records_of_row(row, path, experiment, stated)


def _rows(
    tree: FileTree, path: str
) -> Iterator[tuple[str, Any] | domain.LoadProblem]:
    """Place and value of every line or row."""
    if path.endswith(".csv"):
        yield from csv_rows(tree, path)
    elif path.endswith(".parquet"):
        yield from parquet_rows(tree, path)
    else:
        for number, line in enumerate(
            reading.read_bytes(tree, path).removeprefix(_BOM).split(b"\n"),
            start=1,
        ):
            if line.strip():
                yield _parsed(line, path, f"line {number}")


def _parsed(
    line: bytes, path: str, place: str
) -> tuple[str, Any] | domain.LoadProblem:
    try:
        return place, reading.parse_json(line, path, place)
    except reading.UnreadableFileError as error:
        return error.problem


def records_of_row(
    row: tuple[str, Any], path: str, experiment: str, stated: reading.Statements
) -> Iterator[domain.Record]:
    """The Benchmark, Detector and Run of the members at a place of a file; or the problem with them.

    stated: what the file's earlier rows said.
    """
    place, fields = row
    try:
        run = _run(fields, experiment)
        detector = domain.Detector(
            run.detector,
            _text(fields, "title", fields["detector"]),
            _kind(fields),
        )
    except ValueError as error:
        yield domain.LoadProblem(path, place, str(error))
        return
    key = (
        run.benchmark,
        run.instance_id,
        run.detector,
        run.setting,
        run.experiment,
        run.run_index,
    )
    what = f"run {run.run_index} of {run.instance_id}"
    repeated = stated.problem(key, run, path=path, place=place, what=what)
    if repeated:
        yield repeated
        return
    is_junobench = run.benchmark == JUNOBENCH.benchmark
    yield (
        JUNOBENCH
        if is_junobench
        else domain.Benchmark(run.benchmark, run.benchmark)
    )
    yield detector
    yield run


def _run(fields: Any, experiment: str) -> domain.Run:
    if not isinstance(fields, dict):
        raise ValueError(f"expected an object, not {type(fields).__name__}")
    missing = [name for name in NEEDED if name not in fields]
    if missing:
        raise ValueError(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        )
    crashes = _crashes(fields)
    return domain.Run(
        benchmark=slug(_text(fields, "benchmark", JUNOBENCH.benchmark)),
        instance_id=_instance(fields),
        detector=slug(_text(fields, "detector")),
        setting=_setting(fields),
        experiment=_text(fields, "experiment", experiment),
        run_index=_index(fields),
        crashes=crashes,
        reasoning=_text(fields, "reasoning", "") or None,
        unanswered=None if crashes is not None else _trouble(fields),
        diagnostics=_text(fields, "diagnostics", "") or None,
        prompt_sha256=_text(fields, "prompt_sha256", "") or None,
        input_tokens=_tokens(fields, "input_tokens"),
        output_tokens=_tokens(fields, "output_tokens"),
        seconds=_figure(fields, "seconds"),
        usd=_figure(fields, "usd"),
    )


def _trouble(fields: domain.JsonObject) -> str:
    """Why there is no answer, as the file says."""
    return _text(fields, "trouble", "")[:_LONGEST_TROUBLE] or _NO_ANSWER


def _text(
    fields: domain.JsonObject, name: str, default: str | None = None
) -> str:
    value = fields.get(name)
    if value is None:
        value = default
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise ValueError(
            f"{name} is missing"
            if value is None
            else f"{name} must be a string"
        )
    return value


def _instance(fields: domain.JsonObject) -> str:
    instance_id = _text(fields, "instance").strip()
    if not instance_id.endswith(("_reproduced", "_fixed")):
        raise ValueError(
            f"instance must end in _reproduced or _fixed, {instance_id!r} does not"
        )
    return instance_id


def _setting(fields: domain.JsonObject) -> domain.Setting:
    name = _text(fields, "setting")
    if name not in list(domain.Setting):
        raise ValueError(
            f"setting must be one of {', '.join(domain.Setting)}, not {name!r}"
        )
    return domain.Setting(name)


def _kind(fields: domain.JsonObject) -> domain.DetectorKind:
    name = _text(fields, "kind", domain.DetectorKind.LLM)
    if name not in list(domain.DetectorKind):
        raise ValueError(
            f"kind must be one of {', '.join(domain.DetectorKind)}, not {name!r}"
        )
    return domain.DetectorKind(name)


def _index(fields: domain.JsonObject) -> int:
    value = fields.get("index")
    if (
        # In Python a boolean is an integer: `true` would be run 1.
        isinstance(value, bool)
        or not isinstance(value, int)
        or not 1 <= value <= 1_000_000
    ):
        raise ValueError(
            f"index must be an integer of 1 or more, not {value!r}"
        )
    return value


def _tokens(fields: domain.JsonObject, name: str) -> int | None:
    value = _figure(fields, name)
    if value is not None and value != int(value):
        raise ValueError(f"{name} must be an integer, not {value!r}")
    return None if value is None else int(value)


def _figure(fields: domain.JsonObject, name: str) -> float | None:
    """What an answer took, if the file says it."""
    value = fields.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # An integer column of the database ends at 2**31, and nothing is free of charge below zero.
    if not is_number or not 0 <= value <= _MOST or not math.isfinite(value):
        raise ValueError(
            f"{name} must be a number from 0 to {_MOST:,}, not {value!r}"
        )
    return float(value)


def _crashes(fields: domain.JsonObject) -> bool | None:
    value = fields.get("crashes")
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"crashes must be true, false or null, not {value!r}")
    return value
