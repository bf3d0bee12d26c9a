"""`python -m tests.live.corpus.undone [KIND ...]`: undo every cell of the corpus that crashes, and compare deeply.

The first target of each case that raises, as `python -m benchmarks.undo` does with those of minibench. Counted apart:
cases whose own cells do not run here, and targets that only show something, before which no copy is kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks._kernel import Kernel
from benchmarks._timing import machine
from benchmarks._undone import UndoneCell, tell
from benchmarks.undo import kernel_in, undone
from crane_core.live.guard import OVERRIDE
from tests.live.corpus.cases import Case, all_cases

CASES_PER_KERNEL = 40
NOT_RUN = "cells before it that do not run here"
ONLY_SHOWS = "a target that only shows something"
NO_CRASH = "no target that crashes here"


def main() -> int:
    """Exit 1 where something differs silently after the undo."""
    words = argparse.ArgumentParser(
        prog="python -m tests.live.corpus.undone", description=__doc__
    )
    words.add_argument("kinds", nargs="*", help="kinds; all without any")
    chosen = words.parse_args()
    cases = [
        case
        for case in all_cases()
        if _is_playable(case)
        and (not chosen.kinds or case.kind in chosen.kinds)
    ]
    found: list[UndoneCell] = []
    left_out: Counter[str] = Counter()
    for start in range(0, len(cases), CASES_PER_KERNEL):
        for told in _of_cases(cases[start : start + CASES_PER_KERNEL]):
            if isinstance(told, str):
                left_out[told] += 1
            else:
                found.append(told)
    tell("corpus", found)
    for why, n in left_out.most_common():
        print(f"  left out: {n} with {why}")
    print(machine())
    return int(any(cell.silent for cell in found))


def _is_playable(case: Case) -> bool:
    """Whether it needs one kernel, which others may use after it, and has a target that raises."""
    is_alone = case.own_kernel or any(
        # Work that waits until the player of the corpus lets it go on.
        step.is_restart or "from started import" in step.source
        for step in case.steps
    )
    return not is_alone and any(step.exception for step in case.steps)


def _of_cases(cases: Sequence[Case]) -> Iterator[UndoneCell | str]:
    with (
        tempfile.TemporaryDirectory() as scratch,
        kernel_in(Path(scratch), sys.executable) as kernel,
    ):
        for case in cases:
            yield _of_case(kernel, case)


def _of_case(kernel: Kernel, case: Case) -> UndoneCell | str:
    """The undone target, or why there is none."""
    kernel.run("%reset -f")
    for step in case.steps:
        if not step.is_target:
            if kernel.run(f"{step.source}\n{OVERRIDE}").raised is not None:
                return NOT_RUN
        elif step.exception is not None:
            told = undone(kernel, f"{case.kind}: {case.name}", step.source)
            if told is None:
                return NO_CRASH
            return ONLY_SHOWS if "nothing to undo" in told.refused else told
    return NO_CRASH


if __name__ == "__main__":
    sys.exit(main())
