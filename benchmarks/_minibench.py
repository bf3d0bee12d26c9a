"""The notebooks of minibench in kernels of any interpreter: which can run there, and what a detector sees of them."""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from benchmarks._decisive import case_ids
from benchmarks._timing import command
from crane_core.detectors.rules.extending import imports_of
from crane_core.detectors.rules.predict import Report, findings
from crane_core.domain import Cell, CellRole, KernelState, Setting, Version
from crane_core.notebooks import read_code_cells
from crane_core.pipeline.places import embedded
from crane_core.runtime.plan import NotebookPlan

BENCHMARK = embedded()["minibench"] / "benchmark"
"""The folders of the pairs."""
_FIND = (
    "import importlib.util, sys; print(*(name for name in sys.argv[1:] if "
    "importlib.util.find_spec(name) is None))"
)
T = TypeVar("T")
U = TypeVar("U")


def interpreter(text: str) -> str:
    """The absolute path of a program, for argparse. Not resolved: a venv's python is a link to the system's."""
    found = shutil.which(os.path.expanduser(text))  # noqa: PTH111
    if found is None:
        raise argparse.ArgumentTypeError(f"there is no program {text}")
    return os.path.abspath(found)  # noqa: PTH100


def kernel_command(doc: str | None) -> argparse.ArgumentParser:
    """The parser of a benchmark that runs notebooks: --python, and --at-once of `at_once`."""
    parser = command(doc)
    parser.add_argument("--python", type=interpreter, default=sys.executable)
    parser.add_argument("--at-once", type=int, default=2, metavar="N")
    return parser


def cases_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What the command line gives, `cases` among it: those of minibench that it names, else all."""
    parser.add_argument("cases", nargs="*", metavar="CASE")
    chosen = parser.parse_args()
    known = case_ids()
    if unknown := set(chosen.cases) - set(known):
        parser.error(f"minibench has no {', '.join(sorted(unknown))}")
    chosen.cases = chosen.cases or known
    return chosen


def at_once(n: int, work: Callable[[T], U], given: Iterable[T]) -> list[U]:
    """What `work` gives for each, in order, `n` of them at a time."""
    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(work, given))


def notebook_of(case_id: str, version: Version = Version.REPRODUCED) -> Path:
    return BENCHMARK / case_id / f"{case_id}_{version}.ipynb"


def not_installed(names: Iterable[str], python: str) -> set[str]:
    """Those of the packages that an interpreter does not have."""
    done = subprocess.run(
        [python, "-c", _FIND, *names],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def runnable(chosen: Sequence[str], python: str) -> Iterator[str]:
    """The cases that can run here; the others are named."""
    needs = {case_id: _imported(case_id) for case_id in chosen}
    absent = not_installed(sorted(set().union(*needs.values())), python)
    for case_id, packages in needs.items():
        if lacks := packages & absent:
            print(
                f"skipped, {', '.join(sorted(lacks))} not installed: {case_id}"
            )
        else:
            yield case_id


def _imported(case_id: str) -> set[str]:
    """The top packages that a notebook names in its imports."""
    cells = read_code_cells(notebook_of(case_id).read_bytes())
    return {
        name.partition(".")[0]
        for cell in cells
        for name in imports_of(ast.parse(cell.source))
    }


def notebooks(chosen: Sequence[str], python: str) -> list[Path]:
    """The crashing notebooks of the cases that can run here, then the fixed ones."""
    cases = list(runnable(chosen, python))
    return [notebook_of(case, version) for version in Version for case in cases]


def _cell(
    position: int,
    code: str,
    role: CellRole,
    index: int,
    count: int | None = None,
) -> Cell:
    return Cell(
        benchmark="minibench",
        instance_id="target_1",
        origin="notebook",
        position=position,
        role=role,
        code=code,
        execution_count=count,
        notebook_index=index,
    )


def state_of(document: dict[str, object]) -> KernelState:
    """A look at a kernel as the state that it is kept as."""
    return KernelState.from_json(
        document,
        benchmark="minibench",
        instance_id="target_1",
        setting=Setting.RUNTIME_PLUS,
        origin="capture",
    )


def cells_of(plan: NotebookPlan) -> list[Cell]:
    """The plan's cells as a detector is shown them."""
    return [
        _cell(
            position,
            cell.source,
            CellRole.TARGET if cell is plan.target else CellRole.EXECUTED,
            cell.index,
        )
        for position, cell in enumerate([*plan.executed, plan.target])
    ]


def judged_target(setup: str, target: str, state: dict[str, object]) -> Report:
    """What the rules say of a target behind one cell, with a look at the kernel in which that ran."""
    cells = [
        _cell(0, setup, CellRole.EXECUTED, 0, 1),
        _cell(1, target, CellRole.TARGET, 1, 2),
    ]
    return findings(cells, state_of(state))


class JudgedTarget(NamedTuple):
    """`predicted` and `came` are classes of exceptions, None for none; `why` is the rule's word."""

    place: str
    predicted: str | None
    came: str | None
    why: str = ""

    @property
    def kind(self) -> str:
        if self.predicted is None:
            return "nothing said, it ran" if self.came is None else "missed"
        if self.came is None:
            return "FALSE ALARM"
        is_right = self.predicted == self.came
        return "predicted" if is_right else "predicted, another class"


def complain(report: Report, place: str) -> None:
    """Print the rules that failed."""
    for error in report.errors:
        print(
            f"a rule failed on {place}: {error.family}, {error.rule}: "
            f"{error.error}"
        )


def judged(place: str, report: Report, came: str | None) -> JudgedTarget:
    """The first finding beside what came; rules that failed are printed."""
    complain(report, place)
    for first in report.findings:
        return JudgedTarget(place, first.exception, came, first.why)
    return JudgedTarget(place, None, came)


def tally(title: str, targets: Iterable[JudgedTarget]) -> str:
    """How many there are of each kind."""
    kinds = sorted(Counter(one.kind for one in targets).items())
    return f"{title}: " + ", ".join(f"{kind} {n:,}" for kind, n in kinds)


def counted(title: str, targets: Sequence[JudgedTarget]) -> Iterator[str]:
    """The tally, then every alarm that was false and every other class than came."""
    yield tally(title, targets)
    for one in targets:
        if one.predicted not in (None, one.came):
            came = one.came or "nothing"
            yield (
                f"  {one.place}: {one.predicted} predicted, {came} came: "
                f"{one.why}"
            )
