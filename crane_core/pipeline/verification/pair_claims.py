"""What the two notebooks of a pair claim, and whether an execution bears it out. Starts no kernel.

The crashing notebook claims that its target cell raises the exception of its error output after the cells that ran
before; the fixed one that the same cells, its target and those that ran after it raise nothing.
"""

import re
from pathlib import Path
from typing import NamedTuple

from crane_core.domain import VerifiedAs
from crane_core.errors import NotebookError
from crane_core.notebooks import CodeCell, crash_index
from crane_core.runtime.endings import short
from crane_core.runtime.execute import Execution
from crane_core.runtime.plan import NotebookPlan, read_plan

_MODULES = frozenset({"ModuleNotFoundError", "ImportError"})
_FILES = frozenset({"FileNotFoundError"})
_NETWORK = frozenset(
    {
        "URLError",
        "HTTPError",
        "ConnectionError",
        "ConnectionRefusedError",
        "ConnectTimeout",
        "ReadTimeout",
        "SSLError",
    }
    | {
        "gaierror",
        "MaxRetryError",
        "RemoteDisconnected",
        "LocalEntryNotFoundError",
        "OfflineModeIsEnabled",
    }
)
_GPU = re.compile(
    r"no nvidia driver|not compiled with cuda|cuda (?:is not available|driver|error)|no cuda|on a cuda device"
    r"|cuda-enabled|no gpu|gpu (?:is not|not) available|device[:/ ]+gpu|torch_cuda|hip gpus|mps (?:device|backend)",
    re.I,
)


class NotAPairError(NotebookError):
    """Two notebooks that claim nothing that could be verified."""


class PairClaim(NamedTuple):
    """The cells to run, in their order. `exception` is what the one at `target` raises, None if nothing does."""

    cells: list[CodeCell]
    target: int
    exception: str | None

    def tolerates(self, at: int, exception: str) -> bool:
        """Whether a cell may raise: its tag says so, or it is before a crash and raised when it was recorded.

        The target never may: what it raises is what the pair is about.
        """
        if at != self.target and self.cells[at].may_raise:
            return True
        crash = self.cells[at].crash
        # A cell before the crash that raised when the notebook was saved did not keep the run from going on.
        return (
            self.exception is not None
            and at < self.target
            and crash is not None
            and crash.exception == exception
        )


class Borne(NamedTuple):
    """The outcome of a claim, why in one line, and the code cell (from 0 in the notebook) that ended it."""

    outcome: VerifiedAs
    why: str | None = None
    cell: int | None = None


def crashing_claim(
    notebook: Path, stated: str | None = None
) -> tuple[PairClaim, int]:
    """What a crashing notebook claims, and which code cell of it is the target; `stated` is what a table says of it.

    Raises NotebookError, and NotAPairError where there is no claim, or the two contradict each other.
    """
    plan = plan_to_crash(notebook)
    crash = plan.target.crash
    if crash is None or not crash.exception:
        raise _no_pair(
            f"{notebook.name} has no error output, so its target cell is unknown",
            "Run it, and save it.",
        )
    # The published tables spell classes in lower case.
    if stated and stated.casefold() != crash.exception.casefold():
        raise _no_pair(
            f"cases.csv states {short(stated)}, but the error output of {notebook.name} {short(crash.exception)}",
            "Correct the one that is wrong.",
        )
    return PairClaim(
        [*plan.executed, plan.target], len(plan.executed), crash.exception
    ), plan.target.index


def plan_to_crash(notebook: Path) -> NotebookPlan:
    """The plan of a notebook that is said to crash, whose target a tag may have let through. Raises NotebookError."""
    plan = read_plan(notebook, None)
    # `raises-exception` makes a plan pass over a cell, but here its crash is the claim.
    target = crash_index(plan.cells)
    return (
        plan
        if target in (None, plan.target.index)
        else read_plan(notebook, target)
    )


def fixed_claim(notebook: Path, target: int) -> PairClaim:
    """What a fixed notebook claims whose pair crashes in code cell `target`. Raises NotebookError."""
    plan = read_plan(notebook, target)
    return PairClaim(
        [*plan.executed, plan.target, *_after(plan)], len(plan.executed), None
    )


def _after(plan: NotebookPlan) -> list[CodeCell]:
    """The cells that ran after the target, in their order; without counts those below it."""
    cells = [cell for cell in plan.cells if not cell.is_skipped]
    if {cell.execution_count for cell in plan.cells} == {None}:
        return [cell for cell in cells if cell.index > plan.target.index]
    ran = {cell.index for cell in plan.executed} | {plan.target.index}
    count = plan.target.execution_count
    later = [
        (cell.execution_count, cell.index, cell)
        for cell in cells
        if cell.execution_count is not None and cell.index not in ran
    ]
    return [cell for n, _, cell in sorted(later) if count is None or n > count]


def borne_out(claim: PairClaim, went: Execution) -> Borne:
    """Whether the execution of a claim's cells bears it out."""
    cell = None if went.at is None else claim.cells[went.at].index
    if went.stopped is not None:
        return Borne(VerifiedAs.STOPPED, short(went.stopped), cell)
    if went.exception is None:
        if claim.exception is None:
            return Borne(VerifiedAs.AS_RECORDED)
        target = claim.cells[claim.target].index
        return Borne(
            VerifiedAs.NO_CRASH,
            f"its target, code cell {target}, raised nothing",
            target,
        )
    if went.at == claim.target and went.exception == claim.exception:
        return Borne(VerifiedAs.AS_RECORDED, None, cell)
    raised = short(f"{went.exception}: {went.message}")
    # What this machine lacks says nothing about the pair.
    if missing := _missing(went.exception, went.message):
        return Borne(
            VerifiedAs.CANNOT_RUN,
            f"{missing}: code cell {cell} raised {raised}",
            cell,
        )
    if claim.exception is None:
        return Borne(
            VerifiedAs.FIXED_CRASHES, f"code cell {cell} raised {raised}", cell
        )
    if went.at == claim.target:
        return Borne(
            VerifiedAs.OTHER_EXCEPTION,
            f"its target, code cell {cell}, raised {raised}",
            cell,
        )
    return Borne(
        VerifiedAs.OTHER_CELL,
        f"code cell {cell}, before its target, raised {raised}",
        cell,
    )


def _missing(exception: str, message: str) -> str | None:
    """What this machine lacks, where that is what an exception says."""
    if exception in _MODULES:
        return "a module is missing"
    if exception in _FILES:
        return "a file is missing"
    if exception in _NETWORK:
        return "it needs the network"
    return "it needs a GPU" if _GPU.search(message) else None


def _no_pair(what: str, remedy: str) -> NotAPairError:
    return NotAPairError(f"{what}.", remedy=remedy)
