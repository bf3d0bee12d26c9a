"""Follow one verdict of the rules and print what each file makes of it: docs/how/verdict.md explains the output.

Usage: python -m tools.trace_verdict [CASE]

CASE is a case of minibench (default numpy_1). Its crashing notebook is read with the kernel state that ships with it,
so no kernel starts. The interpreter is the program's; a subclass prints each step that it evaluates.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.family import Rule, rules_for
from crane_core.detectors.rules.initial_state import InitialState
from crane_core.detectors.rules.interpreter import (
    ControlFlowExitError,
    GiveUpError,
    Interpreter,
)
from crane_core.detectors.rules.operation import Arguments
from crane_core.detectors.rules.predict import findings
from crane_core.detectors.rules_detector import predict
from crane_core.domain import Cell, KernelState, Setting
from crane_core.pipeline.own_notebooks.check import (
    CheckedNotebook,
    read_notebook,
    unsure,
    with_state,
)

MINIBENCH = Path(__file__).resolve().parents[1] / "data" / "minibench"
SHOWN_FACTS = ("shape", "dtype", "columns", "length")


def file_of(rule: Rule) -> str:
    return rule.__module__.rpartition(".")[2]


def described(value: AbstractValue | None) -> str:
    """An abstract value in one line: its type, and the facts that a reader needs."""
    if value is None:
        return "not known"
    facts = [
        f"{name}={value.fact(name)}"
        for name in SHOWN_FACTS
        if value.fact(name) is not None
    ]
    what = value.path or value.type or "unknown"
    return " ".join([what, *facts])


class TracedInterpreter(Interpreter):
    """Prints each step: which rules it has, and what they say."""

    def ask(
        self,
        step: str,
        of: AbstractValue | str,
        name: str,
        node: Any,
        *,
        receiver: AbstractValue | None = None,
        arguments: Arguments = Arguments(),  # noqa: B008 - a frozen record
        absent: Mapping[str, Any] | None = None,
    ) -> AbstractValue | None:
        rules = [
            f"{file_of(each.rule)}.{each.rule.__name__}"
            for each in rules_for(step, of, name)
        ]
        asked_of = of if isinstance(of, str) else described(of)
        given = [described(value) for value in arguments.positional]
        print(
            f"  step {step!r} {name!r} of {asked_of}"
            + (f" with {', '.join(given)}" if given else "")
        )
        print(f"    rules: {', '.join(rules) or 'none'}")
        try:
            answer = super().ask(
                step,
                of,
                name,
                node,
                receiver=receiver,
                arguments=arguments,
                absent=absent,
            )
        except Crash as crash:
            print(f"    raises {crash.exception}: {crash.why}")
            raise
        print(f"    gives {described(answer)}")
        return answer


def heading(number: int, words: str) -> None:
    print(f"\n{number}. {words}")


def read(case: str) -> CheckedNotebook:
    """Steps 1 and 2: the notebook's cells, and the kernel's state before the target."""
    instance = f"{case}_reproduced"
    heading(
        1,
        "crane_core/runtime/plan.py, read_plan: which cells run before which target",
    )
    checked = read_notebook(
        MINIBENCH / "benchmark" / case / f"{instance}.ipynb"
    )
    for cell in checked.plan.executed:
        print(f"  cell {cell.index} runs: {cell.source.splitlines()[0]}")
    for line in checked.plan.target.source.splitlines():
        print(f"  target, cell {checked.plan.target.index}: {line}")

    heading(
        2,
        "crane_core/runtime/capture.py, capture: what the kernel holds then (as it ships with minibench)",
    )
    document = json.loads(
        (MINIBENCH / "states" / f"{instance}.json").read_text("utf-8")
    )
    print(f"  versions: {document['captured']['packages']}")
    for name, entry in document["variables"].items():
        print(
            f"  {name}: {entry['type']} {entry.get('structure', {})} {entry.get('representation', {})}"
        )
    return with_state(checked, document)


def interpret(cells: Sequence[Cell], state: KernelState) -> None:
    """Steps 3 and 4: names as abstract values, and the target over them."""
    heading(
        3,
        "crane_core/detectors/rules/initial_state.py, InitialState: names as abstract values",
    )
    initial = InitialState(cells, state)
    for name in state.variables:
        print(f"  {name}: {described(initial.value(name))}")
    print(
        f"  who else may act while the target runs: {', '.join(initial.unsure) or 'nobody'}"
    )

    heading(
        4,
        "crane_core/detectors/rules/interpreter.py, Interpreter: the target, step by step",
    )
    interpreter = TracedInterpreter(initial)
    outcome = "the target has no certain crash"
    try:
        interpreter.body(initial.target.tree.body)
    except Crash:
        outcome = "the target raises on every path"
    except (GiveUpError, ControlFlowExitError):
        outcome = "nothing is certain from here on"
    print(f"  {interpreter.n_steps} steps; {outcome}")


def conclude(cells: Sequence[Cell], state: KernelState) -> None:
    """Steps 5 and 6: the finding, and the verdict."""
    heading(
        5, "crane_core/detectors/rules/predict.py, findings: what is kept of it"
    )
    report = findings(cells, state, Setting.RUNTIME_PLUS)
    for finding in report.findings:
        print(f"  family     {finding.family}")
        print(f"  expression {finding.expression}, line {finding.line}")
        print(f"  exception  {finding.exception}")
        print(f"  reason     {finding.why}")
        print(f"  evidence   {finding.fact}")
        print(f"  remedy     {finding.remedy}")
    if not report.findings:
        print("  no finding")

    heading(
        6,
        "crane_core/detectors/rules_detector.py, predict: the verdict that every face prints",
    )
    said = predict(cells, state, Setting.RUNTIME_PLUS)
    print(f"  crash: {said.crashes or None}")
    print(f"  {said.reasoning}")
    print(f"  unsure: {', '.join(unsure(said)) or 'nothing'}")


def main(case: str = "numpy_1") -> int:
    if not (MINIBENCH / "benchmark" / case).is_dir():
        print(f"no case of minibench: {case}", file=sys.stderr)
        return 2
    checked = read(case)
    if checked.state is None:
        raise TypeError("the state that ships was not read")
    interpret(checked.cells, checked.state)
    conclude(checked.cells, checked.state)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
