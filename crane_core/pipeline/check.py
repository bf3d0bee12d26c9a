"""Will this cell crash? One notebook: its cells, its kernel before the target, what the rules and a model say.

Knows the order of the steps and what each may be asked without the next. Nothing is run unless `run_up` is called, and
nothing is sent unless `ask` is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crane_core.detectors.prediction import Prediction
from crane_core.detectors.registry import local_detector
from crane_core.domain import Cell, CellRole, KernelState, Prompt, Setting
from crane_core.errors import NotebookError
from crane_core.importers.captured_states import ORIGIN as CAPTURE
from crane_core.importers.captured_states import SCHEMA_VERSION
from crane_core.importers.pairs import ORIGIN as NOTEBOOK
from crane_core.prompts.render import render
from crane_core.prompts.template import Template, template_for
from crane_core.prompts.tokens import Tokens, count_tokens
from crane_core.runtime.capture import capture
from crane_core.runtime.plan import Plan, read_plan

ALLOWED = "CRANE_ALLOW_EXECUTION"
"""Environment variable by which whoever starts the app allows visitors to run notebooks."""

YES = ("1", "true", "yes", "on")
NO = ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Checked:
    """A notebook before its target. `cells` are the executed ones and the target, in order.

    `state` is None while nothing has been run; `seconds_before` is the wall time that the cells before the target
    took, None then too: what a crash that leaves the kernel unusable would cost again (paper, section 6.4).
    """

    path: Path
    plan: Plan
    cells: tuple[Cell, ...]
    state: KernelState | None = None
    seconds_before: float | None = None

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What can be shown: everything once there is a state, the code alone before."""
        return tuple(Setting) if self.state else (Setting.CODE,)


def read_notebook(path: Path, target: int | None = None) -> Checked:
    """The cells of a notebook file; nothing is run. Raises NotebookError."""
    plan = read_plan(path, target)
    with_roles = [*((cell, CellRole.EXECUTED) for cell in plan.executed), (plan.target, CellRole.TARGET)]
    cells = tuple(
        Cell("", path.stem, NOTEBOOK, position, role, cell.source, cell.execution_count, cell.index)
        for position, (cell, role) in enumerate(with_roles)
    )
    return Checked(path, plan, cells)


def run_up(checked: Checked, **options: Any) -> Checked:
    """The same with the state before the target: the cells are run (`options` as in runtime.capture).

    Raises NotebookError or KernelError.
    """
    captured = capture(checked.path, target=checked.plan.target.index, **options)
    return replace(
        checked,
        state=_state(captured.to_json(), checked.name),
        seconds_before=sum(cell.seconds for cell in captured.cells),
    )


def with_state(checked: Checked, document: Mapping[str, Any]) -> Checked:
    """The same with a state that `capture` wrote elsewhere. Raises NotebookError where it is of another target."""
    remedy = "Capture it anew: `python -m crane_core capture NOTEBOOK --out state.json`."
    ran = _ran(document)
    if document.get("schema_version") != SCHEMA_VERSION or ran is None:
        raise NotebookError("The file is no state that `capture` wrote.", remedy=remedy)
    executed = [cell.index for cell in checked.plan.executed]
    if document.get("target") != checked.plan.target.index or [cell.get("cell") for cell in ran] != executed:
        raise NotebookError("The state was captured before another target, or of another notebook.", remedy=remedy)
    seconds = [cell["seconds"] for cell in ran if isinstance(cell.get("seconds"), int | float)]
    return replace(
        checked,
        state=_state(document, checked.name),
        seconds_before=sum(seconds) if len(seconds) == len(ran) and ran else None,
    )


def _ran(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The cells that ran before the capture; None where the document has not the form of a captured state."""
    captured, variables = document.get("captured"), document.get("variables")
    if not isinstance(captured, dict) or not isinstance(variables, dict):
        return None
    ran = captured.get("cells", [])
    entries = [*ran, *variables.values()] if isinstance(ran, list) else [ran]
    return ran if all(isinstance(entry, dict) for entry in entries) and isinstance(ran, list) else None


def _state(document: Mapping[str, Any], name: str) -> KernelState:
    return KernelState.from_json(
        dict(document), benchmark="", instance_id=name, setting=Setting.RUNTIME_PLUS, origin=CAPTURE
    )


def verdict(checked: Checked, detector: str = "rules") -> Prediction:
    """What a detector on this machine says: from the code alone where there is no state. Raises DetectorError."""
    setting = Setting.RUNTIME_PLUS if checked.state else Setting.CODE
    return local_detector(detector).predict(checked.cells, checked.state, setting)


@dataclass(frozen=True, slots=True)
class ToSend:
    """The exact text that a model would be shown, and how long it is."""

    prompt: Prompt
    template: str
    tokens: Tokens


def to_send(checked: Checked, setting: Setting, template: Template | None = None) -> ToSend:
    """Raises PromptError where the setting shows more than is known."""
    words = template or template_for(setting)
    prompt = render(checked.cells, checked.state, setting, words)
    return ToSend(prompt, words.name, count_tokens(prompt.text))


def execution_allowed(environment: Mapping[str, str]) -> bool:
    """Whether visitors of the app may run notebooks on the machine that serves it: not unless somebody said so."""
    return environment.get(ALLOWED, "").strip().lower() in YES


def execution_forbidden(environment: Mapping[str, str]) -> bool:
    """Whether commands that name a notebook must not run it either: only when somebody said so."""
    return environment.get(ALLOWED, "").strip().lower() in NO
