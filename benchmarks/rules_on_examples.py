"""The certain-crash rules on the examples of the installed libraries' docstrings.

python -m benchmarks.rules_on_examples [--seconds N] [--seed N] [LIBRARY ...]

Every example is a target of what stands before it, as it is and broken by one change (_mutations.py); what is predicted
is compared with what really happens. Each library in its own process, for that many seconds. A predicted crash of a
target that runs is a false alarm; its code is shown, and that of a crash of another class than was predicted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from time import perf_counter

from benchmarks._examples import (
    MODULES,
    Text,
    each_statement,
    in_new_room,
    rest_of,
    texts,
)
from benchmarks._minibench import JudgedTarget, counted
from benchmarks._mutations import broken
from benchmarks._server import CHECKOUT
from benchmarks._timing import command, machine

SECONDS = 60.0
_BROKEN_STATEMENTS = 3


def targets_of(
    library: str, seconds: float, seed: int
) -> Iterator[JudgedTarget]:
    """Runs in the process of the library."""
    started = perf_counter()
    found = list(texts(library))
    random.Random(seed).shuffle(found)
    for text in found:
        if perf_counter() - started > seconds:
            return
        yield from _of_text(text, seed)


def _of_text(text: Text, seed: int) -> Iterator[JudgedTarget]:
    n = len(text.statements)
    yield from each_statement(text)
    yield from rest_of(text, 0)
    if n > 3:
        yield from rest_of(text, n // 2)
    chosen = random.Random(zlib.crc32(text.name.encode()) + seed)
    for at in chosen.sample(range(n), min(_BROKEN_STATEMENTS, n)):
        for one in broken(text.statements[at], seed + at):
            yield from in_new_room(text, one.kind, text.before(at), one.code)


def measured(library: str, seconds: float, seed: int) -> list[JudgedTarget]:
    """What its process tells; rules that failed there are printed."""
    quiet = {
        "MPLBACKEND": "Agg",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
        "PYTHONPATH": str(CHECKOUT),
    }
    child = [sys.executable, "-m", "benchmarks.rules_on_examples"]
    asked = ["--child", library, "--seconds", str(seconds), "--seed", str(seed)]
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [*child, *asked],
            cwd=empty,
            capture_output=True,
            text=True,
            env=os.environ | quiet,
            timeout=seconds * 3 + 120,
            check=False,
        )
    if done.returncode:
        print(f"{library}: {done.stderr.strip()[-300:]}")
    found = []
    for line in done.stdout.splitlines():
        if line.startswith("["):
            found.append(JudgedTarget(*json.loads(line)))
        else:
            print(line)
    return found


def main() -> None:
    parser = command(__doc__)
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="for each library"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument(
        "libraries",
        nargs="*",
        metavar="LIBRARY",
        help=f"of {', '.join(MODULES)}; all without one",
    )
    chosen = parser.parse_args()
    if chosen.child:
        for one in targets_of(chosen.child, chosen.seconds, chosen.seed):
            print(json.dumps(one))
        return
    if unknown := set(chosen.libraries) - set(MODULES):
        parser.error(f"no examples of {', '.join(sorted(unknown))} are known")
    print(machine())
    every: list[JudgedTarget] = []
    for library in chosen.libraries or MODULES:
        found = measured(library, chosen.seconds, chosen.seed)
        print("\n".join(counted(f"{library}, {len(found):,}", found)))
        every += found
    print("\n".join(counted(f"all, {len(every):,}", every)))


if __name__ == "__main__":
    main()
