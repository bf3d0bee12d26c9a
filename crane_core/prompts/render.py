"""From cells and kernel state to the exact text that a detector is shown.

    render(cells, state, setting, template) -> Prompt

Knows the order of the parts; what a setting shows, how a state is written and the words around it are in their own
files. Refuses to know where cells and state come from.
"""

import hashlib
from collections.abc import Sequence

from crane_core.domain import Cell, CellRole, KernelState, Prompt, Setting
from crane_core.errors import PromptError
from crane_core.prompts.captured_block import captured_block
from crane_core.prompts.printed_state import print_block
from crane_core.prompts.published import InputText, join_input
from crane_core.prompts.secrets import redacted
from crane_core.prompts.shown import CAPTURED, shown
from crane_core.prompts.template import Template, template_for

MAX_CELL = 60_000
"""Characters of a cell; of a longer one, such as data pasted into code, beginning and end are shown."""

MAX_BODY = 2_000_000


def render(
    cells: Sequence[Cell],
    state: KernelState | None,
    setting: Setting,
    template: Template | None = None,
) -> Prompt:
    """The prompt of one instance. `cells` are of one origin, the target among them; `state` may be None for `code`.

    Raises PromptError if there is no target cell, where the state does not hold what the setting shows, and where
    the text is longer than MAX_BODY.
    """
    return prompt_around(
        body(cells, state, setting),
        cells[0],
        setting,
        template or template_for(setting),
    )


def prompt_around(
    inside: str, first: Cell, setting: Setting, words: Template
) -> Prompt:
    """The prompt whose body is `inside`; `first` is any of its cells."""
    text = words.around(inside)
    return Prompt(
        benchmark=first.benchmark,
        instance_id=first.instance_id,
        setting=setting,
        origin=f"{first.origin} in {words.name}",
        sha256=hashlib.sha256(text.encode("utf-8")).hexdigest(),
        text=text,
    )


def body(
    cells: Sequence[Cell], state: KernelState | None, setting: Setting
) -> str:
    """Executed cells, runtime information and target: what the published input files hold, in their layout."""
    # By position, which is the order of execution; the order in the file may differ.
    ordered = sorted(cells, key=lambda cell: cell.position)
    executed = [cell for cell in ordered if cell.role is CellRole.EXECUTED]
    targets = [cell for cell in ordered if cell.role is CellRole.TARGET]
    if len(targets) != 1:
        raise PromptError(
            f"There are {len(targets)} target cells but exactly one is expected.",
            remedy="Choose the target: --target N.",
        )
    parts = InputText(
        executed=tuple(_presentable(cell.code) for cell in executed),
        block=_block(executed, state, setting),
        target=_presentable(targets[0].code),
    )
    text = join_input(parts)
    if len(text) > MAX_BODY:
        raise PromptError(
            f"The input has {len(text):,} characters; the limit is {MAX_BODY:,}.",
            remedy="Move data from the code cells into files.",
        )
    return text


def _block(
    executed: Sequence[Cell], state: KernelState | None, setting: Setting
) -> str | None:
    if setting is Setting.CODE:
        return None
    if state is None:
        raise PromptError(
            f"The setting {setting} needs runtime state, but none is available.",
            remedy="Pass the path of the notebook, which is then run up to the target to capture the state.",
        )
    visible = shown(state, setting)
    # Published states keep upstream's form byte for byte, so that a prompt of today equals the one of the
    # study.
    if state.schema_version < CAPTURED:
        return print_block(visible.variables, visible.accesses)
    # The prompt counts executed cells from 1; a state names cells by their index in the notebook.
    numbers = {
        cell.notebook_index: number
        for number, cell in enumerate(executed, start=1)
    }
    return captured_block(
        visible,
        {
            index: number
            for index, number in numbers.items()
            if index is not None
        },
    )


def _presentable(code: str) -> str:
    """The code without secrets, within MAX_CELL; texts that UTF-8 cannot say are escaped."""
    text = redacted(code).encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= MAX_CELL:
        return text
    half = MAX_CELL // 2
    return f"{text[:half]}\n# ... {len(text) - 2 * half:,} characters of this cell are not shown ...\n{text[-half:]}"
