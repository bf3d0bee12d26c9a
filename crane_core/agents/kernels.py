"""The tools about cells and kernels. Runs nothing in a kernel but the look at it, unless execution is allowed.

Knows no protocol: arguments in, records out. Refusals are CraneErrors, whose remedies an assistant can follow.
"""

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from crane_core.agents import records
from crane_core.crash_place import crash_place
from crane_core.domain import KernelState
from crane_core.errors import CraneError, NotebookError
from crane_core.live.verdict import predicted
from crane_core.pipeline.own_notebooks import check, fix_words, value_origins
from crane_core.pipeline.own_notebooks.attach import before_cell
from crane_core.runtime.attached import Attached
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.rehearsal import USUAL_S
from crane_core.runtime.running import kernel_named, running_kernels

MOST_CODE, MOST_TRACEBACK = 200_000, 200_000
MOST_STATE = 60_000
"""Characters of a state as JSON: about 15,000 tokens of an assistant's context."""
MOST_MESSAGE = 4_000
LONGEST_REHEARSED_S = 30.0
CODE_ALONE = (
    "The cells before it were not run, so no values are known. Name a kernel, or start the server with"
    " --allow-execution."
)
Code = Annotated[
    str,
    Field(description="the source of the cell", max_length=MOST_CODE),
]
Kernel = Annotated[
    str,
    Field(
        description="the id of a kernel of list_kernels, or a beginning of it",
        max_length=1_000,
    ),
]
Notebook = Annotated[
    str, Field(description="path of a saved .ipynb file", max_length=4_000)
]
CellNumber = Annotated[
    int,
    Field(
        description="a code cell of that notebook, counted from 0; by default the one with an error, else the last",
        ge=0,
    ),
]
Traceback = Annotated[
    str, Field(description="as it was printed", max_length=MOST_TRACEBACK)
]
Seconds = Annotated[
    float,
    Field(
        description="how long it may run",
        gt=0,
        le=LONGEST_REHEARSED_S,
        allow_inf_nan=False,
    ),
]
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_HEAD = re.compile(r"^(?P<name>\w+) +Traceback \(most recent", re.MULTILINE)
"""The first line of IPython's tracebacks."""
_RAISED = re.compile(
    r"^(?P<name>(?:\w+\.)*\w*(?:[Ee]rror|Exception|Warning|Interrupt|Exit|Iteration|Expired|Group))(?=:|$)",
    re.MULTILINE,
)


class ExecutionForbiddenError(CraneError):
    """The server was started without leave to run code."""

    def __init__(self) -> None:
        super().__init__(
            "This server runs no code of notebooks.",
            remedy="The person who starts it can allow that: crane mcp --allow-execution.",
        )


@dataclass(frozen=True)
class KernelTools:
    """The tools for one assistant. `root` is the folder outside of which no notebook is read."""

    root: Path
    may_execute: bool

    def list_kernels(self) -> records.OpenKernels:
        """Every kernel that answers."""
        return records.OpenKernels(
            [
                records.OpenKernel(
                    kernel.id,
                    None if kernel.notebook is None else str(kernel.notebook),
                )
                for kernel in running_kernels()
            ]
        )

    def check_cell(
        self,
        code: Code | None = None,
        kernel: Kernel | None = None,
        notebook: Notebook | None = None,
        cell: CellNumber | None = None,
    ) -> records.CellVerdict:
        """Of code before it runs in a kernel, or of a cell of a saved notebook. Raises CraneError."""
        if code is not None and kernel is not None and notebook is None:
            checked = before_cell(kernel_named(kernel), code)
            return _as_verdict(checked, "")
        if notebook is None or code is not None or kernel is not None:
            raise NotebookError(
                "A check is about code in a kernel, or about a cell of a saved notebook.",
                remedy="Give code and kernel, or notebook and cell.",
            )
        checked = check.read_notebook(self._inside(notebook), cell)
        if not self.may_execute:
            return _as_verdict(checked, CODE_ALONE)
        checked = check.run_up(
            checked, limits=KernelLimits(), rehearse_s=USUAL_S
        )
        return _as_verdict(checked, "")

    def kernel_state(self, kernel: Kernel, code: Code) -> records.SeenState:
        """What the kernel holds that matters for this code. Raises CraneError."""
        checked = before_cell(kernel_named(kernel), code)
        assert checked.state is not None
        return _as_state(checked.state)

    def rehearse_cell(
        self, kernel: Kernel, code: Code, seconds: Seconds = USUAL_S
    ) -> records.RehearsedCell:
        """What the code comes to in a copy of the kernel. Raises CraneError."""
        if not self.may_execute:
            raise ExecutionForbiddenError
        with Attached(kernel_named(kernel)) as live:
            outcome = live.rehearse(code, seconds)
        return records.RehearsedCell(
            outcome=str(outcome.outcome),
            exception=outcome.exception,
            message=outcome.message,
            line=outcome.line,
            code_line=outcome.code_line,
            seconds=outcome.seconds,
            limit_s=outcome.limit_s,
            why=outcome.why,
        )

    def suggest_fix(self, kernel: Kernel, code: Code) -> records.SuggestedFixes:
        """Edits with which the code ran through in a copy of the kernel. Raises CraneError."""
        if not self.may_execute:
            raise ExecutionForbiddenError
        checked = before_cell(kernel_named(kernel), code, fix_s=USUAL_S)
        assert checked.rehearsal is not None
        return records.SuggestedFixes(
            rehearsal=checked.rehearsal.to_json(),
            **fix_words.fixes_json(checked),
        )

    def explain_crash(
        self, traceback: Traceback, code: Code, kernel: Kernel | None = None
    ) -> records.ExplainedCrash:
        """The line of the cell that raised, and what its names hold now. Raises CraneError."""
        text = _COLOURS.sub("", traceback)
        exception, message = _raised(text)
        place = crash_place(text, None, code)
        line = place.line if place else None
        code_line = code.splitlines()[line - 1] if line else None
        if kernel is None:
            note = "No kernel is named, so the state behind it is not known."
            return records.ExplainedCrash(
                exception, message, line, code_line, "", None, [], note
            )
        checked = before_cell(kernel_named(kernel), code)
        assert checked.state is not None
        finding = {
            "exception": exception,
            "message": message,
            "expression": _readable(code_line or code),
            "remedy": "",
        }
        [named] = value_origins.with_origins([finding], checked, is_live=True)
        return records.ExplainedCrash(
            exception,
            message,
            line,
            code_line,
            named["origin"],
            _as_state(checked.state),
            _as_verdict(checked, "").findings,
            "The state is that after the crash: the cell may have changed it.",
        )

    def _inside(self, notebook: str) -> Path:
        """The path, if it leads into the folder. Raises NotebookError."""
        try:
            path = (self.root / notebook).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise NotebookError(
                "That is not the path of a notebook.",
                remedy="Name an .ipynb file.",
            ) from error
        if not path.is_relative_to(self.root.resolve()):
            raise NotebookError(
                "That notebook lies outside of the folder that this server reads.",
                remedy="The person who starts it can choose another one: crane mcp --notebooks FOLDER.",
            )
        return path


def _as_verdict(
    checked: check.CheckedNotebook, note: str
) -> records.CellVerdict:
    said = check.verdict(checked)
    return records.CellVerdict(
        # Not false: the rules report certain crashes and approve nothing.
        crashes=said.crashes or None,
        predicted=predicted(crashes=said.crashes),
        findings=value_origins.with_origins(
            check.findings(said), checked, is_live=checked.is_attached
        ),
        unsure=check.unsure(said),
        knows_values=checked.state is not None,
        rehearsal=checked.rehearsal and checked.rehearsal.to_json(),
        note=note,
    )


def _as_state(state: KernelState) -> records.SeenState:
    """The state within its bound: the longest variables are named only."""
    document = state.to_json()
    parts: dict[str, dict[str, Any]] = {
        name: dict(document.get(name) or {})
        for name in ("variables", "accesses", "absent", "unavailable")
    }
    left_out = []
    while _length(parts) > MOST_STATE and parts["variables"]:
        longest = max(
            parts["variables"],
            key=lambda name: _length(parts["variables"][name]),
        )
        del parts["variables"][longest]
        left_out.append(longest)
    return records.SeenState(**parts, left_out=sorted(left_out))


def _length(part: object) -> int:
    return len(json.dumps(part))


def _raised(traceback: str) -> tuple[str, str]:
    """The class and the message of the exception; both empty where the text names none."""
    head = _HEAD.search(traceback)
    named = list(_RAISED.finditer(traceback))
    if head:
        # A message may hold a line that looks like another exception.
        named = [one for one in named if one["name"].endswith(head["name"])]
    if not named:
        return (head["name"] if head else ""), ""
    # The last one: before it stand the exceptions that led to it.
    last = named[-1]
    message = traceback[last.end("name") :].removeprefix(":").strip()
    return last["name"].rpartition(".")[2], message[:MOST_MESSAGE]


def _readable(line: str) -> str:
    """The line as an expression whose names can be found: `for`, `with` and others need a body."""
    for attempt in (line.strip(), f"{line.strip()} pass"):
        try:
            ast.parse(attempt)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return attempt
    return ""
