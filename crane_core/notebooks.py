"""Notebook files as code cells: what ran, in which order, and which cell is the target.

Knows .ipynb through nbformat and the rules by which a target cell is chosen. Refuses to start a kernel.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import nbformat

from crane_core import not_a_notebook
from crane_core.cell_language import as_python, other_language
from crane_core.domain import CellRole, JsonObject

ORIGIN = "notebook"
"""Origin of cells that were read from a notebook file."""

RERUN_MARK = "[reexecute]"
"""A first line that holds this belongs to a cell that ran although its execution count says otherwise (JunoBench)."""

MAY_RAISE = "raises-exception"
"""The tag by which nbclient and Jupyter Book let a cell raise: the cells after it run all the same."""

SKIPPED = "skip-execution"
"""The tag of cells that nbclient does not execute."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_FRAMES = (
    re.compile(
        r"^ *(?:Cell |Input |File )?In *\[(?P<count>\d+)\](?:, line (?P<line>\d+)|:\s*\nLine (?P<line2>\d+):)?",
        re.M,
    ),
    re.compile(
        r"^ *(?:File \")?(?:<ipython-input-(?P<count>\d+)|\S*ipykernel_\d+/)[^\s,]*(?:, line (?P<line>\d+))?",
        re.M,
    ),
)
"""How a frame of a cell begins in tracebacks of IPython 8 and later, and of IPython 7 and ipykernel 6."""

_ARROW = re.compile(r"^-+> ?(?P<line>\d+)", re.M)
LARGEST_COUNT = 2**31 - 1
MAX_JSON_CONTAINERS = 4_000_000
"""Objects and lists of one JSON document; the largest published file has 1,257."""


@dataclass(frozen=True, slots=True)
class CrashOutput:
    """The error output of a cell. `line` counts from 1 in the cell, None if the traceback does not tell."""

    exception: str
    message: str
    traceback: str
    line: int | None


@dataclass(frozen=True, slots=True)
class CodeCell:
    """A code cell; `index` counts the code cells of the notebook from 0. `language` is None for Python."""

    index: int
    source: str
    execution_count: int | None
    crash: CrashOutput | None
    tags: frozenset[str] = frozenset()
    language: str | None = None

    @property
    def may_raise(self) -> bool:
        """Whether its author expects an exception, so that the notebook goes on after it."""
        return MAY_RAISE in self.tags

    @property
    def is_skipped(self) -> bool:
        """Whether it is left out when the notebook is executed: by its author's tag, or as it is not Python."""
        return SKIPPED in self.tags or self.language is not None


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A code cell with its part in a prediction; `position` counts from 0: executed cells, target, all others."""

    position: int
    role: CellRole
    cell: CodeCell


class Document(NamedTuple):
    """A notebook file: its code cells in the order of the notebook, and the language that it says they are in."""

    cells: list[CodeCell]
    language: str | None


def read_document(data: bytes) -> Document:
    """What an .ipynb file holds.

    Notebooks of format 3 are upgraded; a byte order mark and missing metadata are tolerated. Raises ValueError, in
    words for the user, when the bytes are not a notebook; as an UnreadableNotebookError it has a remedy.
    """
    notebook = _notebook(data)
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise _no_cells()
    code = [
        cell
        for cell in cells
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    ]
    return Document(
        [
            _code_cell(index, cell, _metadata(notebook))
            for index, cell in enumerate(code)
        ],
        _language(_metadata(notebook)),
    )


def read_code_cells(data: bytes) -> list[CodeCell]:
    """The code cells of `read_document`. Raises ValueError."""
    return read_document(data).cells


def _metadata(part: JsonObject) -> JsonObject:
    """Of a notebook or a cell; empty where it has none."""
    told = part.get("metadata")
    return told if isinstance(told, dict) else {}


def _no_cells() -> not_a_notebook.UnreadableNotebookError:
    return not_a_notebook.UnreadableNotebookError(
        "it has no list of cells", "Name an .ipynb file that Jupyter has saved."
    )


def _language(named: JsonObject) -> str | None:
    """As Jupyter writes it; None if it says nothing."""
    for place, key in (("language_info", "name"), ("kernelspec", "language")):
        told = named.get(place)
        if (
            isinstance(told, dict)
            and isinstance(told.get(key), str)
            and told[key].strip()
        ):
            return str(told[key])
    return None


def target_index(cells: Sequence[CodeCell]) -> int | None:
    """The first code cell with an error output that no tag expects, None when no cell has one."""
    return next(
        (
            cell.index
            for cell in cells
            if cell.crash is not None and not cell.may_raise
        ),
        None,
    )


def crash_index(cells: Sequence[CodeCell]) -> int | None:
    """The target of a notebook that is said to crash: it may carry the tag by which its author got past the crash."""
    unexpected = target_index(cells)
    if unexpected is not None:
        return unexpected
    return next((cell.index for cell in cells if cell.crash is not None), None)


def executed_before(cells: Sequence[CodeCell], target: int) -> list[CodeCell]:
    """The cells that ran before the target (an index), in the order in which they ran.

    A cell ran when its execution count is below the target's, or its first line holds RERUN_MARK: a target that holds
    it is about to run for the second time, and is among them. Without counts the notebook ran from top to bottom.
    Cells with the tag SKIPPED are left out, as nbclient leaves them out, whatever their count.
    Raises ValueError for an index that is not a code cell.
    """
    if not 0 <= target < len(cells):
        raise ValueError(
            f"there is no code cell {target}; the notebook has {len(cells)}"
        )
    taking_part = [
        cell for cell in cells if not cell.is_skipped or cell.index == target
    ]
    if all(cell.execution_count is None for cell in cells):
        return [
            cell
            for cell in taking_part
            if cell.index < target or cell.index == target and _is_marked(cell)
        ]
    limit = cells[target].execution_count
    ran = [cell for cell in taking_part if _ran(cell, target, limit)]
    return sorted(
        ran,
        key=lambda cell: (
            cell.execution_count is None,
            cell.execution_count or 0,
            cell.index,
        ),
    )


def plan(cells: Sequence[CodeCell], target: int) -> list[PlannedCell]:
    """All code cells with their roles: executed in order of execution, the target, then those that took no part."""
    executed = executed_before(cells, target)
    taken = {cell.index for cell in executed} | {target}
    ordered = [(CellRole.EXECUTED, cell) for cell in executed]
    ordered.append((CellRole.TARGET, cells[target]))
    ordered += [
        (CellRole.NOT_RUN, cell) for cell in cells if cell.index not in taken
    ]
    return [
        PlannedCell(position, role, cell)
        for position, (role, cell) in enumerate(ordered)
    ]


def _ran(cell: CodeCell, target: int, limit: int | None) -> bool:
    if _is_marked(cell):
        return True
    if cell.execution_count is None:
        return False
    return (
        cell.index < target if limit is None else cell.execution_count < limit
    )


def refuse_json_bomb(data: bytes) -> None:
    """Raise ValueError for more objects and lists than memory should take: empty ones take 25 times their text."""
    if data.count(b"{") + data.count(b"[") > MAX_JSON_CONTAINERS:
        raise ValueError(
            f"it holds more than {MAX_JSON_CONTAINERS:,} objects and lists"
        )


def _is_marked(cell: CodeCell) -> bool:
    return RERUN_MARK in cell.source.partition("\n")[0]


def _notebook(data: bytes) -> JsonObject:
    refuse_json_bomb(data)
    try:
        document = not_a_notebook.document_in(data)
    except RecursionError as error:
        raise ValueError(f"it is nested too deeply: {error}") from error
    if (
        document.get("nbformat", not_a_notebook.NEWEST_FORMAT)
        == not_a_notebook.NEWEST_FORMAT
    ):
        return document
    return _upgraded(document)


def _upgraded(document: JsonObject) -> JsonObject:
    if not isinstance(document.get("worksheets", document.get("cells")), list):
        raise _no_cells()
    document.setdefault("nbformat_minor", 0)
    document.setdefault("metadata", {})
    try:
        notebook = nbformat.from_dict(document)  # type: ignore[no-untyped-call]
        upgraded = nbformat.convert(notebook, not_a_notebook.NEWEST_FORMAT)  # type: ignore[no-untyped-call]
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        ImportError,
    ) as error:
        raise ValueError(
            f"its format {document.get('nbformat')!r} cannot be read: {error}"
        ) from error
    return dict(upgraded)


def _code_cell(
    index: int, cell: JsonObject, of_notebook: JsonObject
) -> CodeCell:
    count = _count(cell.get("execution_count"), index)
    source = _text(cell.get("source", ""), f"the source of code cell {index}")
    outputs = cell.get("outputs")
    errors = [
        output
        for output in (outputs if isinstance(outputs, list) else [])
        if isinstance(output, dict) and output.get("output_type") == "error"
    ]
    return CodeCell(
        index=index,
        source=as_python(source, of_notebook),
        execution_count=count,
        crash=_crash(errors[0], index, count) if errors else None,
        tags=_tags(_metadata(cell)),
        language=other_language(cell, source, of_notebook),
    )


def _tags(metadata: JsonObject) -> frozenset[str]:
    tags = metadata.get("tags")
    return (
        frozenset(tag for tag in tags if isinstance(tag, str))
        if isinstance(tags, list)
        else frozenset()
    )


def _count(value: Any, index: int) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if abs(value) > LARGEST_COUNT:
        raise ValueError(
            f"code cell {index} has the execution count {value:.3g}, which no kernel gives"
        )
    return value


def _crash(output: JsonObject, index: int, count: int | None) -> CrashOutput:
    lines = output.get("traceback", [])
    if isinstance(lines, list):
        lines = "\n".join(
            _text(line, f"the traceback of code cell {index}") for line in lines
        )
    return crash_output(
        str(output.get("ename", "")),
        str(output.get("evalue", "")),
        _text(lines, f"the traceback of code cell {index}"),
        count,
    )


def crash_output(
    exception: str, message: str, traceback: str, count: int | None
) -> CrashOutput:
    """The error output of the cell with this execution count, without the colours of a terminal."""
    traceback = _ANSI.sub("", traceback)
    return CrashOutput(
        exception=exception,
        message=_ANSI.sub("", message),
        traceback=traceback,
        line=crash_line(traceback, count),
    )


def crash_line(
    traceback: str, execution_count: int | None = None
) -> int | None:
    """The line of the cell, from 1, at which a traceback of IPython enters the cell that was run.

    A frame with the cell's execution count is preferred: a function of an earlier cell may stand before it.
    """
    frames = [
        frame for pattern in _FRAMES for frame in pattern.finditer(traceback)
    ]
    own = [frame for frame in frames if frame["count"] == str(execution_count)]
    for frame in own or frames:
        stated = next(
            (
                value
                for name, value in frame.groupdict().items()
                if name != "count" and value
            ),
            None,
        )
        arrow = _ARROW.search(traceback, frame.end())
        if stated or arrow:
            return int(stated or (arrow["line"] if arrow else 0))
    return None


def _text(value: Any, what: str) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "".join(value)
    if not isinstance(value, str):
        raise not_a_notebook.UnreadableNotebookError(
            f"{what} is not text", not_a_notebook.BY_HAND
        )
    return value
