"""The cells before the target, run again in a copy of a fresh kernel: their threads are the copy's own.

Knows when the copy then holds what the notebook's kernel holds: each cell came to the same, and so did the probe's look
at what the target uses. Where it does not, the target gets no outcome.
"""

from __future__ import annotations

import gc
from typing import Any, Callable, Mapping

from .. import bounds
from . import rehearsed
from .refusals import Refusals

Look = Callable[[Any, Any], Any]
COMPARED = ("variables", "accesses", "absent", "unavailable")
"""Members of a state that say what the target will meet."""


def seconds(request: Mapping[str, Any]) -> float:
    """How long the cells may take; none where they are not run again."""
    again = request.get("again")
    return 0.0 if again is None else float(again["seconds"])


def hindered(
    shell: Any, request: Mapping[str, Any], refusals: Refusals, look: Look
) -> str | None:
    """Run the cells that the request asks for. Why they did not lead to the kernel's state, None where they did."""
    again = request.get("again")
    if again is None:
        return None
    # The first time, the cells ran with garbage collection: weak references depend on it.
    gc.enable()
    # Figures are closed by what IPython calls after a cell; for silent requests kernel_requests.py holds it.
    vars(shell.events).pop("trigger", None)
    for cell in again["cells"]:
        why = _differs(shell, cell, refusals)
        if why is not None:
            return why
    state = look(shell.user_ns, again["look"])
    changed = [name for name in COMPARED if state.get(name) != again["state"].get(name)]
    if changed:
        names = _changed_names(state, again["state"]) or ", ".join(changed)
        return f"the cells before it, run again in a second kernel, led to another state: {names}"
    return _refused(refusals)


def _differs(shell: Any, cell: Mapping[str, Any], refusals: Refusals) -> str | None:
    """Why a cell is not what it was, None where it is."""
    if rehearsed.awaits(shell, cell["code"]):
        return _sentence(cell, "awaits, and the event loop does not run in a copy")
    # With history, as In, Out and _ are names that the target may use.
    result = shell.run_cell(cell["code"], store_history=True, silent=False)
    error = result.error_before_exec or result.error_in_exec
    raised = None if error is None else type(error).__name__
    if refusals.reasons:
        return _refused(refusals)
    # A cell that raised before must raise again: notebooks go on after a cell that failed.
    if raised != cell["exception"]:
        return _sentence(
            cell, f"raised {raised or 'nothing'}, not {cell['exception'] or 'nothing'}"
        )
    return None


def _sentence(cell: Mapping[str, Any], what: str) -> str:
    return bounds.text(
        f"code cell {cell['cell']}, run again in a second kernel, {what}",
        rehearsed.MOST_LINE,
    )


def _refused(refusals: Refusals) -> str | None:
    return (
        f"among the cells before it, run again in a copy: {refusals.reasons[0]}"
        if refusals.reasons
        else None
    )


def _changed_names(state: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """Names of variables of which the two states say different things."""
    now, then = state["variables"], expected["variables"]
    return ", ".join(
        name for name in sorted({*now, *then}) if now.get(name) != then.get(name)
    )[:200]
