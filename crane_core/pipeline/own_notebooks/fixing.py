"""A fix for the target of a notebook: looked for, and tried in copies, while its kernel is there.

Knows how a plan's cells and a state become what remedies see. Refuses to know how a fix is found.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from crane_core.notebooks import CodeCell
from crane_core.pipeline.own_notebooks.check import CheckedNotebook, run_up
from crane_core.pipeline.own_notebooks.prompt_of_notebook import captured_state
from crane_core.pipeline.own_notebooks.value_origins import not_run
from crane_core.repair.crash_site import CrashSite, KnownCell
from crane_core.repair.fix import Fix, Proposals
from crane_core.repair.proposals import checked as allowed
from crane_core.repair.proposals import proposals
from crane_core.repair.search import RepairOutcome, repaired
from crane_core.runtime.live_history import Ran
from crane_core.runtime.rehearsal import Rehearsal, Rehearse

AskForFixes = Callable[[CrashSite], Proposals]
"""What a model proposes for a crash; replies without a cell are among the refused."""


@dataclass
class FixFinder:
    """What is done in a kernel before the target (`Visit` of runtime.rehearsal), which sets `outcome`.

    `cells` are those that ran, in their order, then the others of the notebook; `index` is the target's place in the
    file. A model proposes fixes where none of the rules ran through, or alone if `asks_rules` is False.
    """

    source: str
    cells: Sequence[KnownCell]
    index: int | None
    ask_model: AskForFixes | None = None
    asks_rules: bool = True
    outcome: RepairOutcome = field(default_factory=RepairOutcome)

    def __call__(
        self, state: dict[str, Any], crash: Rehearsal | None, rehearse: Rehearse
    ) -> None:
        known = captured_state(state, "notebook")

        def site(source: str, last: Rehearsal) -> CrashSite:
            return CrashSite(source, last, known, tuple(self.cells), self.index)

        def by_rules(source: str, last: Rehearsal) -> Proposals:
            if not self.asks_rules:
                return Proposals(())
            return proposals(site(source, last))

        def attempt(fix: Fix) -> Rehearsal:
            return rehearse(fix.code, fix.names)

        self.outcome = repaired(self.source, crash, by_rules, attempt)
        if self.ask_model is None or self.outcome.shown or crash is None:
            return
        if self.outcome.why_none:
            return
        here = site(self.source, crash)
        asked = allowed(here, self.ask_model(here))

        def by_model(source: str, _last: Rehearsal) -> Proposals:
            return asked if source == self.source else Proposals(())

        found = repaired(self.source, crash, by_model, attempt)
        self.outcome = self.outcome.with_more(found)


def known_cells(
    executed: Sequence[CodeCell], others: Sequence[CodeCell]
) -> tuple[KnownCell, ...]:
    """The cells of a notebook file, which names them by their place."""
    told = [
        *((cell, True) for cell in executed),
        *((cell, False) for cell in others),
    ]
    return tuple(
        KnownCell(f"code cell {cell.index}", cell.source, cell.index, has_run)
        for cell, has_run in told
    )


def cells_of_history(
    cells: Sequence[CodeCell], ran: Sequence[Ran], target: CodeCell
) -> tuple[KnownCell, ...]:
    """What a kernel ran, each with the place of the file's cell that has its text; then the file's other cells."""
    places = {cell.source.strip(): cell.index for cell in cells}
    inputs = [
        KnownCell(
            f"In [{one.number}]",
            one.source,
            places.get(one.source.strip()),
            has_run=True,
        )
        for one in ran
    ]
    others = not_run(cells, [one.source for one in ran], target.source)
    return (*inputs, *known_cells((), others))


def run_up_and_fix(
    checked: CheckedNotebook,
    ask_model: AskForFixes | None = None,
    *,
    asks_rules: bool = True,
    **options: Any,
) -> CheckedNotebook:
    """The same with the state before the target, and with fixes; `options` as in runtime.capture, with `rehearse_s`.

    Raises NotebookError or KernelError, and DetectorError of the model.
    """
    plan = checked.plan
    taken = {cell.index for cell in (*plan.executed, plan.target)}
    others = [cell for cell in plan.cells if cell.index not in taken]
    finder = FixFinder(
        plan.target.source,
        known_cells(plan.executed, others),
        plan.target.index,
        ask_model,
        asks_rules,
    )
    found = run_up(checked, visit=finder, **options)
    return replace(found, repair=finder.outcome)
