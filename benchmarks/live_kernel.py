"""How long `%%crane` takes in an open notebook, and what it leaves in the kernel.

python -m benchmarks.live_kernel [--pairs N] [--pause S]

The cells that same_answer asks about, in kernels: the target of each notebook of minibench that this environment can
run, and fifty more. A fresh kernel for each notebook, the cells before the target, then `%load_ext crane_core` and,
`--pause` seconds later, `%%crane` above the target, five times. With a pause of 0 the first answer waits for the start
of the process beside the kernel. First and later answers are held to the limit of 50 ms (median). Beside it: resident
memory that the kernel gained, and libraries that it had not loaded before.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks._kernel import WITH_US, fresh
from benchmarks._minibench import BENCHMARK
from benchmarks._same_cells import OWN
from benchmarks._timing import Times, machine, options
from crane_core.runtime.plan import read_plan

LIMIT_MS = 50
LIMIT_MB = 5
N_ANSWERS = 5
HELD = "open('/proc/self/statm').read().split()[1]"
TOP = "{name.partition('.')[0] for name in _sys.modules}"
BEFORE = (
    f"import sys as _sys\n_held, _had = int({HELD}), {TOP}\n%load_ext "
    f"crane_core"
)
AFTER = f"""
import json as _json
_new = {TOP} - _had - set(_sys.stdlib_module_names)
print(_json.dumps([(int({HELD}) - _held) * 4096 / 1e6, sorted(_new)]))
"""
ASKED = """
import time as _time
_began = _time.perf_counter()
get_ipython().run_cell_magic('crane', '', {target!r})
print('\\x00' + str(_time.perf_counter() - _began))
"""


class Questions(NamedTuple):
    """Cells that run in one kernel in this folder, and targets that are asked about there."""

    folder: Path
    ran: Sequence[str]
    targets: Sequence[str]


class Seen(NamedTuple):
    """Of one kernel: seconds of each answer, megabytes gained, libraries new in the kernel."""

    seconds: list[float]
    gained_mb: float
    libraries: list[str]


def of_minibench(n_pairs: int) -> Iterator[Questions]:
    """Both versions of so many pairs."""
    for folder in sorted(BENCHMARK.iterdir())[:n_pairs]:
        for path in sorted(folder.glob("*.ipynb")):
            plan = read_plan(path, None)
            ran = [cell.source for cell in plan.executed]
            yield Questions(folder, ran, [plan.target.source])


def of_own(folder: Path) -> Iterator[Questions]:
    for setup, targets in OWN.items():
        yield Questions(folder, [setup], targets)


def one(questions: Questions, pause_s: float) -> Seen | None:
    """None if a cell before the target raises here."""
    with fresh(sys.executable, questions.folder, **WITH_US) as kernel:
        if any(kernel.run(source).raised for source in questions.ran):
            return None
        kernel.run(BEFORE)
        time.sleep(pause_s)
        seconds = []
        for target in questions.targets:
            for _ in range(N_ANSWERS):
                told = kernel.run(ASKED.format(target=target)).text
                seconds.append(float(told.rpartition("\x00")[2]))
        gained_mb, libraries = json.loads(kernel.run(AFTER).text)
        return Seen(seconds, gained_mb, libraries)


def main() -> None:
    chosen = options(__doc__, pairs=40, pause=2.0)
    with TemporaryDirectory() as scratch:
        asked = [*of_minibench(chosen.pairs), *of_own(Path(scratch))]
        found = [one(questions, chosen.pause) for questions in asked]
    kernels = [seen for seen in found if seen]
    n_answers = sum(len(seen.seconds) for seen in kernels)
    print(
        f"{n_answers // N_ANSWERS} cells in {len(kernels)} kernels, "
        f"{found.count(None)} left out: a cell before the target raises here"
    )
    first = [seen.seconds[0] for seen in kernels]
    later = [second for seen in kernels for second in seen.seconds[1:]]
    for name, seconds in (("first answer", first), ("later answers", later)):
        times = Times(seconds)
        ratio = times.median * 1e3 / LIMIT_MS
        print(f"{name}: {times.in_ms()}; {ratio:.2f} of {LIMIT_MS} ms")
    most = max(seen.gained_mb for seen in kernels)
    print(f"memory gained: up to {most:.1f} MB; the limit is {LIMIT_MB} MB")
    libraries = {name for seen in kernels for name in seen.libraries}
    new = sorted(libraries - {"crane_core"})
    print(f"libraries that the kernel had not loaded: {new}")
    print(machine())


if __name__ == "__main__":
    main()
