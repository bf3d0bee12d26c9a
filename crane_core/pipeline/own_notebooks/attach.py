"""Will the next cell of an open notebook crash? Its kernel runs already, and is looked at instead of run up.

Knows which cell is next. Runs no cell, except in a copy of the kernel on request.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crane_core.errors import NotebookError
from crane_core.given_path import read_given
from crane_core.notebooks import CodeCell
from crane_core.pipeline.own_notebooks import fixing, prompt_of_notebook
from crane_core.pipeline.own_notebooks.check import CheckedNotebook
from crane_core.pipeline.own_notebooks.value_origins import not_run
from crane_core.repair.search import RepairOutcome
from crane_core.runtime.attached import (
    Attached,
    AttachedProbeResult,
    LiveKernel,
)
from crane_core.runtime.live_history import Ran
from crane_core.runtime.plan import NotebookPlan, read_plan
from crane_core.runtime.rehearsal import Rehearsal
from crane_core.runtime.remote.address import ServerAddress, read_address


def attached(
    kernel: LiveKernel,
    notebook: Path | None = None,
    target: int | None = None,
    *,
    rehearse_s: float | None = None,
    is_fixed: bool = False,
) -> CheckedNotebook:
    """The notebook as its kernel holds it now, before code cell `target` of the saved file.

    `notebook` is needed where Jupyter does not say which file the kernel belongs to. Without `target` it is the cell
    after the last one that ran. With `rehearse_s` the target runs in a copy of the kernel, so many seconds at most;
    with `is_fixed` fixes of it too, one after the other.
    Raises NotebookError or KernelError.
    """
    path = notebook or kernel.notebook
    if path is None:
        raise NotebookError(
            f"Jupyter does not say which notebook the kernel {kernel.name} belongs to.",
            remedy="Name the notebook's file too: check NOTEBOOK --attach ID.",
        )
    with Attached(kernel) as live:
        ran = live.ran()
        plan = read_plan(path, target)
        # Read twice, because which cell is next depends on what the kernel ran.
        if target is None:
            plan = read_plan(path, next_cell(plan.cells, ran))
        result = live.look(ran, plan.target.source)
        rehearsal = (
            None
            if rehearse_s is None
            else live.rehearse(plan.target.source, rehearse_s)
        )
        repair = (
            _repair(live, plan, result, rehearsal, rehearse_s)
            if is_fixed and rehearse_s is not None
            else None
        )
    others = not_run(
        plan.cells, [cell.source for cell in ran], plan.target.source
    )
    seen = _as_seen(plan.name, ran, plan.target)
    return replace(
        _checked(path, seen, result, rehearsal, repair), not_run=others
    )


def _repair(
    live: Attached,
    plan: NotebookPlan,
    result: AttachedProbeResult,
    crash: Rehearsal | None,
    seconds: float,
) -> RepairOutcome:
    def rehearse(source: str, names: Sequence[str]) -> Rehearsal:
        return live.rehearse(source, seconds, names)

    finder = fixing.FixFinder(
        plan.target.source,
        fixing.cells_of_history(plan.cells, result.ran, plan.target),
        plan.target.index,
    )
    finder(result.state, crash, rehearse)
    return finder.outcome


def before_cell(
    kernel: LiveKernel, source: str, *, fix_s: float | None = None
) -> CheckedNotebook:
    """The kernel as it is now, before a cell that no file holds yet. Raises KernelError.

    With `fix_s` the cell runs in a copy of the kernel, so many seconds at most, and fixes of it too.
    """
    rehearsal = repair = None
    with Attached(kernel) as live:
        ran = live.ran()
        target = CodeCell(len(ran), source, None, None)
        seen = _as_seen(kernel.name, ran, target)
        result = live.look(ran, source)
        if fix_s is not None:
            rehearsal = live.rehearse(source, fix_s)
            repair = _repair(live, seen, result, rehearsal, fix_s)
    return _checked(Path(kernel.name), seen, result, rehearsal, repair)


def _checked(
    path: Path,
    seen: NotebookPlan,
    result: AttachedProbeResult,
    rehearsal: Rehearsal | None,
    repair: RepairOutcome | None,
) -> CheckedNotebook:
    return CheckedNotebook(
        path,
        seen,
        tuple(prompt_of_notebook.planned_cells(seen, path.stem)),
        prompt_of_notebook.captured_state(result.state, path.stem),
        is_attached=True,
        rehearsal=rehearsal,
        repair=repair,
    )


def _as_seen(name: str, ran: Sequence[Ran], target: CodeCell) -> NotebookPlan:
    """What the kernel ran, not what a file says: cells may have been edited or deleted since."""
    executed = [
        CodeCell(place, cell.source, cell.number, None)
        for place, cell in enumerate(ran)
    ]
    return NotebookPlan(name, [*executed, target], executed, target)


def next_cell(cells: Sequence[CodeCell], ran: Sequence[Ran]) -> int:
    """The cell after the last one that ran, as far as it is in the file; the last cell where none is left."""
    places = {cell.source.strip(): cell.index for cell in cells}
    last = next(
        (
            places[one.source.strip()]
            for one in reversed(ran)
            if one.source.strip() in places
        ),
        -1,
    )
    # Cells in another language never run in this kernel.
    following = [cell for cell in cells[last + 1 :] if cell.language is None]
    return following[0].index if following else len(cells) - 1


_MOST_SECRET = 10_000
"""Bytes of a file with a token."""


@dataclass(frozen=True)
class ServerAccess:
    """How a server is reached: a file with its token or password, authorities beside the known ones, or any at all.

    `ask` gets the secret of the server with an address from the person at the terminal, None without a terminal.
    `tell` says what the person should know meanwhile.
    """

    tell: Callable[[str], None]
    ask: Callable[[str], str] | None = None
    token_file: Path | None = None
    ca_file: Path | None = None
    is_insecure: bool = False


def attached_elsewhere(
    pasted: str,
    access: ServerAccess,
    notebook: Path | None = None,
    target: int | None = None,
    **options: Any,
) -> CheckedNotebook:
    """As `attached` (which has the `options`), of a kernel that a pasted address names.

    Without `notebook` the saved one is read from the server. Raises NotebookError or KernelError;
    ModuleNotFoundError without the extra `remote`.
    """
    # Late, as its libraries belong to an extra; this one first, because `models` has the other one too.
    import websockets  # noqa: F401

    from crane_core.runtime.remote.kernels import chosen_kernel
    from crane_core.runtime.remote.server import JupyterServer, tls

    address = read_address(pasted)
    secret = _secret(address, access.token_file, os.environ)
    if not address.is_encrypted and not address.is_this_machine:
        access.tell(
            f"{address.base} is not encrypted: others on the way can read the token and the state"
        )
    encryption = (
        tls(access.ca_file, is_any_accepted=access.is_insecure)
        if address.is_encrypted
        else None
    )
    with (
        JupyterServer(address, secret, encryption) as server,
        TemporaryDirectory() as folder,
    ):
        server.log_in(access.ask)
        kernel = chosen_kernel(server)
        # A busy kernel is not connected to.
        if kernel.connections == 0 and kernel.state != "busy":
            access.tell(
                "No front end is connected to this kernel: output that the server keeps for one that left is dropped"
            )
        file = notebook or kernel.write_notebook(Path(folder))
        checked = attached(kernel, file, target, **options)
    if notebook is not None or kernel.path is None:
        return checked
    return replace(checked, path=Path(kernel.path))


def _secret(
    address: ServerAddress, file: Path | None, environ: Mapping[str, str]
) -> str:
    """The token or password, empty where none is set. Raises NotebookError if the file cannot be read."""
    from crane_core.runtime.remote.server import TOKEN

    if address.token:
        return address.token
    if file is None:
        return environ.get(TOKEN, "").strip()
    try:
        return read_given(file, _MOST_SECRET).decode("utf-8").strip()
    # Without the reason, which may quote the file.
    except (OSError, ValueError):
        raise NotebookError(
            f"{file.name} cannot be read as a file with a token.",
            remedy="Name a text file that holds the token alone.",
        ) from None
