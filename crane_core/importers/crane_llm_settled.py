"""The sheet Human_Validation of October 2025: verdicts where a person and the LLM judge differed, validated.

The sheet stacks blocks, one per detector and setting. The header of a block is in a row without an instance and
names three columns: the person's label, the judge's, and the validator's, who saw both. A fourth column without a name
holds a settlement where even the validation was discussed. Only differing verdicts are in it, so these labels are not a
random sample, and agreement with them says nothing about other verdicts.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from crane_core.domain import Judgement, LoadProblem
from crane_core.importers.crane_llm_workbooks import Annotations, judgement
from crane_core.importers.filetree import FileTree
from crane_core.importers.instance_ids import is_instance_id
from crane_core.importers.published_detectors import label_named
from crane_core.importers.reading import Statements, UnreadableFileError
from crane_core.importers.workbooks import Workbook, WorkbookRow

SETTLED = "published human, differences from the judge"
"""The annotator of these labels."""

_VALIDATOR = re.compile(r"(?P<detector>.+)_(?P<setting>code|runinfo)_validator")


class _Block(NamedTuple):
    """Where a block has the validator's label, and how its header names detector and setting."""

    column: int
    match: re.Match[str]


def read_settled_differences(
    tree: FileTree, source: Annotations
) -> Iterator[Judgement | LoadProblem]:
    """The validator's label of every verdict in the sheet. A workbook without the sheet is not a problem.

    Problems: a row before the first header, a verdict that is repeated, and a cell that is empty or not a label.
    """
    try:
        workbook = Workbook(tree, source.path)
    except UnreadableFileError:
        # Told already: the sheet Human_evaluation of the same workbook is read before.
        return
    if source.sheet not in workbook.sheet_names:
        return
    block: _Block | None = None
    stated = Statements()
    for number, cells in enumerate(workbook.cells(source.sheet), start=1):
        instance_id = str(cells[0]).strip() if cells else ""
        if not instance_id:
            block = _header(cells) or block
        elif is_instance_id(instance_id):
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
    stated: Statements,
) -> Judgement | LoadProblem:
    if block is None:
        return LoadProblem(
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
        return LoadProblem(
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
    if isinstance(found, LoadProblem) or settlement == "":
        return found
    settled = label_named(settlement)
    if settled is None:
        return LoadProblem(
            source.path, place, f"{settlement!r} is not a label of the study"
        )
    # Where the validation itself was discussed, what was agreed in the end counts.
    return replace(found, label=settled[0], note="settled in a discussion")
