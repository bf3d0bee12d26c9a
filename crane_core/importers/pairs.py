"""Pairs of notebooks: `<case>_reproduced.ipynb` that crashes and `<case>_fixed.ipynb` that does not.

Knows JunoBench's folder, the minibench with its cases.csv, and any folder of pairs. Refuses to know detectors, and
ignores originals and data files.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from crane_core import domain
from crane_core.importers import crane_llm_workbooks, instance_ids, reading
from crane_core.importers.filetree import FileTree
from crane_core.importers.published_detectors import slug
from crane_core.notebooks import (
    ORIGIN,
    CodeCell,
    crash_index,
    plan,
    read_code_cells,
    target_index,
)
from crane_core.stated_date import stated_date

KIND = "notebook-pairs"

_PAIR = re.compile(r"(?P<case>.+)_(?P<version>reproduced|fixed)\.ipynb")
_CASES_TABLE = "cases.csv"
VARIED_FROM = "varied_from"
"""Column of cases.csv: the benchmark whose cases these are copies of, with other names and numbers."""
_LABELS = (
    ("benchmark_desc.xlsx", "Sheet1"),
    ("benchmark_labels.xlsx", "Labeled_reviewed"),
)
_GROUND_TRUTH = "ground_truth_crash_prediction.xlsx"
JUNOBENCH_WORKBOOKS = frozenset({_GROUND_TRUTH, *(name for name, _ in _LABELS)})
FEW = 10
"""From so many pairs on, known ids alone identify a part of JunoBench."""
_FACTS = (
    "library",
    "root_cause",
    "exception",
    "crash_type",
    "stage",
    "diagnosis",
)
CREATED = "created"
"""Column of cases.csv: when the notebook was written."""


@dataclass(slots=True)
class _Pair:
    """Paths of the two notebooks, and of others of the same name, which would be ambiguous."""

    case_id: str
    paths: dict[domain.Version, str] = field(default_factory=dict)
    doubles: list[str] = field(default_factory=list)


def recognises(tree: FileTree) -> float:
    """Confidence (0..1): notebooks named as halves of a pair; lower than that of layouts with other files too."""
    # A release of the study may hold notebooks, too, and is then more than a folder of pairs.
    return 0.4 if _pairs(tree) else 0.0


def read(tree: FileTree) -> Iterator[domain.Record]:
    """Cells and crash of every pair; a pair with a missing or unreadable half is a problem, its other half is read."""
    yield from tree.problems
    pairs = _pairs(tree)
    benchmark = _benchmark(tree, pairs)
    facts = _Facts(benchmark.benchmark)
    facts.collect(tree)
    yield replace(benchmark, varied_from=facts.varied_from)
    yield from facts.problems
    yield from facts.cases_without_notebooks({pair.case_id for pair in pairs})
    for pair in pairs:
        yield from _read_pair(tree, pair, benchmark.benchmark, facts)


def _pairs(tree: FileTree) -> list[_Pair]:
    pairs: dict[str, _Pair] = {}
    for path in tree.paths:
        if match := _PAIR.fullmatch(path.rpartition("/")[2]):
            pair = pairs.setdefault(match["case"], _Pair(match["case"]))
            version = domain.Version(match["version"])
            if version in pair.paths:
                pair.doubles.append(path)
            else:
                pair.paths[version] = path
    return list(pairs.values())


def _benchmark(tree: FileTree, pairs: list[_Pair]) -> domain.Benchmark:
    """JunoBench if the tree looks like a part of it, else the tree's name.

    Ids like pandas_1 are common choices, so known ids alone are not enough: a workbook of JunoBench's must be beside
    the notebooks, or there must be at least FEW pairs.
    """
    names = {path.rpartition("/")[2] for path in tree.paths}
    known = all(pair.case_id in instance_ids.JUNOBENCH_CASES for pair in pairs)
    if (
        known
        and _CASES_TABLE not in names
        and (names & JUNOBENCH_WORKBOOKS or len(pairs) >= FEW)
    ):
        return instance_ids.JUNOBENCH
    return domain.Benchmark(slug(tree.name), tree.name)


class PairFiles(NamedTuple):
    """The notebooks of a case by version, as paths of their tree.

    `doubles` are further notebooks of the same name, `exception` the class that cases.csv states, None if it does not.
    """

    case_id: str
    paths: Mapping[domain.Version, str]
    doubles: Sequence[str]
    exception: str | None


def pair_files(tree: FileTree) -> tuple[domain.Benchmark, list[PairFiles]]:
    """Every pair of a tree that `recognises` takes, and the benchmark that an import would file them under."""
    pairs = _pairs(tree)
    benchmark = _benchmark(tree, pairs)
    tables = (
        path for path in tree.paths if path.rpartition("/")[2] == _CASES_TABLE
    )
    rows = (
        row
        for path in tables
        for row in _table_of_cases(tree, path, benchmark.benchmark)
    )
    stated = {
        row.case_id: row.exception
        for row in rows
        if isinstance(row, domain.Case)
    }
    return benchmark, [
        PairFiles(
            pair.case_id, pair.paths, pair.doubles, stated.get(pair.case_id)
        )
        for pair in pairs
    ]


def target_of(tree: FileTree, pair: PairFiles) -> int | None:
    """The cell whose output says that it crashed, which both notebooks have; None if no output does."""
    path = pair.paths.get(domain.Version.REPRODUCED)
    try:
        return None if path is None else crash_index(_code_cells(tree, path))
    except reading.UnreadableFileError:
        return None  # `read` tells of it


@dataclass(slots=True)
class _Facts:
    """What the tables beside the notebooks say about cases."""

    benchmark: str
    cases: dict[str, domain.Case] = field(default_factory=dict)
    truth: crane_llm_workbooks.GroundTruth = field(
        default_factory=crane_llm_workbooks.GroundTruth
    )
    problems: list[domain.LoadProblem] = field(default_factory=list)
    originals: set[str] = field(default_factory=set)

    @property
    def varied_from(self) -> str | None:
        """The benchmark whose cases these are copies of; None for others, and where several are named."""
        return min(self.originals) if len(self.originals) == 1 else None

    def collect(self, tree: FileTree) -> None:
        """Read every table of the tree that says something about cases."""
        for path in tree.paths:
            name = path.rpartition("/")[2]
            for workbook, sheet in _LABELS:
                if name == workbook:
                    self._take(
                        crane_llm_workbooks.read_case_labels(tree, path, sheet)
                    )
            if name == _CASES_TABLE:
                self._take(_table_of_cases(tree, path, self.benchmark))
                self.originals |= _originals(tree, path)
            elif name == _GROUND_TRUTH:
                self.truth = crane_llm_workbooks.read_ground_truth(tree, path)
                self.problems += self.truth.problems
        if len(self.originals) > 1:
            told = ", ".join(sorted(self.originals))
            why = f"several benchmarks are named, so the copies are compared with none: {told}"
            self.problems.append(
                domain.LoadProblem(_CASES_TABLE, VARIED_FROM, why)
            )

    def _take(
        self, records: Iterator[domain.Case | domain.LoadProblem]
    ) -> None:
        for record in records:
            if isinstance(record, domain.Case):
                self.cases.setdefault(record.case_id, record)
            else:
                self.problems.append(record)

    def cases_without_notebooks(
        self, paired: set[str]
    ) -> Iterator[domain.Case]:
        """The cases that tables name and no notebook has."""
        named = self.cases.keys() | self.truth.diagnoses.keys()
        return (self.case(case_id) for case_id in sorted(named - paired))

    def case(self, case_id: str) -> domain.Case:
        """What the tables say of one case, with the diagnosis of the ground truth before that of cases.csv."""
        library = (
            instance_ids.library_of(case_id)
            if self.benchmark == instance_ids.JUNOBENCH.benchmark
            else None
        )
        case = self.cases.get(
            case_id, domain.Case(self.benchmark, case_id, library)
        )
        diagnosis = self.truth.diagnoses.get(case_id)
        return replace(
            case,
            benchmark=self.benchmark,
            diagnosis=diagnosis or case.diagnosis,
        )


def _table_of_cases(
    tree: FileTree, path: str, benchmark: str
) -> Iterator[domain.Case | domain.LoadProblem]:
    try:
        rows = _rows(tree, path)
        for row in rows:
            facts = {
                name: (row.get(name) or "").strip() or None for name in _FACTS
            }
            case_id = (row.get("case_id") or "").strip()
            if case_id:
                case = domain.Case(
                    benchmark=benchmark, case_id=case_id, **facts
                )
                created = (row.get(CREATED) or "").strip()
                try:
                    if created:
                        stated = stated_date(created)
                        case = replace(case, created=stated.text)
                except ValueError as error:
                    place = f"line {rows.line_num}, {CREATED}"
                    yield domain.LoadProblem(path, place, str(error))
                yield case
            else:
                yield domain.LoadProblem(
                    path, f"line {rows.line_num}", "the row has no case_id"
                )
    except reading.UnreadableFileError as error:
        yield error.problem
    except csv.Error as error:
        yield domain.LoadProblem(path, "file", f"it is not CSV: {error}")


def _rows(tree: FileTree, path: str) -> csv.DictReader[str]:
    text = reading.read_text(tree, path).removeprefix("\ufeff")
    return csv.DictReader(io.StringIO(text, newline=""), strict=True)


def _originals(tree: FileTree, path: str) -> set[str]:
    """The benchmarks that the rows name as that of their originals; of a table that cannot be read, none."""
    # Why it cannot be read is told with its cases.
    with suppress(reading.UnreadableFileError, csv.Error):
        named = {
            (row.get(VARIED_FROM) or "").strip() for row in _rows(tree, path)
        }
        return named - {""}
    return set()


def _read_pair(
    tree: FileTree, pair: _Pair, benchmark: str, facts: _Facts
) -> Iterator[domain.Record]:
    notebooks: dict[domain.Version, list[CodeCell]] = {}
    for path in pair.doubles:
        yield domain.LoadProblem(path, "file name", "duplicate notebook name")
    for version in domain.Version:
        if version not in pair.paths:
            other = next(iter(pair.paths.values()))
            yield domain.LoadProblem(
                other, "pair", f"there is no {pair.case_id}_{version}.ipynb"
            )
            continue
        path = pair.paths[version]
        try:
            notebooks[version] = _code_cells(tree, path)
        except reading.UnreadableFileError as error:
            yield error.problem
    target = crash_index(notebooks.get(domain.Version.REPRODUCED, []))
    # A common mistake of new pairs, which would otherwise read as "unknown".
    if (
        target is None
        and target_index(notebooks.get(domain.Version.FIXED, [])) is not None
    ):
        yield domain.LoadProblem(
            pair.paths[domain.Version.FIXED],
            "cells",
            "the fixed notebook crashes; the two may be swapped",
        )
    yield _with_crash(
        facts.case(pair.case_id),
        notebooks.get(domain.Version.REPRODUCED, []),
        target,
    )
    for version, cells in notebooks.items():
        instance = domain.Instance(benchmark, pair.case_id, version)
        yield replace(
            instance, remark=facts.truth.remarks.get(instance.instance_id)
        )
        yield from _cells(instance, cells, target, pair.paths[version])


def _code_cells(tree: FileTree, path: str) -> list[CodeCell]:
    data = reading.read_bytes(tree, path)
    try:
        cells = read_code_cells(data)
    except ValueError as error:
        raise reading.UnreadableFileError(path, "file", str(error)) from error
    if not cells:
        raise reading.UnreadableFileError(path, "file", "it has no code cell")
    return cells


def _with_crash(
    case: domain.Case, cells: list[CodeCell], target: int | None
) -> domain.Case:
    """The case, completed from the notebook's own error output where the tables are silent."""
    crash = cells[target].crash if target is not None else None
    if crash is None:
        return case
    return replace(
        case,
        exception=case.exception or crash.exception.lower() or None,
        message=case.message or crash.message or None,
        # The notebook's own first: workbooks print it as a Python list of lines.
        traceback=crash.traceback or case.traceback,
    )


def _cells(
    instance: domain.Instance,
    cells: list[CodeCell],
    target: int | None,
    path: str,
) -> Iterator[domain.Cell | domain.LoadProblem]:
    """All code cells with their roles; all as not run if there is no target, which only the crashing notebook shows."""
    if target is None:
        yield domain.LoadProblem(
            path,
            "cells",
            "the crashing cell is unknown: the reproduced notebook has no error output",
        )
    # The fixed notebook may have fewer cells than the crashing one.
    elif target >= len(cells):
        yield domain.LoadProblem(
            path,
            f"code cell {target}",
            f"the target is missing: the notebook has {len(cells)} code cells",
        )
        target = None
    if target is None:
        yield from (
            _cell(instance, position, domain.CellRole.NOT_RUN, cell)
            for position, cell in enumerate(cells)
        )
        return
    for planned in plan(cells, target):
        yield _cell(instance, planned.position, planned.role, planned.cell)


def _cell(
    instance: domain.Instance,
    position: int,
    role: domain.CellRole,
    cell: CodeCell,
) -> domain.Cell:
    is_crash = (
        role is domain.CellRole.TARGET
        and instance.crashes
        and cell.crash is not None
    )
    return domain.Cell(
        benchmark=instance.benchmark,
        instance_id=instance.instance_id,
        origin=ORIGIN,
        position=position,
        role=role,
        code=cell.source,
        execution_count=cell.execution_count,
        notebook_index=cell.index,
        crash_line=cell.crash.line if is_crash and cell.crash else None,
    )
