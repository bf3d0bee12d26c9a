"""The certain-crash rules beside the peer's checker on minibench, and beside the study's language models.

python -m benchmarks.rules_recall [--python PATH] [--at-once N] [--only minibench|published] [CASE ...]

minibench: every notebook, crashing and fixed, runs up to its target once; our look with the rules and the peer's
checker judge that one kernel, ours first. Published: the rules on the states that the study published, beside the votes
of its three models on the same instances with (+RT) and without (-RT) them. A detection on a fixed notebook is a false
alarm.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks._data import ARCHIVE
from benchmarks._minibench import (
    at_once,
    cases_of,
    cells_of,
    complain,
    kernel_command,
    notebooks,
    state_of,
)
from benchmarks._peer import (
    PEER,
    PeerMissingError,
    peer_expression,
    peer_folder,
)
from benchmarks._timing import machine
from crane_core.detectors.rules.predict import findings
from crane_core.domain import Cell, KernelState, Run, Setting, Version
from crane_core.errors import CraneError
from crane_core.importers import crane_llm_october
from crane_core.importers.filetree import open_tree
from crane_core.pipeline.study.table_scores import STUDY_LLMS
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
    crashing = path.name.replace(f"_{Version.FIXED}", f"_{Version.REPRODUCED}")
    target = read_plan(path.with_name(crashing), None).target.index
    plan = read_plan(path, target)
    try:
        with fresh_kernel(
            program(python=python), path.parent, KernelLimits()
        ) as kernel:
            result = RunUp(plan, kernel).make((), keep_going=False)
            state = state_of(result.state, path.stem)
            ours = _ours(
                cells_of(plan), state, Setting.RUNTIME_PLUS, result.seconds
            )
            return [ours, _theirs(path.stem, kernel, peer, plan.target.source)]
    except (CraneError, EndedError) as error:
        print(f"failed: {path.name}: {error}")
        return []


def _ours(
    cells: Sequence[Cell],
    state: KernelState,
    setting: Setting,
    look_s: float = 0,
) -> Answer:
    started = time.perf_counter()
    report = findings(cells, state, setting)
    seconds = look_s + time.perf_counter() - started
    complain(report, state.instance_id)
    said = [
        f"{one.exception}, line {one.line}: {one.why}"
        for one in report.findings
    ]
    return Answer(state.instance_id, OURS, said[0] if said else None, seconds)


def _theirs(
    instance_id: str, kernel: Kernel, folder: Path, target: str
) -> Answer:
    try:
        told = json.loads(
            kernel.evaluate(peer_expression(folder, target, "checked"))
        )
    except (ExpressionError, ValueError) as error:
        print(f"the peer failed on {instance_id}: {error}")
        return Answer(instance_id, THEIRS, None)
    found = told["finding"]
    said = (
        found
        and f"{found['exception']}, line {found['line']}: {found['message']}"
    )
    return Answer(instance_id, THEIRS, said, told["seconds"])


def on_minibench(
    cases: Sequence[str], python: str, n_at_once: int
) -> list[Answer]:
    try:
        peer = peer_folder()
    except PeerMissingError as error:
        print(f"minibench not measured: {error}.")
        return []
    print(f"minibench, {machine()}; peer {PEER}")
    paths = notebooks(cases, python)
    found = at_once(n_at_once, lambda path: judged(path, python, peer), paths)
    return [answer for both in found for answer in both]


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
            case Run(
                setting=Setting.CODE | Setting.RUNTIME, crashes=bool(said)
            ) if record.detector in STUDY_LLMS:
                votes[
                    f"{record.detector} {SIGNS[record.setting]}",
                    record.instance_id,
                ][said] += 1
    print(f"published states, {len(states)} instances; {machine()}")
    answers = [
        _ours(cells[instance_id], states[instance_id], Setting.RUNTIME)
        for instance_id in sorted(states)
    ]
    for (detector, instance_id), counts in sorted(votes.items()):
        vote = "crash" if counts[True] > counts[False] else None
        answers.append(Answer(instance_id, detector, vote))
    return answers


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
            crashes(answer.instance_id)
            for answer in by_group[group][detectors[0]]
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


def differences(
    answers: Sequence[Answer], first: str, second: str
) -> Iterator[str]:
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


def main() -> None:
    parser = kernel_command(__doc__)
    parser.add_argument("--only", choices=("minibench", "published"))
    chosen = cases_of(parser)
    if chosen.only != "published" and (
        answers := on_minibench(chosen.cases, chosen.python, chosen.at_once)
    ):
        print("\n".join(table(answers)))
        print("\n".join(differences(answers, OURS, THEIRS)))
    if chosen.only != "minibench" and (answers := on_published()):
        print("\n".join(table(answers)))


if __name__ == "__main__":
    main()
