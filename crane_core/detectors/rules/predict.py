"""The findings on one instance: its target evaluated over what is known of the kernel before it.

Knows the order of the work. The meaning of each step is in interpret*.py and in families/.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from crane_core.detectors.rules import (
    interpret_calls,
    interpret_expressions,
    interpret_guards,
    interpret_loops,
    interpret_statements,
)
from crane_core.detectors.rules.answer import Crash, Finding
from crane_core.detectors.rules.executed_cells import Contradiction
from crane_core.detectors.rules.initial_state import InitialState
from crane_core.detectors.rules.interpreter import (
    ControlFlowExitError,
    GiveUpError,
    Interpreter,
    RuleError,
)
from crane_core.detectors.rules.past import Past, past_of
from crane_core.domain import Cell, CellRole, KernelState, Setting

REGISTERED = (
    interpret_calls,
    interpret_expressions,
    interpret_guards,
    interpret_loops,
    interpret_statements,
)
"""The modules that say how syntax, calls and iterations are evaluated; importing them is what makes it known."""

_LONGEST_EXPRESSION = 200


@dataclass(frozen=True, slots=True)
class Report:
    """What the rules say of an instance. `errors` are rules that failed, and said nothing by that."""

    findings: tuple[Finding, ...] = ()
    errors: tuple[RuleError, ...] = ()
    n_steps: int = 0
    contradictions: tuple[Contradiction, ...] = ()
    """Where what was predicted of the executed cells is not what happened; nothing was concluded from them then."""
    unsure: tuple[str, ...] = ()
    """Why the rules say less than they could, or what they say may not last: plain sentences."""


def findings(
    cells: Sequence[Cell],
    state: KernelState | None,
    setting: Setting = Setting.RUNTIME_PLUS,
) -> Report:
    """The first certain crash of the target, and what went wrong in looking for it."""
    initial = InitialState(cells, None if setting is Setting.CODE else state)
    # An AST transformer of the session runs other code than the cell shows.
    if initial.session.is_transformed:
        return Report(unsure=initial.unsure)
    if initial.target.error:
        return Report(
            _told(_syntax_error(initial), initial), unsure=initial.unsure
        )
    asks = _asks_the_past(initial) and not initial.changed
    past = past_of(initial) if asks else Past({})
    initial.past = past.names
    interpreter = Interpreter(initial)
    predicted: tuple[Finding, ...] = ()
    try:
        interpreter.body(initial.target.tree.body)
    except Crash as crash:
        # An earlier branch may raise another class, as in `if df.a.max() > 2: raise ValueError`.
        if interpreter.possible <= {crash.exception}:
            predicted = _told(_finding(crash, initial, cells), initial)
    # `exit()` ends a cell without an exception.
    except (GiveUpError, ControlFlowExitError):
        pass
    except RecursionError as error:
        interpreter.errors.append(RuleError("walk", "walk", str(error)))
    unsure = (*initial.unsure, *past.unsure, *interpreter.asker.unsure)
    return Report(
        findings=predicted,
        errors=(*past.errors, *interpreter.errors),
        n_steps=past.n_steps + interpreter.n_steps,
        contradictions=past.contradictions,
        unsure=tuple(dict.fromkeys(unsure)),
    )


def _told(found: Finding | None, initial: InitialState) -> tuple[Finding, ...]:
    """The finding, unless the session may handle its exception, as it may a SyntaxError."""
    if found is None or initial.session.handles(found.exception):
        return ()
    return (found,)


def _asks_the_past(initial: InitialState) -> bool:
    """A captured state of the whole setting tells more than its cells do."""
    # It was read from the values themselves, of which the cells alone show a part.
    return (
        not initial.is_captured
        or initial.state is None
        or initial.state.setting is not Setting.RUNTIME_PLUS
    )


_NOT_CALLABLE = " is not callable"


def _replaced_in(
    crash: Crash, initial: InitialState, cells: Sequence[Cell]
) -> str:
    """The executed cell that gave another value to what is called: `plt.title = "Beds"`."""
    called = crash.why.removesuffix(_NOT_CALLABLE)
    if isinstance(crash.place, ast.Call):
        called = ast.unparse(crash.place.func)
    executed = sorted(
        (cell for cell in cells if cell.role is CellRole.EXECUTED),
        key=lambda cell: cell.position,
    )
    run = [*zip(initial.prefix.codes, executed, strict=True)]
    for code, cell in reversed(run):
        targets = [
            target
            for node in ast.walk(code.tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
        ]
        if called in map(ast.unparse, targets):
            number = cell.notebook_index
            place = (
                "an earlier cell" if number is None else f"code cell {number}"
            )
            return f"; {called} was replaced in {place}"
    return ""


def _finding(
    crash: Crash, initial: InitialState, cells: Sequence[Cell]
) -> Finding:
    place = crash.place
    # Where a name no longer stands for what a library gave it, the cell that did so is what to change.
    if crash.exception == "TypeError" and crash.why.endswith(_NOT_CALLABLE):
        crash.fact += _replaced_in(crash, initial, cells)
    line = getattr(place, "lineno", 1)
    expression = ast.unparse(place) if isinstance(place, ast.AST) else ""
    return Finding(
        crash.family or "python",
        crash.exception,
        crash.why,
        crash.fact,
        crash.remedy,
        line,
        getattr(place, "col_offset", 0),
        expression
        if len(expression) <= _LONGEST_EXPRESSION
        else expression[: _LONGEST_EXPRESSION - 1] + "\u2026",
    )


def _syntax_error(initial: InitialState) -> Finding | None:
    """A target that is not Python to any version of it, and has no magics or shell lines; the kernel's own word counts.

    A capture states what the kernel's Python makes of the target.
    """
    known = (
        initial.state.syntax_error
        if initial.is_captured and initial.state is not None
        else None
    )
    # An older or newer Python than ours reads other syntax, so the kernel's own word decides.
    if not initial.target.is_no_python or initial.is_captured and known is None:
        return None
    line = initial.target.line
    lines = initial.target_text.split("\n")
    return Finding(
        "syntax",
        initial.target.exception,
        f"the cell is not valid Python: {initial.target.error}",
        f"line {line} cannot be parsed",
        "Correct the line.",
        line or 1,
        0,
        lines[line - 1].strip()[:_LONGEST_EXPRESSION]
        if 0 < line <= len(lines)
        else "",
    )
