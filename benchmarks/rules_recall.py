"""The certain-crash rules on three corpora: recall, false alarms, and other tools beside them.

python -m benchmarks.rules_recall [--python PATH] [--at-once N] [--only minibench|published|notebooks] [CASE ...]

minibench: every notebook, crashing and fixed, runs up to its target once; our look with the rules and the peer's
checker judge that one kernel, ours first. Of a crashing one every decisive fact has to be told by the state, in both
settings with a state (data/minibench/README.md says when a fact is told).
Published: the rules on the states that the study published, beside the votes of its three models on the same instances
with (+RT) and without (-RT) them. Notebooks: the study's 20 notebook-specific pairs, of which the archive has the
executed cells and the target, each written as a notebook in that order and checked as `check --all --no-run` does. A
crash is found where the exception is the true one and the cell is the target.
A detection on a fixed notebook is a false alarm.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import nbformat.v4

from benchmarks._data import cells_by_instance, study_records
from benchmarks._decisive import Fact, missing
from benchmarks._minibench import (
    JudgedTarget,
    at_once,
    cases_of,
    cells_of,
    complain,
    counted,
    kernel_command,
    notebook_of,
    notebooks,
    state_of,
    tally,
)
from benchmarks._peer import (
    PEER,
    PeerMissingError,
    peer_expression,
    peer_folder,
)
from benchmarks._timing import machine
from crane_core.detectors.rules.predict import findings
from crane_core.domain import (
    Cell,
    KernelState,
    Record,
    Run,
    Setting,
    Version,
)
from crane_core.errors import CraneError
from crane_core.pipeline.own_notebooks.whole.check_whole import (
    WholeOptions,
    check_whole,
)
from crane_core.pipeline.places import CHECKOUT
from crane_core.pipeline.study.table_scores import STUDY_LLMS
from crane_core.prompts.shown import shown
from crane_core.runtime.kernel import (
    EndedError,
    ExpressionError,
    fresh_kernel,
)
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import read_plan
from crane_core.runtime.program import program
from crane_core.runtime.run_up import RunUp

SIGNS = {Setting.CODE: "-RT", Setting.RUNTIME: "+RT"}
WITH_STATE = (Setting.RUNTIME, Setting.RUNTIME_PLUS)
CASES = CHECKOUT / "data" / "published" / "cases.csv"
ROOT_CAUSE = "NB specific"


def crashes(instance_id: str) -> bool:
    return instance_id.endswith(f"_{Version.REPRODUCED}")


def detected(instance_id: str, found: str | None) -> JudgedTarget:
    """What a detector found in an instance, in words, or None; any class of crash counts."""
    came = "crash" if crashes(instance_id) else None
    return JudgedTarget(instance_id, found and "crash", came, found or "")


def by_rules(
    instance_id: str, cells: Sequence[Cell], state: KernelState
) -> JudgedTarget:
    report = findings(cells, state, state.setting)
    complain(report, instance_id)
    said = [
        f"{one.exception}, line {one.line}: {one.why}"
        for one in report.findings
    ]
    return detected(instance_id, said[0] if said else None)


# minibench


class JudgedNotebook(NamedTuple):
    """What both found, and the decisive facts that each setting lacks: none of a fixed notebook."""

    ours: JudgedTarget
    theirs: JudgedTarget
    lacks: Mapping[Setting, list[Fact]]


def on_notebook(path: Path, python: str, peer: Path) -> JudgedNotebook:
    """Both on one kernel. What fails is told and found nothing."""
    target = read_plan(notebook_of(path.parent.name), None).target
    plan = read_plan(path, target.index)
    ours = theirs = detected(path.stem, None)
    lacks = {}
    try:
        with fresh_kernel(
            program(python=python), path.parent, KernelLimits()
        ) as kernel:
            state = state_of(
                RunUp(plan, kernel).make((), keep_going=False).state
            )
            ours = by_rules(path.stem, cells_of(plan), state)
            for setting in WITH_STATE if crashes(path.stem) else ():
                seen = shown(state, setting).to_json()
                lacks[setting] = missing(path.parent.name, seen)
            asked = peer_expression(peer, plan.target.source)
            found = json.loads(kernel.evaluate(asked))
            theirs = detected(path.stem, found)
    except (CraneError, EndedError, ExpressionError) as error:
        print(f"failed: {path.name}: {error}")
    return JudgedNotebook(ours, theirs, lacks)


def on_minibench(
    cases: Sequence[str], python: str, n_at_once: int
) -> Iterator[str]:
    try:
        peer = peer_folder()
    except PeerMissingError as error:
        yield f"minibench not measured: {error}."
        return
    yield f"minibench, {machine()}; peer {PEER}"
    paths = notebooks(cases, python)
    done = at_once(
        n_at_once, lambda path: on_notebook(path, python, peer), paths
    )
    yield from counted("rules", [one.ours for one in done])
    yield from counted("peer's checker", [one.theirs for one in done])
    for setting in WITH_STATE:
        lacks = [
            one.lacks.get(setting) for one in done if crashes(one.ours.place)
        ]
        yield f"{setting}: all decisive facts told in {lacks.count([])} of {len(lacks)} cases"
        yield from (
            f"  {one.ours.place}: {fact.text}"
            for one in done
            for fact in one.lacks.get(setting, ())
        )


# The study's instances


def on_published(records: Sequence[Record]) -> Iterator[str]:
    cells = cells_by_instance(records)
    by: dict[str, list[JudgedTarget]] = defaultdict(list)
    votes: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for record in records:
        match record:
            case KernelState(setting=Setting.RUNTIME, instance_id=instance_id):
                told = by_rules(instance_id, cells[instance_id], record)
                by["rules"].append(told)
            case Run(
                setting=Setting.CODE | Setting.RUNTIME, crashes=bool(said)
            ) if record.detector in STUDY_LLMS:
                name = f"{record.detector} {SIGNS[record.setting]}"
                votes[name, record.instance_id][said] += 1
    for (name, instance_id), counts in sorted(votes.items()):
        vote = "crash" if counts[True] > counts[False] else None
        by[name].append(detected(instance_id, vote))
    yield f"published states, {machine()}"
    yield from (tally(name, judged) for name, judged in by.items())


def on_notebooks(records: Sequence[Record]) -> Iterator[str]:
    with CASES.open(encoding="utf-8", newline="") as file:
        true = {
            row["case_id"]: row["exception"]
            for row in csv.DictReader(file)
            if row["root_cause"] == ROOT_CAUSE
        }
    by_exception: dict[str, list[bool]] = defaultdict(list)
    false_alarms = []
    for instance_id, cells in cells_by_instance(records).items():
        exception = true.get(instance_id.rpartition("_")[0])
        if exception is None:
            continue
        problems = problems_of([cell.code for cell in cells])
        if crashes(instance_id):
            is_found = (exception, len(cells) - 1) in problems
            by_exception[exception].append(is_found)
        elif problems:
            false_alarms.append(instance_id)
    for exception, found in sorted(by_exception.items()):
        yield f"whole notebooks, {exception}: {sum(found)} of {len(found)} found"
    yield (
        f"false alarms on their fixed notebooks: {len(false_alarms)} "
        f"{false_alarms}"
    )


def problems_of(sources: Sequence[str]) -> set[tuple[str, int | None]]:
    """The exception in lower case and the cell of each problem of a notebook whose cells ran once, in this order."""
    cells = [
        nbformat.v4.new_code_cell(source, execution_count=count)
        for count, source in enumerate(sources, start=1)
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "notebook.ipynb"
        path.write_text(nbformat.v4.writes(notebook), "utf-8")
        result = check_whole(path, WholeOptions(runs=False))
    return {(one.rule.lower(), one.cell) for one in result.problems}


def main() -> None:
    parser = kernel_command(__doc__)
    corpora = ("minibench", "published", "notebooks")
    parser.add_argument("--only", choices=corpora)
    chosen = cases_of(parser)
    wanted = [chosen.only] if chosen.only else corpora
    if "minibench" in wanted:
        for line in on_minibench(chosen.cases, chosen.python, chosen.at_once):
            print(line)
    records = study_records() if wanted != ["minibench"] else []
    if records and "published" in wanted:
        print("\n".join(on_published(records)))
    if records and "notebooks" in wanted:
        print("\n".join(on_notebooks(records)))


if __name__ == "__main__":
    main()
