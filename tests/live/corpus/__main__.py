"""`python -m tests.live.corpus`: play the corpus in open kernels, and print what was predicted and what was true."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.live.corpus.cases import all_cases
from tests.live.corpus.open_kernel import PYTHON, open_kernel
from tests.live.corpus.play import Outcome, played
from tests.live.corpus.table import failures, table


def main() -> int:
    """Exit 1 where something is wrong, as the test fails."""
    words = argparse.ArgumentParser(
        prog="python -m tests.live.corpus", description=__doc__
    )
    words.add_argument(
        "kinds",
        nargs="*",
        help="kinds, or parts of the names of cases; all without any",
    )
    words.add_argument(
        "--misses",
        action="store_true",
        help="print each crash that was not predicted",
    )
    words.add_argument(
        "--jobs", type=int, default=2, help="kernels side by side (2)"
    )
    words.add_argument(
        "--python",
        help=f"interpreter with ipykernel (else {PYTHON}, else this one)",
    )
    words.add_argument(
        "--times", type=int, default=1, help="play each case so often"
    )
    given = words.parse_args()
    cases = [
        case
        for case in all_cases()
        if not given.kinds or _is_named(given.kinds, case.kind, case.name)
    ]
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        room = Path(folder)
        with open_kernel(room / "about", given.python) as kernel:
            print(kernel.versions())
        found = played(
            cases * given.times, room, python=given.python, jobs=given.jobs
        )
    wrong = failures(found)
    print(table(found))
    print(f"{len(cases)} cases, {time.perf_counter() - started:.0f} s")
    misses = [
        str(outcome)
        for outcome in found
        if isinstance(outcome, Outcome) and outcome.is_miss
    ]
    _list("wrong", wrong)
    _list("missed", misses if given.misses else [])
    return 1 if wrong else 0


def _is_named(parts: list[str], kind: str, name: str) -> bool:
    return any(part == kind or part in name for part in parts)


def _list(head: str, told: list[str]) -> None:
    if told:
        print(f"\n{head}: {len(told)}\n" + "\n".join(told))


if __name__ == "__main__":
    sys.exit(main())
