"""Will this cell crash? One notebook: its cells, its kernel before the target, what the rules and a model say.

Knows the order of the steps and what is available after each. Nothing is run unless `run_up` is called, and
nothing is sent unless `ask` is.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crane_core.detectors.registry import Prediction, local_detector
from crane_core.domain import Cell, JsonObject, KernelState, Setting
from crane_core.errors import KernelError, NotebookError
from crane_core.importers.captured_states import SCHEMA_VERSION
from crane_core.notebooks import CodeCell
from crane_core.pipeline.own_notebooks import prompt_of_notebook
from crane_core.prompts.template import Template
from crane_core.repair.search import RepairOutcome
from crane_core.runtime.capture import capture
from crane_core.runtime.plan import NotebookPlan, read_plan
from crane_core.runtime.rehearsal import Rehearsal

ALLOWED = "CRANE_ALLOW_EXECUTION"
"""Environment variable with which the operator of the app allows visitors to run notebooks."""

YES = ("1", "true", "yes", "on")
NO = ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class CheckedNotebook:
    """A notebook before its target. `cells` are the executed ones and the target, in order.

    `state` is None while nothing has been run; `seconds_before` is the wall time that the cells before the target
    took, None then too: what a crash that leaves the kernel unusable would cost again (paper, section 6.4).
    `is_attached`: the kernel ran already, and goes on. `rehearsal` is None unless the target was run in a copy.
    `not_run` are cells of the saved file that such a kernel has not run. `repair` is None unless fixes were looked for.
    `file_digest` is of the file's bytes before it was read; empty unless the file is to be written.
    """

    path: Path
    plan: NotebookPlan
    cells: tuple[Cell, ...]
    state: KernelState | None = None
    seconds_before: float | None = None
    is_attached: bool = False
    rehearsal: Rehearsal | None = None
    not_run: tuple[CodeCell, ...] = ()
    repair: RepairOutcome | None = None
    file_digest: str = ""

    @property
    def name(self) -> str:
        """The notebook's file name without its suffix."""
        return self.path.stem

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What can be shown: everything once there is a state, the code alone before."""
        return tuple(Setting) if self.state else (Setting.CODE,)


def read_notebook(path: Path, target: int | None = None) -> CheckedNotebook:
    """The cells of a notebook file; nothing is run. Raises NotebookError."""
    plan = read_plan(path, target)
    return CheckedNotebook(
        path, plan, tuple(prompt_of_notebook.planned_cells(plan, path.stem))
    )


def run_up(checked: CheckedNotebook, **options: Any) -> CheckedNotebook:
    """The same with the state before the target: the cells are run (`options` as in runtime.capture).

    Raises NotebookError or KernelError.
    """
    captured = capture(
        checked.path, target=checked.plan.target.index, **options
    )
    return replace(
        checked,
        state=prompt_of_notebook.captured_state(
            captured.to_json(), checked.name
        ),
        seconds_before=sum(cell.seconds for cell in captured.cells),
        rehearsal=captured.result.rehearsal,
    )


def with_state(
    checked: CheckedNotebook, document: Mapping[str, Any]
) -> CheckedNotebook:
    """The same with a state that `capture` wrote elsewhere. Raises NotebookError if it is of another target."""
    remedy = "Capture it again: `python -m crane_core capture NOTEBOOK --out state.json`."
    ran = _ran(document)
    if document.get("schema_version") != SCHEMA_VERSION or ran is None:
        raise NotebookError(
            "The file is not a state that `capture` wrote.", remedy=remedy
        )
    executed = [cell.index for cell in checked.plan.executed]
    # A state is facts about one moment: of another cell they would be wrong.
    if (
        document.get("target") != checked.plan.target.index
        or [cell.get("cell") for cell in ran] != executed
    ):
        raise NotebookError(
            "The state belongs to another target or another notebook.",
            remedy=remedy,
        )
    seconds = [
        cell["seconds"]
        for cell in ran
        if isinstance(cell.get("seconds"), int | float)
    ]
    return replace(
        checked,
        state=prompt_of_notebook.captured_state(document, checked.name),
        seconds_before=sum(seconds)
        if len(seconds) == len(ran) and ran
        else None,
    )


def _ran(document: Mapping[str, Any]) -> list[JsonObject] | None:
    """The cells that ran before the capture; None if the document has not the form of a captured state."""
    captured, variables = document.get("captured"), document.get("variables")
    if not isinstance(captured, dict) or not isinstance(variables, dict):
        return None
    ran = captured.get("cells", [])
    # The file comes from a visitor, so its form is checked before it is read.
    entries = [*ran, *variables.values()] if isinstance(ran, list) else [ran]
    return (
        ran
        if all(isinstance(entry, dict) for entry in entries)
        and isinstance(ran, list)
        else None
    )


def verdict(checked: CheckedNotebook, detector: str = "rules") -> Prediction:
    """What a detector on this machine says: from the code alone if there is no state. Raises DetectorError."""
    setting = Setting.RUNTIME_PLUS if checked.state else Setting.CODE
    return local_detector(detector).predict(
        checked.cells, checked.state, setting
    )


def findings(said: Prediction) -> list[JsonObject]:
    """The rules' certain findings: one object per finding, the first crash first."""
    kept: list[JsonObject] = json.loads(said.diagnostics or "[]")
    return [entry for entry in kept if "exception" in entry]


def unsure(said: Prediction) -> list[str]:
    """Why the rules say less than they could: sentences, none where nothing held them back."""
    kept: list[JsonObject] = json.loads(said.diagnostics or "[]")
    return [entry["unsure"] for entry in kept if "unsure" in entry]


def to_send(
    checked: CheckedNotebook, setting: Setting, template: Template | None = None
) -> prompt_of_notebook.WrittenPrompt:
    """The exact text that a model would be shown. Raises PromptError if the setting shows more than is known."""
    return prompt_of_notebook.written(
        checked.cells, checked.state, setting, template
    )


def is_on(environment: Mapping[str, str], variable: str) -> bool:
    """Whether the variable is set to yes; any value other than yes or no counts as not set."""
    return environment.get(variable, "").strip().lower() in YES


def execution_allowed(environment: Mapping[str, str]) -> bool:
    """Whether visitors of the app may run notebooks on the machine that serves it; by default they may not."""
    return is_on(environment, ALLOWED)


def execution_forbidden(environment: Mapping[str, str]) -> bool:
    """Whether commands that name a notebook must not run it either; by default they may."""
    return environment.get(ALLOWED, "").strip().lower() in NO


def refuse_if_forbidden(environment: Mapping[str, str], *, remedy: str) -> None:
    """Raise KernelError if the environment says that no notebook may run."""
    if execution_forbidden(environment):
        raise KernelError(
            f"{ALLOWED} forbids running notebooks.", remedy=remedy
        )
