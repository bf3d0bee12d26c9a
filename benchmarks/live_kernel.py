"""How long `%%crane` takes in an open notebook, and what it leaves in the kernel.

python -m benchmarks.live_kernel [--pairs N] [--pause S] [--peer PYTHON]

The cells that same_answer asks about, in kernels: the target of each notebook of minibench that this environment can
run, and fifty more. A fresh kernel for each notebook, the cells before the target, then `%load_ext crane_core` and,
`--pause` seconds later, `%%crane` above the target, five times. With a pause of 0 the first answer waits for the start
of the process beside the kernel. First and later answers are held to the limit of 50 ms (median). Beside it: resident
memory that the kernel gained, and libraries that it had not loaded before.

With `--peer PYTHON`, an interpreter that has ipykernel and crane_llm, its checks that need no model are asked the same
way in its own kernel, on the notebooks that both can run; the ratios are of ours to theirs.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks import _kernel
from benchmarks._same_cells import OWN
from benchmarks._timing import Times, command, machine
from crane_core.errors import NotebookError
from crane_core.pipeline.places import CHECKOUT
from crane_core.runtime.plan import read_plan

LIMIT_MS = 50
LIMIT_MB = 5
N_ANSWERS = 5
MINIBENCH = CHECKOUT / "data" / "minibench"
HELD = "open('/proc/self/statm').read().split()[1]"
TOP = "{name.partition('.')[0] for name in _sys.modules}"
BEFORE = f"import sys as _sys\n_held, _had = int({HELD}), {TOP}\n%load_ext {{extension}}"
AFTER = f"""
import json as _json
_new = {TOP} - _had - set(_sys.stdlib_module_names)
print(_json.dumps([(int({HELD}) - _held) * 4096 / 1e6, sorted(_new)]))
"""
ASKED = """
import time as _time
_began = _time.perf_counter()
get_ipython().run_cell_magic({magic!r}, {options!r}, {target!r})
print('\\x00' + str(_time.perf_counter() - _began))
"""


class Asked(NamedTuple):
    """An extension of IPython, its cell magic and the options that keep models out; the kernel's interpreter."""

    extension: str
    magic: str
    options: str
    python: str


OURS = Asked("crane_core", "crane", "", sys.executable)
PEER = Asked("crane_llm", "crane_llm", "--no-llm", "")


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
    for folder in sorted((MINIBENCH / "benchmark").iterdir())[:n_pairs]:
        for path in sorted(folder.glob("*.ipynb")):
            plan = read_plan(path, None)
            ran = [cell.source for cell in plan.executed]
            yield Questions(folder, ran, [plan.target.source])


def of_own(folder: Path) -> Iterator[Questions]:
    for setup, targets in OWN.items():
        yield Questions(folder, [setup], targets)


def one(
    questions: Questions, pause_s: float, asked: Asked = OURS
) -> Seen | None:
    """None if a cell before the target raises here."""
    environment = _kernel.WITH_US if asked is OURS else {}
    with _kernel.fresh(asked.python, questions.folder, **environment) as (
        _,
        client,
    ):

        def run(code: str) -> tuple[str, str]:
            told: list[str] = []

            def keep(message: dict[str, Any]) -> None:
                told.append(message["content"].get("text") or "")

            reply = client.execute_interactive(
                code, timeout=120, output_hook=keep
            )
            return reply["content"]["status"], "".join(told)

        if any(run(source)[0] != "ok" for source in questions.ran):
            return None
        run(BEFORE.replace("{extension}", asked.extension))
        time.sleep(pause_s)
        seconds = [
            float(run(_question(target, asked))[1].rpartition("\x00")[2])
            for target in questions.targets
            for _ in range(N_ANSWERS)
        ]
        gained_mb, libraries = json.loads(run(AFTER)[1])
        return Seen(seconds, gained_mb, libraries)


def _question(target: str, asked: Asked) -> str:
    return ASKED.format(target=target, magic=asked.magic, options=asked.options)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--pause", type=float, default=2.0)
    chosen = parser.parse_args()
    both: list[tuple[Seen, Seen]] = []
    kernels: list[Seen] = []
    n_cells = n_left_out = 0
    with TemporaryDirectory() as scratch:
        for questions in [
            *of_minibench(chosen.pairs),
            *of_own(Path(scratch)),
        ]:
            try:
                seen = one(questions, chosen.pause)
            except NotebookError:
                seen = None
            if seen is None:
                n_left_out += 1
                continue
            kernels.append(seen)
            n_cells += len(questions.targets)
            if chosen.peer:
                peer = PEER._replace(python=chosen.peer)
                theirs = one(questions, chosen.pause, peer)
                both += [(seen, theirs)] if theirs is not None else []
    first = [seen.seconds[0] for seen in kernels]
    later = [second for seen in kernels for second in seen.seconds[1:]]
    libraries = {name for seen in kernels for name in seen.libraries}
    print(
        f"{n_cells} cells in {len(kernels)} kernels, {n_left_out} left out: a cell before the target raises here"
    )
    for name, times in (
        ("first answer", Times(first)),
        ("later answers", Times(later)),
    ):
        print(
            f"{name}: {times.in_ms()}; of the limit {LIMIT_MS} ms: {times.median * 1e3 / LIMIT_MS:.2f}"
        )
    most = max((seen.gained_mb for seen in kernels), default=0.0)
    print(
        f"memory gained: up to {most:.1f} MB; of the limit {LIMIT_MB} MB: {most / LIMIT_MB:.2f}"
    )
    print(
        f"libraries that the kernel had not loaded: {', '.join(sorted(libraries - {'crane_core'})) or 'none'}"
    )
    _compare(both)
    print(machine())


def _compare(both: list[tuple[Seen, Seen]]) -> None:
    """Medians of ours and of the peer's in the same kernels."""
    if not both:
        return
    for name, values in (
        (
            "first answer (s)",
            [
                [seen.seconds[0] for seen in side]
                for side in zip(*both, strict=True)
            ],
        ),
        (
            "later answers (s)",
            [
                [x for seen in side for x in seen.seconds[1:]]
                for side in zip(*both, strict=True)
            ],
        ),
        (
            "memory gained (MB)",
            [
                [seen.gained_mb for seen in side]
                for side in zip(*both, strict=True)
            ],
        ),
    ):
        ours, theirs = map(statistics.median, values)
        print(
            f"peer, {name}: ours {ours:.3f}, theirs {theirs:.3f}, ratio {ours / theirs:.2f}, {len(both)} kernels"
        )


if __name__ == "__main__":
    main()
