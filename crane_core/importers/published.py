"""The tables of published facts that ship with the workbench: cases, detections, outcomes, printed numbers.

Knows the columns of `data/published/*.csv`. Refuses texts: none of these tables holds code, reasoning or a prompt.
"""

import csv
import io
from collections.abc import Callable, Iterator
from typing import Any

from crane_core import domain
from crane_core.importers import instance_ids, published_rules
from crane_core.importers.filetree import FileTree
from crane_core.importers.published_detectors import detector_with_id
from crane_core.importers.reading import UnreadableFileError, read_text

KIND = "published-facts"

_NO_ANSWER = "no readable answer is published"
_RUNS = ("run_1", "run_2", "run_3", "run_4", "run_5")
_CRASHES = {"1": True, "0": False, "": None}
_NUMBERS = "numbers.csv"
_Row = dict[str, str]


def recognises(tree: FileTree) -> float:
    """Confidence (0..1): the tables of cases and detections are both at the top."""
    return 1.0 if {"cases.csv", "detections.csv"} <= set(tree.paths) else 0.0


def read(tree: FileTree) -> Iterator[domain.Record]:
    """The tables as records, cases and detectors first. A known contradiction in print is a problem of that kind."""
    yield from tree.problems
    yield instance_ids.JUNOBENCH
    yield from _table(tree, "cases.csv", _case_and_instances)
    yield from _detectors(tree)
    yield from _table(tree, "detections.csv", _runs)
    yield from _table(tree, "skipped.csv", _run_never_asked)
    yield from _table(tree, published_rules.TABLE, published_rules.rule_run)
    yield from _table(tree, "outcomes.csv", _judgement)
    for path in tree.paths:
        if path.endswith(_NUMBERS):
            yield from _table(tree, path, _number)
    yield from _table(tree, "contradictions.csv", _contradiction)


def _table(
    tree: FileTree,
    path: str,
    records: Callable[[_Row], Iterator[domain.Record]],
) -> Iterator[domain.Record]:
    """The records of every row; an invalid row is one problem."""
    for line, row in _rows(tree, path):
        if isinstance(row, domain.LoadProblem):
            yield row
            continue
        try:
            # All records of a row or none: half a case would have no instances.
            yield from list(records(row))
        except KeyError as error:
            yield domain.LoadProblem(
                path,
                f"line {line}",
                f"the column or value {error} does not belong to this table",
            )
        except ValueError as error:
            yield domain.LoadProblem(path, f"line {line}", str(error))


def _rows(
    tree: FileTree, path: str
) -> Iterator[tuple[int, _Row | domain.LoadProblem]]:
    if path not in tree:
        return
    try:
        text = read_text(tree, path).removeprefix("\ufeff")
        reader: csv.DictReader[Any] = csv.DictReader(
            io.StringIO(text, newline=""), strict=True
        )
        for row in reader:
            complete = None not in row and None not in row.values()
            problem = domain.LoadProblem(
                path,
                f"line {reader.line_num}",
                "the row has a different number of cells than the header",
            )
            yield reader.line_num, dict(row) if complete else problem
    except UnreadableFileError as error:
        yield 0, error.problem
    except csv.Error as error:
        yield 0, domain.LoadProblem(path, "file", f"it is not CSV: {error}")


def _case_and_instances(row: _Row) -> Iterator[domain.Record]:
    case_id = row["case_id"]
    if not instance_ids.is_case_id(case_id):
        raise ValueError(f"{case_id!r} is not the id of a case")
    yield domain.Case(
        benchmark=instance_ids.JUNOBENCH.benchmark,
        case_id=case_id,
        library=row["library"] or None,
        root_cause=row["root_cause"] or None,
        exception=row["exception"] or None,
        crash_type=row["crash_type"] or None,
        stage=row["stage"] or None,
    )
    yield from (
        instance_ids.instance_of(f"{case_id}_{version}")
        for version in domain.Version
    )


def _detectors(tree: FileTree) -> Iterator[domain.Record]:
    tables = ("detections.csv", "skipped.csv", "outcomes.csv")
    rows = [
        row
        for path in tables
        for _, row in _rows(tree, path)
        if isinstance(row, dict)
    ]
    names = dict.fromkeys(
        row["detector"] for row in rows if row.get("detector")
    )
    names |= (
        {published_rules.DETECTOR: None}
        if published_rules.TABLE in tree
        else {}
    )
    yield from (detector_with_id(name) for name in names)


def _runs(row: _Row) -> Iterator[domain.Record]:
    """Five runs of a language model (an empty cell is a run without an answer), or one of an analyzer."""
    is_analyzer = (
        detector_with_id(row["detector"]).kind is domain.DetectorKind.ANALYZER
    )
    # An analyzer answers alike each time, so it has one run.
    for index, column in enumerate(
        _RUNS[:1] if is_analyzer else _RUNS, start=1
    ):
        crashes = _CRASHES[row[column]]
        yield _run(
            row,
            index,
            crashes=crashes,
            unanswered=_NO_ANSWER if crashes is None else None,
        )


def _run_never_asked(row: _Row) -> Iterator[domain.Record]:
    yield _run(row, 0, crashes=None, unanswered=row["reason"])


def _run(
    row: _Row, index: int, *, crashes: bool | None, unanswered: str | None
) -> domain.Run:
    return domain.Run(
        benchmark=instance_ids.JUNOBENCH.benchmark,
        instance_id=_instance(row),
        detector=row["detector"],
        setting=domain.Setting(row["setting"]),
        experiment=row["experiment"],
        run_index=index,
        crashes=crashes,
        unanswered=unanswered,
    )


def _judgement(row: _Row) -> Iterator[domain.Record]:
    yield domain.Judgement(
        benchmark=instance_ids.JUNOBENCH.benchmark,
        instance_id=_instance(row),
        detector=row["detector"],
        setting=domain.Setting(row["setting"]),
        experiment=row["experiment"],
        annotator=row["annotator"],
        annotator_kind=domain.AnnotatorKind.HUMAN,
        label=domain.Label(row["label"]),
    )


def _instance(row: _Row) -> str:
    if not instance_ids.is_instance_id(row["instance"]):
        raise ValueError(f"{row['instance']!r} is not the id of an instance")
    return row["instance"]


def _number(row: _Row) -> Iterator[domain.Record]:
    yield domain.PublishedNumber(
        publication=row["publication"],
        table_id=row["table_id"],
        row=row["row"],
        column=row["column"],
        printed=row["printed"],
        unit=row["unit"],
    )


def _contradiction(row: _Row) -> Iterator[domain.Record]:
    place = f"table {row['table_id']}, {row['row']}, {row['column']}"
    reason = f"{row['printed']} is printed, but {row['computed']} is computed: {row['reason']}"
    yield domain.LoadProblem(
        "contradictions.csv", place, reason, domain.ProblemKind.CONTRADICTION
    )
