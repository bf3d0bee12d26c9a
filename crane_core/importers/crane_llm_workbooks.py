"""The workbooks of CRANE-LLM's study: ground truth with remarks, the labels of the cases, the human outcomes.

Knows sheets and columns by name. Refuses footers: only rows with the id of an instance or a case are read.

The sheet Human_Validation of October 2025 holds verdicts where a person and the LLM judge differed, validated. It
stacks blocks, one per detector and setting. The header of a block is in a row without an instance and names three
columns: the person's label, the judge's, and the validator's, who saw both. A fourth column without a name holds a
settlement where even the validation was discussed. Only differing verdicts are in it, so these labels are not a random
sample, and agreement with them says nothing about other verdicts.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from crane_core import domain
from crane_core.importers import instance_ids, reading
from crane_core.importers.filetree import FileTree
from crane_core.importers.published_detectors import detector_named, label_named
from crane_core.importers.workbooks import UNNAMED, Workbook, WorkbookRow

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_OUTCOME_COLUMNS = (
    re.compile(
        r"(?P<detector>.+?)_crash_detection_(?P<setting>code|code_runinfo)"
    ),
    re.compile(r"crash_detection_(?P<detector>.+?)_(?P<setting>code|runinfo)"),
)
_VALIDATION_SHEET = re.compile(r"(?P<detector>.+?)_(?P<setting>code|runinfo)")
_SETTING = {
    "code": domain.Setting.CODE,
    "code_runinfo": domain.Setting.RUNTIME,
    "runinfo": domain.Setting.RUNTIME,
}


@dataclass(slots=True)
class GroundTruth:
    """Diagnosis by case, remark by instance, all instances named, and problems."""

    diagnoses: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, str | None] = field(default_factory=dict)
    problems: list[domain.LoadProblem] = field(default_factory=list)
    stated: reading.Statements = field(default_factory=reading.Statements)


def read_ground_truth(tree: FileTree, path: str) -> GroundTruth:
    """The sheet Ground_truth; a row whose verdict differs from the name of its instance is a contradiction."""
    truth = GroundTruth()
    try:
        for row in Workbook(tree, path).rows(
            "Ground_truth", "instance", "detection", "diagnosis"
        ):
            _add_truth(truth, row, path)
    except reading.UnreadableFileError as error:
        truth.problems.append(error.problem)
    return truth


def _add_truth(truth: GroundTruth, row: WorkbookRow, path: str) -> None:
    instance_id = row.text("instance")
    # Footers with formulas stand in the same columns below the 222 rows.
    if not instance_ids.is_instance_id(instance_id):
        return
    repeated = truth.stated.problem(
        instance_id, _cells(row), path=path, place=row.place, what=instance_id
    )
    if repeated:
        truth.problems.append(repeated)
        return
    truth.remarks[instance_id] = _remark(row)
    if row.text("diagnosis"):
        truth.diagnoses[instance_ids.case_of(instance_id)] = row.text(
            "diagnosis"
        )
    # The name of the version is the ground truth; the sheet only repeats it.
    crashes = instance_id.endswith(domain.Version.REPRODUCED)
    if row.text("detection").lower() != str(crashes).lower():
        reason = f"{instance_id} has the detection {row.text('detection')!r}"
        truth.problems.append(
            domain.LoadProblem(
                path, row.place, reason, domain.ProblemKind.CONTRADICTION
            )
        )


def _remark(row: WorkbookRow) -> str | None:
    remarks = [row.text("runinfo_help"), row.text(UNNAMED)]
    # Most cells hold the word None, and some remarks stand in a column without a name.
    return (
        "; ".join(remark for remark in remarks if remark not in ("", "None"))
        or None
    )


@reading.with_problems
def read_case_labels(
    tree: FileTree, path: str, sheet: str
) -> Iterator[domain.Case | domain.LoadProblem]:
    """The cases of benchmark_labels.xlsx or benchmark_desc.xlsx, with the labels in their original spelling."""
    stated = reading.Statements()
    for row in Workbook(tree, path).rows(
        sheet, "nb_name", "ename", "evalue", "label_root_cause"
    ):
        case_id = row.text("nb_name")
        if instance_ids.is_case_id(case_id):
            yield stated.problem(
                case_id, _cells(row), path=path, place=row.place, what=case_id
            ) or _case(case_id, row)


def _case(case_id: str, row: WorkbookRow) -> domain.Case:
    return domain.Case(
        benchmark=instance_ids.JUNOBENCH.benchmark,
        case_id=case_id,
        library=instance_ids.library_of(case_id),
        root_cause=row.text("label_root_cause") or None,
        exception=row.text("ename") or None,
        crash_type=row.text("label_refined_exp_type") or None,
        stage=row.text("label_ML_pipeline") or None,
        message=row.text("evalue") or None,
        traceback=traceback_text(row.text("traceback")),
    )


def traceback_text(printed: str) -> str | None:
    """A traceback as text: most cells print a Python list of its lines, some the text itself."""
    try:
        lines = ast.literal_eval(printed)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        lines = None
    is_lines = isinstance(lines, list) and all(
        isinstance(line, str) for line in lines
    )
    text = "\n".join(lines) if is_lines and lines is not None else printed
    # IPython colours its tracebacks for terminals.
    return _ANSI.sub("", text) or None


@dataclass(frozen=True, slots=True)
class Annotations:
    """Where an annotator's outcomes are printed and the name under which they are stored."""

    path: str
    sheet: str
    annotator: str
    experiment: str


@reading.with_problems
def read_outcomes(
    tree: FileTree, source: Annotations
) -> Iterator[domain.Judgement | domain.LoadProblem]:
    """The human outcome of every instance, detector and setting; an empty cell is neither an outcome nor a problem."""
    rows = Workbook(tree, source.path).rows(source.sheet, "instance")
    for row, instance_id in _instance_rows(rows, source.path):
        if isinstance(instance_id, domain.LoadProblem):
            yield instance_id
            continue
        for column, cell in row.cells.items():
            match = _outcome_column(column)
            # Sheets hold helper columns and empty cells between the outcomes.
            if match and cell != "":
                yield judgement(
                    source,
                    row,
                    column=column,
                    instance_id=instance_id,
                    match=match,
                    cell=cell,
                )


@reading.with_problems
def read_validation(
    tree: FileTree, path: str, annotator: str, experiment: str
) -> Iterator[domain.Judgement | domain.LoadProblem]:
    """The second annotator's sample: a sheet per detector and setting, the label in the column after the instance."""
    workbook = Workbook(tree, path)
    for sheet in workbook.sheet_names:
        match = _VALIDATION_SHEET.fullmatch(sheet)
        if match is None:
            continue
        source = Annotations(path, sheet, annotator, experiment)
        for row, instance_id in _instance_rows(
            workbook.rows(sheet, "instance"), path
        ):
            # The padding is for rows that end with the instance.
            column, cell = [*row.cells.items(), ("", ""), ("", "")][1]
            if isinstance(instance_id, domain.LoadProblem):
                yield instance_id
            elif cell != "":
                yield judgement(
                    source,
                    row,
                    column=column,
                    instance_id=instance_id,
                    match=match,
                    cell=cell,
                )


def _instance_rows(
    rows: Iterator[WorkbookRow], path: str
) -> Iterator[tuple[WorkbookRow, str | domain.LoadProblem]]:
    """Rows that belong to an instance, with its id, or the problem if the instance occurred before."""
    stated = reading.Statements()
    for row in rows:
        instance_id = row.text("instance")
        if instance_ids.is_instance_id(instance_id):
            repeated = stated.problem(
                instance_id,
                _cells(row),
                path=path,
                place=row.place,
                what=instance_id,
            )
            yield row, repeated or instance_id


def _cells(row: WorkbookRow) -> tuple[tuple[str, str], ...]:
    return tuple(
        (column, str(cell).strip()) for column, cell in row.cells.items()
    )


def _outcome_column(column: str) -> re.Match[str] | None:
    return next(
        (
            match
            for pattern in _OUTCOME_COLUMNS
            if (match := pattern.fullmatch(column))
        ),
        None,
    )


def judgement(
    source: Annotations,
    row: WorkbookRow,
    column: str,
    instance_id: str,
    match: re.Match[str],
    cell: object,
) -> domain.Judgement | domain.LoadProblem:
    """The label of a cell; match: `detector` and `setting` as the column or the sheet names them."""
    found = label_named(cell)
    if found is None:
        return domain.LoadProblem(
            source.path,
            f"{row.place}, column {column}",
            f"{cell!r} is not a label of the study",
        )
    return domain.Judgement(
        benchmark=instance_ids.JUNOBENCH.benchmark,
        instance_id=instance_id,
        detector=detector_named(match["detector"]).detector,
        setting=_SETTING[match["setting"]],
        experiment=source.experiment,
        annotator=source.annotator,
        annotator_kind=domain.AnnotatorKind.HUMAN,
        label=found[0],
        note=found[1],
    )


SETTLED = "published human, differences from the judge"
"""The annotator of these labels."""

_VALIDATOR = re.compile(r"(?P<detector>.+)_(?P<setting>code|runinfo)_validator")


class _Block(NamedTuple):
    """Where a block has the validator's label, and how its header names detector and setting."""

    column: int
    match: re.Match[str]


def read_settled_differences(
    tree: FileTree, source: Annotations
) -> Iterator[domain.Judgement | domain.LoadProblem]:
    """The validator's label of every verdict in the sheet. A workbook without the sheet is not a problem.

    Problems: a row before the first header, a verdict that is repeated, and a cell that is empty or not a label.
    """
    try:
        workbook = Workbook(tree, source.path)
    except reading.UnreadableFileError:
        # Told already: the sheet Human_evaluation of the same workbook is read before.
        return
    if source.sheet not in workbook.sheet_names:
        return
    block: _Block | None = None
    stated = reading.Statements()
    for number, cells in enumerate(workbook.cells(source.sheet), start=1):
        instance_id = str(cells[0]).strip() if cells else ""
        if not instance_id:
            block = _header(cells) or block
        elif instance_ids.is_instance_id(instance_id):
            place = f"sheet {source.sheet}, row {number}"
            yield _settled(
                source,
                place,
                instance_id=instance_id,
                cells=cells,
                block=block,
                stated=stated,
            )


def _header(cells: list[Any]) -> _Block | None:
    for column, cell in enumerate(cells):
        # The header names detector and setting only in the validator's column.
        match = _VALIDATOR.fullmatch(str(cell).strip())
        if match:
            return _Block(column, match)
    return None


def _settled(
    source: Annotations,
    place: str,
    instance_id: str,
    cells: list[Any],
    block: _Block | None,
    stated: reading.Statements,
) -> domain.Judgement | domain.LoadProblem:
    if block is None:
        return domain.LoadProblem(
            source.path,
            place,
            f"{instance_id} stands before any header of a block",
        )
    cell = cells[block.column] if block.column < len(cells) else ""
    key = (block.match["detector"], block.match["setting"], instance_id)
    repeated = stated.problem(
        key, str(cell), path=source.path, place=place, what=instance_id
    )
    if repeated:
        return repeated
    if cell == "":
        return domain.LoadProblem(
            source.path, place, f"{instance_id} has no label of the validator"
        )
    found = judgement(
        source,
        WorkbookRow(place, {}),
        column=block.match[0],
        instance_id=instance_id,
        match=block.match,
        cell=cell,
    )
    settlement = (
        cells[block.column + 1] if block.column + 1 < len(cells) else ""
    )
    if isinstance(found, domain.LoadProblem) or settlement == "":
        return found
    settled = label_named(settlement)
    if settled is None:
        return domain.LoadProblem(
            source.path, place, f"{settlement!r} is not a label of the study"
        )
    # Where the validation itself was discussed, what was agreed in the end counts.
    return replace(found, label=settled[0], note="settled in a discussion")
