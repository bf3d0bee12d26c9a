"""The prompt of a notebook that belongs to no benchmark: its cells are run up to its target.

Refuses to know the database: a notebook's environment needs neither it nor what reads it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crane_core.domain import Cell, CellRole, KernelState, Prompt, Setting
from crane_core.importers.captured_states import ORIGIN as CAPTURE
from crane_core.notebooks import ORIGIN as NOTEBOOK
from crane_core.prompts.render import body, prompt_around
from crane_core.prompts.template import Template, template_for
from crane_core.prompts.tokens import Tokens, count_tokens
from crane_core.runtime.capture import capture
from crane_core.runtime.plan import NotebookPlan, read_plan


class WrittenPrompt(NamedTuple):
    """A prompt with its parts: the input without the template's text, and the template's name."""

    prompt: Prompt
    body: str
    template: str

    @property
    def tokens(self) -> Tokens:
        """Counted in this process at each use; a server counts apart (`prompts.tokens_apart`)."""
        return count_tokens(self.prompt.text)


def prompt_of_notebook(
    notebook: Path,
    setting: Setting,
    template: Template | None = None,
    *,
    target: int | None = None,
    **options: Any,
) -> WrittenPrompt:
    """The prompt of a notebook file; for every setting but `code` its cells are run (`options` as in runtime.capture).

    Raises NotebookError, KernelError or PromptError.
    """
    plan = read_plan(notebook, target)
    cells = planned_cells(plan, notebook.stem)
    if setting is Setting.CODE:
        return written(cells, None, setting, template)
    captured = capture(notebook, target=plan.target.index, **options)
    return written(
        cells,
        captured_state(captured.to_json(), notebook.stem),
        setting,
        template,
    )


def planned_cells(plan: NotebookPlan, name: str) -> list[Cell]:
    """The cells of a notebook outside of benchmarks: those that run before the target, then the target."""
    with_roles = [
        *((cell, CellRole.EXECUTED) for cell in plan.executed),
        (plan.target, CellRole.TARGET),
    ]
    return [
        Cell(
            benchmark="",
            instance_id=name,
            origin=NOTEBOOK,
            position=position,
            role=role,
            code=cell.source,
            execution_count=cell.execution_count,
            notebook_index=cell.index,
        )
        for position, (cell, role) in enumerate(with_roles)
    ]


def captured_state(document: Mapping[str, Any], name: str) -> KernelState:
    """The state that a capture of such a notebook wrote."""
    return KernelState.from_json(
        dict(document),
        benchmark="",
        instance_id=name,
        setting=Setting.RUNTIME_PLUS,
        origin=CAPTURE,
    )


def written(
    cells: Sequence[Cell],
    state: KernelState | None,
    setting: Setting,
    template: Template | None = None,
) -> WrittenPrompt:
    """The prompt of cells and state, by the workbench's protocol unless a template is given. Raises PromptError."""
    words = template or template_for(setting)
    inside = body(cells, state, setting)
    prompt = prompt_around(inside, cells[0], setting, words)
    return WrittenPrompt(prompt, inside, words.name)
