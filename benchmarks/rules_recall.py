"""The certain-crash rules beside the peer's checker on minibench, and beside the study's language models.

python -m benchmarks.rules_recall [--python PATH] [--at-once N] [--only minibench|published] [CASE ...]

minibench: every notebook, crashing and fixed, runs up to its target once; our look with the rules and the peer's
checker judge that one kernel, ours first. Published: the rules on the states that the study published, beside the votes
of its three models on the same instances with (+RT) and without (-RT) them. A detection on a fixed notebook is a false
alarm.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks._data import ARCHIVE
from benchmarks._decisive import case_ids
from benchmarks._interpreter import interpreter
from benchmarks._peer import PEER, PeerMissingError, peer_folder
from benchmarks._timing import machine
from benchmarks.decisive_facts import notebook_of, runnable
from crane_core.detectors.rules.predict import Report, findings
from crane_core.domain import Cell, KernelState, Run, Setting, Version
from crane_core.errors import CraneError
from crane_core.importers import crane_llm_october
from crane_core.importers.filetree import open_tree
from crane_core.notebooks import plan as planned
from crane_core.pipeline.study.table_scores import STUDY_LLMS
from crane_core.runtime.kernel import EndedError, ExpressionError, Kernel, fresh_kernel
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import NotebookPlan, read_plan
from crane_core.runtime.program import program
from crane_core.runtime.run_up import RunUp

OURS, THEIRS = "rules", "peer's checker"
SIGNS = {Setting.CODE: "-RT", Setting.RUNTIME: "+RT"}


class Answer(NamedTuple):
    """What one detector says of one instance: what it found in words, None for nothing; the seconds it took, if any."""

    instance_id: str
    detector: str
    found: str | None
    seconds: float | None = None


def group_of(instance_id: str) -> str:
    return instance_id.partition("_")[0]


def crashes(instance_id: str) -> bool:
    return instance_id.endswith(f"_{Version.REPRODUCED}")


# minibench


def judged(path: Path, python: str, peer: Path) -> list[Answer]:
    """Both on one kernel. What fails is told and found nothing."""
    plan = read_plan(
        path,
        None if crashes(path.stem) else read_plan(_crashing(path), None).target.index,
    )
    try:
        with fresh_kernel(
            program(python=python), path.parent, KernelLimits()
        ) as kernel:
            result = RunUp(plan, kernel).make((), keep_going=False)
            ours = _ours(path.stem, plan, result.state, result.seconds)
            return [ours, _theirs(path.stem, kernel, peer, plan.target.source)]
    except (CraneError, EndedError) as error:
        print(f"failed: {path.name}: {error}")
        return []


def _crashing(path: Path) -> Path:
    return path.with_name(
        path.name.replace(f"_{Version.FIXED}", f"_{Version.REPRODUCED}")
    )


def _ours(
    instance_id: str,
    plan: NotebookPlan,
    document: dict[str, object],
    look_seconds: float,
) -> Answer:
    state = KernelState.from_json(
        document,
        benchmark="minibench",
        instance_id=instance_id,
        setting=Setting.RUNTIME_PLUS,
        origin="capture",
    )
    cells = [
        Cell(
            "minibench",
            instance_id,
            "notebook",
            one.position,
            one.role,
            one.cell.source,
            notebook_index=one.cell.index,
        )
        for one in planned(plan.cells, plan.target.index)
    ]
    started = time.perf_counter()
    report = findings(cells, state, Setting.RUNTIME_PLUS)
    return Answer(
        instance_id, OURS, _told(report), look_seconds + time.perf_counter() - started
    )


def _told(report: Report) -> str | None:
    for error in report.errors:
        print(f"a rule failed: {error.family}, {error.rule}: {error.error}")
    return next(
        (f"{one.exception}, line {one.line}: {one.why}" for one in report.findings),
        None,
    )


def _theirs(instance_id: str, kernel: Kernel, folder: Path, target: str) -> Answer:
    code = Path(__file__).with_name("_peer_check.py").read_text("utf-8")
    expression = (
        "(lambda builtins, room:"
        f" (builtins.exec({code!r}, room), room['answer']({str(folder)!r}, {target!r}))[1])"
        "(__import__('builtins'), {'__name__': 'crane_peer_check'})"
    )
    try:
        told = json.loads(kernel.evaluate(expression))
    except (ExpressionError, ValueError) as error:
        print(f"the peer failed on {instance_id}: {error}")
        return Answer(instance_id, THEIRS, None)
    found = told["finding"]
    said = (
        None
        if found is None
        else f"{found['exception']}, line {found['line']}: {found['message']}"
    )
    return Answer(instance_id, THEIRS, said, told["seconds"])


def on_minibench(cases: Sequence[str], python: str, at_once: int) -> list[Answer]:
    try:
        peer = peer_folder()
    except PeerMissingError as error:
        print(f"minibench not measured: {error}.")
        return []
    print(f"minibench, {machine()}; peer {PEER}")
    notebooks = [notebook_of(case_id) for case_id in runnable(cases, python)]
    paths = [
        *notebooks,
        *(
            Path(str(path).replace(f"_{Version.REPRODUCED}", f"_{Version.FIXED}"))
            for path in notebooks
        ),
    ]
    with ThreadPoolExecutor(at_once) as pool:
        return [
            answer
            for answers in pool.map(lambda path: judged(path, python, peer), paths)
            for answer in answers
        ]


# The study's instances


def on_published() -> list[Answer]:
    if not ARCHIVE.is_file():
        print(
            f"Published states not measured: {ARCHIVE.name} is not in {ARCHIVE.parent}."
        )
        return []
    cells: dict[str, list[Cell]] = defaultdict(list)
    states: dict[str, KernelState] = {}
    votes: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for record in crane_llm_october.read(open_tree(ARCHIVE)):
        match record:
            case Cell():
                cells[record.instance_id].append(record)
            case KernelState(setting=Setting.RUNTIME):
                states[record.instance_id] = record
            case Run(setting=Setting.CODE | Setting.RUNTIME, crashes=bool(said)) if (
                record.detector in STUDY_LLMS
            ):
                votes[f"{record.detector} {SIGNS[record.setting]}", record.instance_id][
                    said
                ] += 1
    print(f"published states, {len(states)} instances; {machine()}")
    answers = [
        _on_state(instance_id, cells[instance_id], states[instance_id])
        for instance_id in sorted(states)
    ]
    for (detector, instance_id), counts in sorted(votes.items()):
        answers.append(
            Answer(
                instance_id, detector, "crash" if counts[True] > counts[False] else None
            )
        )
    return answers


def _on_state(instance_id: str, cells: list[Cell], state: KernelState) -> Answer:
    started = time.perf_counter()
    report = findings(cells, state, Setting.RUNTIME)
    return Answer(instance_id, OURS, _told(report), time.perf_counter() - started)


# Tables


def table(answers: Sequence[Answer]) -> Iterator[str]:
    """Detections of crashing notebooks per library, false alarms in brackets, and the time that it took."""
    detectors = list(dict.fromkeys(answer.detector for answer in answers))
    by_group: dict[str, dict[str, list[Answer]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for answer in answers:
        by_group[group_of(answer.instance_id)][answer.detector].append(answer)
        by_group["all"][answer.detector].append(answer)
    width = max(len(name) for name in detectors) + 2
    yield f"{'detected (false alarms)':<26}" + "".join(
        f"{name:>{width}}" for name in detectors
    )
    for group in [*sorted(name for name in by_group if name != "all"), "all"]:
        cells = [_cell(by_group[group][name]) for name in detectors]
        n_crashing = sum(
            crashes(answer.instance_id) for answer in by_group[group][detectors[0]]
        )
        yield f"{f'{group}, {n_crashing} crashing':<26}" + "".join(
            f"{cell:>{width}}" for cell in cells
        )
    for name in detectors:
        seconds = [
            answer.seconds
            for answer in answers
            if answer.detector == name and answer.seconds is not None
        ]
        if seconds:
            times = f"median {median(seconds) * 1e3:.1f} ms, longest {max(seconds) * 1e3:.0f} ms"
            yield f"{name}: {times}, n {len(seconds)}"


def _cell(answers: Iterable[Answer]) -> str:
    found = [answer for answer in answers if answer.found is not None]
    n_hits = sum(crashes(answer.instance_id) for answer in found)
    return f"{n_hits} ({len(found) - n_hits})"


def differences(answers: Sequence[Answer], first: str, second: str) -> Iterator[str]:
    """Instances on which two detectors differ, and every false alarm of either."""
    said: Mapping[str, dict[str, str | None]] = defaultdict(dict)
    for answer in answers:
        said[answer.instance_id][answer.detector] = answer.found
    for instance_id, by_detector in sorted(said.items()):
        ours, theirs = by_detector.get(first), by_detector.get(second)
        if (
            (ours is None) != (theirs is None)
            or not crashes(instance_id)
            and (ours or theirs)
        ):
            who, what = (first, ours) if ours is not None else (second, theirs)
            yield f"  {instance_id}: only {who}: {str(what)[:150]}"


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rules_recall")
    parser.add_argument(
        "--python",
        type=interpreter,
        default=sys.executable,
        help="the interpreter of the kernels",
    )
    parser.add_argument(
        "--at-once", type=int, default=2, metavar="N", help="kernels at one time"
    )
    parser.add_argument("--only", choices=("minibench", "published"))
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help="of minibench; all without one"
    )
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.cases) - set(case_ids()):
        parser.error(f"minibench has no {', '.join(sorted(unknown))}")
    if chosen.only != "published" and (
        answers := on_minibench(
            chosen.cases or case_ids(), chosen.python, chosen.at_once
        )
    ):
        print("\n".join(table(answers)))
        print("\n".join(differences(answers, OURS, THEIRS)))
    if chosen.only != "minibench" and (answers := on_published()):
        print("\n".join(table(answers)))


if __name__ == "__main__":
    main(sys.argv[1:])
