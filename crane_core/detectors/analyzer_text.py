"""Cells as the one Python file that a static analyzer reads, in the layout of the study (crane_llm, sas_inputs).

Knows where cells, annotations and target stand in it. Refuses to know any analyzer. The study's lines stay where they
were, so that `code_line` of a diagnostic can be compared; two things differ, and both were noise there: what IPython
adds to the language is replaced line by line, and the sentence that nothing was executed is a comment.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from crane_core.domain import Cell, CellRole
from crane_core.prompts import published
from crane_core.runtime.kernel_side.crane_probe.syntax import magics

ANNOTATED_HEADER = "# Annotated Target Code:\n"
LARGEST_CHARACTERS = 300_000
"""Of all cells together; the largest published input has 24,000."""

_LINE_ENDS = re.compile("\r\n?")
# `# type: list[int]` is left alone: it declares a type, and switches nothing off.
_INSTRUCTION = re.compile(
    r"(\b(?:pylint|pyright)\s*|#\s*type\s*(?=:\s*ignore)):", re.IGNORECASE
)
"""In comments: what switches an analyzer off or changes its rules. The published texts have no comments at all."""


@dataclass(frozen=True, slots=True)
class AnalyzerText:
    """`code` is what the analyzer reads; `shown` the same lines as the cells have them; `target_line` counts from 1."""

    code: str
    shown: tuple[str, ...]
    target_line: int

    def code_line(self, line: int) -> str:
        """A line as published diagnostics name it: its number from 1, and its text."""
        text = self.shown[line - 1] if 0 < line <= len(self.shown) else ""
        return f"{line}: {text}"


def cells_in_order(cells: Sequence[Cell]) -> tuple[tuple[str, ...], str]:
    """The codes of the executed cells in order of execution, and of the target. Raises ValueError without a target."""
    ordered = sorted(cells, key=lambda cell: cell.position)
    targets = [cell.code for cell in ordered if cell.role is CellRole.TARGET]
    if len(targets) != 1:
        raise ValueError(f"one target cell is expected, not {len(targets)}")
    return tuple(
        cell.code for cell in ordered if cell.role is CellRole.EXECUTED
    ), targets[0]


def analyzer_text(
    executed: Sequence[str], target: str, annotations: Sequence[str] | None
) -> AnalyzerText:
    """The file; `annotations` are the lines before the target, None for the text without types.

    Raises ValueError for cells that are too large for an analyzer.
    """
    size = sum(map(len, executed)) + len(target)
    if size > LARGEST_CHARACTERS:
        raise ValueError(
            f"the cells have {size:,} characters, more than {LARGEST_CHARACTERS:,}"
        )
    executed, target = (
        [_plain_lines(code) for code in executed],
        _plain_lines(target),
    )
    before = (
        published.EXECUTED_HEADER
        + (_cells(executed) or f"# {published.NOTHING_EXECUTED}")
        + _heading(annotations)
    )
    shown = before + target
    code = published.EXECUTED_HEADER + (
        _cells([_python(cell) for cell in executed])
        or f"# {published.NOTHING_EXECUTED}"
    )
    code += _heading(annotations) + _python(target)
    return AnalyzerText(
        f"{code}\n", tuple(shown.split("\n")), before.count("\n") + 1
    )


def _cells(codes: Sequence[str]) -> str:
    return "".join(
        f"## Cell {number}:\n{code}\n\n"
        for number, code in enumerate(codes, start=1)
    )


def _heading(annotations: Sequence[str] | None) -> str:
    """The text before the target. An empty line follows the annotations, as published."""
    if annotations is None:
        return published.TARGET_HEADER
    return (
        ANNOTATED_HEADER + "".join(f"{line}\n" for line in annotations) + "\n"
    )


def _plain_lines(code: str) -> str:
    """Lines that every tool counts alike, in characters that UTF-8 has."""
    # UTF-8 has no half surrogates (`'\ud800'`), and tools count a lone carriage return differently.
    return _LINE_ENDS.sub("\n", code).encode("utf-8", "replace").decode("utf-8")


def _python(code: str) -> str:
    """The cell without magics and without instructions to analyzers, line by line."""
    return "\n".join(
        map(_without_instruction, _without_magics(code).split("\n"))
    )


def _without_instruction(line: str) -> str:
    code, mark, comment = line.partition("#")
    return code + _INSTRUCTION.sub(r"\1;", mark + comment)


def _without_magics(code: str) -> str:
    try:
        # Only cells that Python cannot read: in `c = (a\n % b)` the second line continues the first.
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        lines = zip(
            code.split("\n"), magics.python_of(code).split("\n"), strict=True
        )
        return "\n".join(_commented(before, after) for before, after in lines)
    return code


def _commented(before: str, after: str) -> str:
    """The Python of a line, with the line behind it; the result of a magic has no type that an analyzer could know."""
    if before == after:
        return before
    given = (
        f'{after[: -len("None")]}eval("None")'
        if after.endswith("= None")
        else after
    )
    # The lines below `%%bash` are not Python, and become comments.
    return f"{given}  # {before.strip()}" if given.strip() else f"# {before}"
