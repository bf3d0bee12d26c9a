"""The certain-crash rules on three corpora: recall, false alarms, and other tools beside them.

python -m benchmarks.rules_recall [--python PATH] [--at-once N] [--only minibench|published|notebooks] [CASE ...]

minibench: every notebook, crashing and fixed, runs up to its target once; our look with the rules and the peer's
checker judge that one kernel, ours first. Of a crashing one every decisive fact has to be told by the state, in both
settings with a state and by the peer's extractor (data/minibench/README.md says when a fact is told).
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
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import nbformat.v4

from benchmarks._data import cells_by_instance, study_records
from benchmarks._decisive import Fact, missing
from benchmarks._minibench import (
    at_once,
    cases_of,
    cells_of,
    complain,
    kernel_command,
    notebook_of,
    notebooks,
    state_of,
)
from benchmarks._peer import (
    PEER,
    PeerMissingError,
    laid_out,
    peer_expression,
    peer_folder,
)
from benchmarks._timing import machine, timed
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
    Kernel,
    fresh_kernel,
)
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import read_plan
from crane_core.runtime.program import program
from crane_core.runtime.run_up import RunUp

OURS, THEIRS = "rules", "peer's checker"
SIGNS = {Setting.CODE: "-RT", Setting.RUNTIME: "+RT"}
WITH_STATE = (Setting.RUNTIME, Setting.RUNTIME_PLUS)
CASES = CHECKOUT / "data" / "published" / "cases.csv"
ROOT_CAUSE = "NB specific"


class Answer(NamedTuple):
    """What one detector says of one instance: what it found in words, None for nothing; the seconds it took, if any."""

    instance_id: str
    detector: str
    found: str | None
    seconds: float | None = None


class JudgedNotebook(NamedTuple):
    """The answers of both, and the decisive facts that each look lacks: none of a fixed notebook."""

    answers: list[Answer]
    lacks: Mapping[str, list[Fact]]


def crashes(instance_id: str) -> bool:
    return instance_id.endswith(f"_{Version.REPRODUCED}")


# minibench


def on_notebook(path: Path, python: str, peer: Path) -> JudgedNotebook:
    """Both on one kernel. What fails is told and found nothing."""
    target = read_plan(notebook_of(path.parent.name), None).target
    plan = read_plan(path, target.index)
    answers: list[Answer] = []
    seen: dict[str, Mapping[str, Any]] = {str(one): {} for one in WITH_STATE}
    seen["peer"] = {}
    try:
        with fresh_kernel(
            program(python=python), path.parent, KernelLimits()
        ) as kernel:
            result = RunUp(plan, kernel).make((), keep_going=False)
            state = state_of(result.state)
            answers.append(
                _ours(
                    path.stem,
                    cells_of(plan),
                    state,
                    Setting.RUNTIME_PLUS,
                    result.seconds,
                )
            )
            for setting in WITH_STATE:
                seen[str(setting)] = shown(state, setting).to_json()
            if told := _asked(kernel, peer, plan.target.source, "checked"):
                answers.append(_theirs(path.stem, json.loads(told)))
            if told := _asked(kernel, peer, plan.target.source, "answer"):
                seen["peer"] = laid_out(told)[1]
    except (CraneError, EndedError) as error:
        print(f"failed: {path.name}: {error}")
    if not crashes(path.stem):
        return JudgedNotebook(answers, {})
    lacks = {who: missing(path.parent.name, seen[who]) for who in seen}
    return JudgedNotebook(answers, lacks)


def _ours(
    instance_id: str,
    cells: Sequence[Cell],
    state: KernelState,
    setting: Setting,
    look_s: float = 0,
) -> Answer:
    seconds, report = timed(lambda: findings(cells, state, setting))
    complain(report, instance_id)
    said = [
        f"{one.exception}, line {one.line}: {one.why}"
        for one in report.findings
    ]
    return Answer(
        instance_id, OURS, said[0] if said else None, look_s + seconds
    )


def _asked(kernel: Kernel, folder: Path, target: str, function: str) -> str:
    """What a function of the peer answers; "" where it fails, which is told."""
    try:
        return kernel.evaluate(peer_expression(folder, target, function))
    except ExpressionError as error:
        print(f"the peer's {function} failed: {error}")
        return ""


def _theirs(instance_id: str, told: Mapping[str, Any]) -> Answer:
    found = told["finding"]
    said = (
        found
        and f"{found['exception']}, line {found['line']}: {found['message']}"
    )
    return Answer(instance_id, THEIRS, said, told["seconds"])


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
    answers = [answer for one in done for answer in one.answers]
    yield from table(answers)
    yield from differences(answers)
    of_cases = {
        path.parent.name: one.lacks
        for path, one in zip(paths, done, strict=True)
        if one.lacks
    }
    for who in (*map(str, WITH_STATE), "peer"):
        told = sum(not lacks[who] for lacks in of_cases.values())
        yield f"{who}: all decisive facts told in {told} of {len(of_cases)} cases"
        for case_id, lacks in of_cases.items():
            yield from (f"  {case_id}: {fact.text}" for fact in lacks[who])


# The study's instances


def on_published(records: Sequence[Record]) -> Iterator[str]:
    cells = cells_by_instance(records)
    answers: list[Answer] = []
    votes: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for record in records:
        match record:
            case KernelState(setting=Setting.RUNTIME):
                of_instance = cells[record.instance_id]
                answers.append(
                    _ours(
                        record.instance_id, of_instance, record, Setting.RUNTIME
                    )
                )
            case Run(
                setting=Setting.CODE | Setting.RUNTIME, crashes=bool(said)
            ) if record.detector in STUDY_LLMS:
                name = f"{record.detector} {SIGNS[record.setting]}"
                votes[name, record.instance_id][said] += 1
    yield f"published states, {len(answers)} instances; {machine()}"
    for (detector, instance_id), counts in sorted(votes.items()):
        vote = "crash" if counts[True] > counts[False] else None
        answers.append(Answer(instance_id, detector, vote))
    yield from table(answers)


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


# Tables


def table(answers: Sequence[Answer]) -> Iterator[str]:
    """Detections of crashing notebooks per library, false alarms in brackets, and the time that it took."""
    detectors = list(dict.fromkeys(answer.detector for answer in answers))
    groups = sorted({_group(answer) for answer in answers})
    width = max(map(len, detectors), default=0) + 2
    yield f"{'detected (false alarms)':<26}" + "".join(
        f"{name:>{width}}" for name in detectors
    )
    for group in [*groups, "all"]:
        of_group = [one for one in answers if group in ("all", _group(one))]
        n_crashing = len(
            {one.instance_id for one in of_group if crashes(one.instance_id)}
        )
        cells = ""
        for name in detectors:
            alarms = Counter(
                crashes(one.instance_id)
                for one in of_group
                if one.detector == name and one.found is not None
            )
            cells += f"{f'{alarms[True]} ({alarms[False]})':>{width}}"
        yield f"{f'{group}, {n_crashing} crashing':<26}{cells}"
    for name in (OURS, THEIRS):
        seconds = [
            answer.seconds
            for answer in answers
            if answer.detector == name and answer.seconds is not None
        ]
        if seconds:
            times = (
                f"median {median(seconds) * 1e3:.1f} ms, longest "
                f"{max(seconds) * 1e3:.0f} ms"
            )
            yield f"{name}: {times}, n {len(seconds)}"


def _group(answer: Answer) -> str:
    return answer.instance_id.partition("_")[0]


def differences(answers: Sequence[Answer]) -> Iterator[str]:
    """What one of two detectors found alone, and every false alarm of either."""
    found = [answer for answer in answers if answer.found is not None]
    n_found = Counter(answer.instance_id for answer in found)
    for answer in sorted(found):
        is_alone = n_found[answer.instance_id] == 1
        if is_alone or not crashes(answer.instance_id):
            said = str(answer.found)[:150]
            yield f"  {answer.instance_id}, {answer.detector}: {said}"


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
