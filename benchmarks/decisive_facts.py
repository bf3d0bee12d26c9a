"""The share of minibench's cases whose decisive facts are in the state: ours, and the published extractor's.

python -m benchmarks.decisive_facts [--python PATH] [--at-once N] [CASE ...]

Every crashing notebook runs up to its target once; `runtime`, `runtime+` and the peer look at that one kernel. Of a
case every fact has to be told (data/minibench/README.md says when one is). `--python` names the kernels' interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._decisive import Fact, facts_of, missing
from benchmarks._minibench import (
    at_once,
    cases_of,
    kernel_command,
    notebook_of,
    runnable,
    state_of,
)
from benchmarks._peer import (
    PEER,
    PeerMissingError,
    laid_out,
    peer_expression,
    peer_folder,
)
from benchmarks._timing import machine
from crane_core.domain import Setting
from crane_core.errors import CraneError
from crane_core.prompts.shown import shown
from crane_core.runtime.kernel import (
    EndedError,
    ExpressionError,
    Kernel,
    fresh_kernel,
)
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import read_plan
from crane_core.runtime.program import program
from crane_core.runtime.run_up import RunUp

SETTINGS = (Setting.RUNTIME, Setting.RUNTIME_PLUS)
COLUMNS = (*(str(setting) for setting in SETTINGS), "peer")


@dataclass(frozen=True)
class FactsTold:
    """The facts of a case that each look lacks, and why a look could not be had."""

    case_id: str
    n_facts: int
    lacks: Mapping[str, list[Fact]]
    failures: Mapping[str, str]


def outcome_of(case_id: str, python: str, folder: Path) -> FactsTold:
    """One kernel, seen by all. What fails tells nothing."""
    states: dict[str, Mapping[str, Any]] = {column: {} for column in COLUMNS}
    failures: dict[str, str] = {}
    path = notebook_of(case_id)
    plan = read_plan(path, None)
    try:
        with fresh_kernel(
            program(python=python), path.parent, KernelLimits()
        ) as kernel:
            result = RunUp(plan, kernel).make((), keep_going=False)
            states.update(in_settings(case_id, result.state))
            states["peer"] = peer_state(
                kernel, folder, plan.target.source, failures
            )
    except (CraneError, EndedError) as error:
        failures["kernel"] = str(error)
    lacks = {
        column: missing(case_id, state) for column, state in states.items()
    }
    return FactsTold(case_id, len(facts_of(case_id)), lacks, failures)


def in_settings(
    case_id: str, document: dict[str, Any]
) -> dict[str, Mapping[str, Any]]:
    """What a prompt of each setting is given of our one look."""
    state = state_of(document, case_id)
    return {
        str(setting): shown(state, setting).to_json() for setting in SETTINGS
    }


def peer_state(
    kernel: Kernel, folder: Path, target: str, failures: dict[str, str]
) -> dict[str, Any]:
    try:
        return laid_out(kernel.evaluate(peer_expression(folder, target)))[1]
    except ExpressionError as error:
        failures["peer"] = str(error)
        return {}


def in_words(outcome: FactsTold) -> Iterator[str]:
    """The row of a case, then what is lacking."""
    marks = [
        f"{outcome.n_facts - len(outcome.lacks[column])}/{outcome.n_facts}"
        for column in COLUMNS
    ]
    yield f"{outcome.case_id:<16}" + "".join(f"{mark:>10}" for mark in marks)
    for who, why in outcome.failures.items():
        yield f"    {who} failed: {why}"
    for column in COLUMNS:
        yield from (
            f"    {column} does not tell: {fact.text}"
            for fact in outcome.lacks[column]
        )


def report(outcomes: Sequence[FactsTold]) -> None:
    print(
        f"{'facts told':<16}" + "".join(f"{column:>10}" for column in COLUMNS)
    )
    for outcome in outcomes:
        print("\n".join(in_words(outcome)))
    for column in COLUMNS:
        told = sum(not outcome.lacks[column] for outcome in outcomes)
        print(
            f"{column}: all decisive facts told in {told} of {len(outcomes)} cases ({told / len(outcomes):.1%})"
        )


def main() -> None:
    chosen = cases_of(kernel_command(__doc__))
    try:
        folder = peer_folder()
    except PeerMissingError as error:
        print(f"Not measured: {error}.")
        return
    print(f"{machine()}; peer {PEER}")
    cases = list(runnable(chosen.cases, chosen.python))

    def outcome(case_id: str) -> FactsTold:
        return outcome_of(case_id, chosen.python, folder)

    if cases:
        report(at_once(chosen.at_once, outcome, cases))


if __name__ == "__main__":
    main()
