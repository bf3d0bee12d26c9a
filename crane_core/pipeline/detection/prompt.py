"""The prompt of a stored instance.

Knows which cells and which state belong together. The contents of a setting and their format are in prompts/.
"""

from collections.abc import Sequence
from typing import NamedTuple

from crane_core.domain import Cell, CellRole, KernelState, Setting
from crane_core.errors import PromptError
from crane_core.importers.captured_states import ORIGIN as CAPTURE
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.notebooks import ORIGIN as NOTEBOOK
from crane_core.pipeline.loading.editions import rank
from crane_core.pipeline.own_notebooks import prompt_of_notebook
from crane_core.prompts.shown import CAPTURED, can_show
from crane_core.prompts.template import Template
from crane_core.storage import inputs
from crane_core.storage.store import Store

PUBLISHED_FIRST = ("crane-llm-2025-10", "crane-llm-2026", NOTEBOOK)
"""Where several releases brought an instance: the text that the study's models were shown comes first."""

_CELLS_OF_STATE = {CAPTURE: NOTEBOOK}
"""Cells and state of two origins belong to two editions of a notebook, but for a state captured from the notebook."""


class Input(NamedTuple):
    """Cells of one origin, the target among them, and the state before the target; None for the setting `code`."""

    cells: list[Cell]
    state: KernelState | None


def prompt_of_instance(
    store: Store,
    instance_id: str,
    setting: Setting,
    template: Template | None = None,
    benchmark: str | None = None,
) -> prompt_of_notebook.WrittenPrompt:
    """The prompt of a stored instance. Without a benchmark it is JunoBench's, if its cells are available.

    Raises PromptError if there is no such instance, or no cells or state of it that the setting can show.
    """
    cells, state = input_of_instance(store, instance_id, setting, benchmark)
    return prompt_of_notebook.written(cells, state, setting, template)


def input_of_instance(
    store: Store,
    instance_id: str,
    setting: Setting,
    benchmark: str | None = None,
) -> Input:
    """What a detector may be shown of a stored instance; the state as it is stored, with more than the setting shows.

    Raises PromptError as `prompt_of_instance`.
    """
    cursor = store.cursor()
    named = benchmark or _benchmark(
        inputs.benchmarks_of(cursor, instance_id), instance_id
    )
    cells = inputs.instance_cells(cursor, named, instance_id)
    of_origin = {
        origin: [cell for cell in cells if cell.origin == origin]
        for origin in _origins(cells)
    }
    if not of_origin:
        raise _without_cells(named, instance_id)
    if setting is Setting.CODE:
        return Input(next(iter(of_origin.values())), None)
    # The state decides whose cells are shown: those of another edition may have run in another order.
    state = _best_state(
        inputs.instance_states(cursor, named, instance_id), setting, of_origin
    )
    chosen = of_origin[_cells_origin(state)]
    _refuse_other_target(chosen, state)
    return Input(chosen, state)


def _benchmark(found: dict[str, bool], instance_id: str) -> str:
    with_cells = [
        benchmark for benchmark, has_cells in found.items() if has_cells
    ]
    if not found:
        raise PromptError(
            f"There is no instance {instance_id}.",
            remedy="Use an id with its version, such as pandas_1_reproduced, or the path of a notebook.",
        )
    if JUNOBENCH.benchmark in with_cells or not with_cells:
        return (
            JUNOBENCH.benchmark
            if JUNOBENCH.benchmark in found
            else next(iter(found))
        )
    if len(with_cells) > 1:
        raise PromptError(
            f"{instance_id} is an instance of {' and of '.join(with_cells)}.",
            remedy="Choose one of them: --benchmark B.",
        )
    return with_cells[0]


def _without_cells(benchmark: str, instance_id: str) -> PromptError:
    if benchmark == JUNOBENCH.benchmark:
        remedy = "Load the published texts: `python -m crane_core fetch crane-llm`, or `import` the archive."
    else:
        remedy = "Import its notebooks, or choose the benchmark that has them: --benchmark B."
    return PromptError(
        f"The cells of {instance_id} of {benchmark} are not loaded.",
        remedy=remedy,
    )


def _origins(cells: Sequence[Cell]) -> list[str]:
    """The origins that brought a target cell, the best one first."""
    origins = {cell.origin for cell in cells if cell.role is CellRole.TARGET}
    return sorted(origins, key=_rank)


def _rank(origin: str) -> tuple[bool, int, str]:
    return rank(origin, PUBLISHED_FIRST)


def _best_state(
    states: Sequence[KernelState],
    setting: Setting,
    cells: dict[str, list[Cell]],
) -> KernelState:
    """A state that was published under this very setting, else one that holds what it shows."""
    fitting = [
        state
        for state in states
        if can_show(state, setting) and _cells_origin(state) in cells
    ]
    if not fitting:
        of = next(iter(cells.values()))[0]
        raise PromptError(
            f"No stored kernel state of {of.instance_id} of {of.benchmark} has the facts for {setting}.",
            remedy="Pass the path of its notebook, which is then run up to the target; or import a `capture` file.",
        )
    return min(
        fitting,
        key=lambda state: (
            state.setting is not setting,
            _rank(_cells_origin(state)),
        ),
    )


def _cells_origin(state: KernelState) -> str:
    return _CELLS_OF_STATE.get(state.origin, state.origin)


def _refuse_other_target(cells: Sequence[Cell], state: KernelState) -> None:
    """A state says which cells had run when it was captured: it must not be shown beside others."""
    if state.schema_version < CAPTURED or "cells" not in state.captured:
        return
    ran = [cell["cell"] for cell in state.captured["cells"]]
    executed = [
        cell.notebook_index for cell in cells if cell.role is CellRole.EXECUTED
    ]
    if ran != executed:
        raise PromptError(
            f"The state of {state.instance_id} was captured for a different target cell than the stored one.",
            remedy="Capture it again without --target, and import it.",
        )
