"""What is known of each cell of a whole notebook: what the rules predicted, how it ended, and what is wrong with it.

Knows which of these count as a problem. Refuses to know how they were found and how a report writes them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from crane_core.domain import JsonObject
from crane_core.errors import CraneError
from crane_core.notebooks import CodeCell, CrashOutput
from crane_core.pipeline.own_notebooks.whole.cell_order import OrderFinding


class CellEnd(StrEnum):
    """How a cell ended."""

    RAN = "ran"
    RAISED = "raised"
    STOPPED = "stopped"
    LEFT_OUT = "left out"
    NOT_RUN = "not run"


class CellProblemKind(StrEnum):
    """What is wrong, by how it is known."""

    CRASH = "crash"
    PREDICTED = "predicted"
    ORDER = "order"
    NOT_CHECKED = "not-checked"


class Problem(NamedTuple):
    """One thing to report. `line` counts from 1 in the cell, `file_line` in the file; None where unknown.

    `rule` is the class of the exception, or what kept the notebook from being checked. `was_predicted`: the rules
    named this exception before the cell ran.
    """

    kind: CellProblemKind
    rule: str
    message: str
    remedy: str = ""
    cell: int | None = None
    line: int | None = None
    file_line: int | None = None
    was_predicted: bool = False


@dataclass(frozen=True, slots=True)
class CellResult:
    """One code cell. `findings` are the rules' certain ones, `seconds` is wall time of its run.

    `stopped` is why the kernel ended in it. `saw_state`: the rules had the kernel's state, not the code alone.
    """

    cell: CodeCell
    findings: tuple[JsonObject, ...] = ()
    unsure: tuple[str, ...] = ()
    end: CellEnd = CellEnd.NOT_RUN
    crash: CrashOutput | None = None
    stopped: str | None = None
    seconds: float | None = None
    saw_state: bool = False

    @property
    def is_false_alarm(self) -> bool:
        """Whether a crash was predicted of a cell that then ran."""
        return bool(self.findings) and self.end is CellEnd.RAN

    @property
    def problem(self) -> Problem | None:
        """The crash, else the predicted one. What a cell raises under `raises-exception` is none."""
        at = self.cell.index
        if self.stopped is not None:
            return Problem(
                CellProblemKind.CRASH, "KernelEnded", self.stopped, cell=at
            )
        # Where a cell ran, the run is the better witness.
        if self.cell.may_raise or self.end is CellEnd.RAN:
            return None
        first = self.findings[0] if self.findings else None
        if self.crash is not None:
            crash = self.crash
            text = f"{crash.exception}: {crash.message}".removesuffix(": ")
            # A remedy for another exception than the one that came would mislead.
            if first is not None and first["exception"] != crash.exception:
                first = None
            return Problem(
                kind=CellProblemKind.CRASH,
                rule=crash.exception,
                message=text,
                remedy=str(first["remedy"]) if first else "",
                cell=at,
                line=crash.line,
                was_predicted=first is not None,
            )
        if first is None:
            return None
        return Problem(
            kind=CellProblemKind.PREDICTED,
            rule=str(first["exception"]),
            message=f"will raise {first['exception']}: {first['message']}",
            remedy=str(first["remedy"]),
            cell=at,
            line=int(str(first["code_line"]).partition(":")[0]),
        )

    def to_json(self) -> JsonObject:
        """As the JSON report has it: `crashes` is what the rules predict, true or null."""
        return {
            "cell": self.cell.index,
            "tags": sorted(self.cell.tags),
            "language": self.cell.language or "python",
            "end": str(self.end),
            "exception": self.crash and self.crash.exception,
            "message": self.crash.message if self.crash else self.stopped,
            "line": self.crash and self.crash.line,
            "seconds": self.seconds,
            "predicted_from": "state" if self.saw_state else "code",
            "crashes": True if self.findings else None,
            "findings": list(self.findings),
            "unsure": list(self.unsure),
        }


def _explained(problem: Problem, order: Sequence[OrderFinding]) -> Problem:
    """A missing name with where the notebook has it, which is a better remedy than to define it."""
    for finding in order:
        is_same = f"'{finding.name}'" in problem.message
        if problem.rule == "NameError" and is_same:
            words = f"{problem.message}; {finding.message}"
            return problem._replace(message=words, remedy=finding.remedy)
    return problem


@dataclass(frozen=True, slots=True)
class NotebookResult:
    """A whole notebook: its cells in the order of the file, or the error that kept it from being checked.

    `cell_lines` has the lines of the file with the source of each code cell, from 1; empty where unknown.
    """

    path: Path
    cells: tuple[CellResult, ...] = ()
    order: tuple[OrderFinding, ...] = ()
    is_executed: bool = False
    error: CraneError | None = None
    cell_lines: tuple[range, ...] = ()

    @property
    def problems(self) -> list[Problem]:
        """In the order of the cells; of two that are about one name of a cell, the first."""
        if self.error is not None:
            about = (str(self.error.args[0]), self.error.remedy)
            name = type(self.error).__name__
            return [Problem(CellProblemKind.NOT_CHECKED, name, *about)]
        return [self._placed(problem) for problem in self._all()]

    def _all(self) -> Iterator[Problem]:
        for result in self.cells:
            of_cell = [
                finding
                for finding in self.order
                if finding.cell == result.cell.index
            ]
            known = result.problem
            if known is not None:
                yield _explained(known, of_cell)
            # Where a cell ran, it had the name, from wherever.
            has_run = result.end in (CellEnd.RAN, CellEnd.RAISED)
            if has_run or known is not None and known.rule == "NameError":
                continue
            for finding in of_cell:
                yield Problem(
                    kind=CellProblemKind.ORDER,
                    rule="NameError",
                    message=finding.message,
                    remedy=finding.remedy,
                    cell=finding.cell,
                    line=finding.line,
                )

    def _placed(self, problem: Problem) -> Problem:
        if problem.cell is None or not self.cell_lines:
            return problem
        lines = self.cell_lines[problem.cell]
        at = min(problem.line or 1, len(lines)) - 1
        return problem._replace(file_line=lines[at])

    def to_json(self) -> JsonObject:
        """As the JSON report has it; `first_crash` and `first_predicted` are code cells from 0, or null."""
        # Reversed, so that the first of a kind is the one that is kept.
        by_kind = {
            problem.kind: problem.cell for problem in self.problems[::-1]
        }
        return {
            "notebook": str(self.path),
            "executed": self.is_executed,
            "error": None if self.error is None else str(self.error),
            "first_crash": by_kind.get(CellProblemKind.CRASH),
            "first_predicted": next(
                (one.cell.index for one in self.cells if one.findings), None
            ),
            "cells": [result.to_json() for result in self.cells],
            "order": [
                {**finding._asdict(), "message": finding.message}
                for finding in self.order
            ],
            "problems": [
                {
                    **problem._asdict(),
                    "kind": str(problem.kind),
                }
                for problem in self.problems
            ],
        }


def n_with(
    results: Sequence[NotebookResult],
    *kinds: CellProblemKind,
) -> int:
    """The number of notebooks that have a problem of one of these kinds."""
    return sum(
        any(problem.kind in kinds for problem in result.problems)
        for result in results
    )


def n_with_crash(results: Sequence[NotebookResult]) -> int:
    """Notebooks with a crash, a predicted one, or a name that a fresh run lacks."""
    return n_with(
        results,
        CellProblemKind.CRASH,
        CellProblemKind.PREDICTED,
        CellProblemKind.ORDER,
    )


def counts_in_words(results: Sequence[NotebookResult]) -> str:
    """One line; what is 0 is left out, except the crashes."""
    n = len(results)
    n_crashed = n_with(results, CellProblemKind.CRASH)
    told = [f"{n_crashed:,} crashed"]
    for kind, words in (
        (CellProblemKind.PREDICTED, "with a predicted crash"),
        (CellProblemKind.ORDER, "in need of another order"),
        (CellProblemKind.NOT_CHECKED, "not checked"),
    ):
        n_of_kind = n_with(results, kind)
        told += [f"{n_of_kind:,} {words}"] if n_of_kind else []
    return f"{n:,} {'notebook' if n == 1 else 'notebooks'}: {', '.join(told)}"
