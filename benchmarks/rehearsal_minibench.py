"""Rehearsing every target of minibench: crashes told, fixed notebooks that run through, and kernels left unchanged.

python -m benchmarks.rehearsal_minibench [SECONDS]

Each notebook runs up to its target in its own kernel; the target runs in a copy of it, for 10 s at most (SECONDS). A
crash counts where the copy raises the exception that the notebook's own output names. A kernel counts as unchanged
where random states, variables, counters, modules, threads and open handles are the same before and after.
It exits with 1 where an answer is wrong or a kernel changed; no answer is not a wrong one.
Pairs whose libraries are not installed (`make ml`) are named.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from benchmarks._decisive import case_ids
from benchmarks._minibench import notebook_of, notebooks
from benchmarks._timing import machine
from crane_core.errors import CraneError
from crane_core.notebooks import read_code_cells, target_index
from crane_core.runtime.capture import capture_many
from crane_core.runtime.rehearsal import Rehearsal, RehearsalEnd

SECONDS = 10.0
N_WORKERS = 2
_LOADED = (
    "(lambda m: None if m is None else "
    "{call})(__import__('sys').modules.get('{name}'))"
)
UNCHANGED = (
    "__import__('random').getstate()",
    _LOADED.format(name="numpy", call="repr(m.random.get_state())"),
    _LOADED.format(name="torch", call="m.get_rng_state().tolist()"),
    "{name: repr(value)[:2000] for name, value in "
    "list(globals().items()) if "
    "not name.startswith('_')}",
    "(get_ipython().execution_count, list(In), sorted(Out), sorted(globals()))",
    "sorted(__import__('sys').modules)",
    "sorted(__import__('os').listdir('/proc/self/fd'))",
    "(__import__('os').getcwd(), sorted(__import__('os').listdir()), "
    "dict(__import__('os').environ))",
    "sorted(thread.name for thread in __import__('threading').enumerate())",
)


def told_exception(notebook: Path) -> str | None:
    """The class of the first exception among a notebook's outputs."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    errors = [output for output in outputs if output["output_type"] == "error"]
    return str(errors[0]["ename"]) if errors else None


def is_right(notebook: Path, told: Rehearsal) -> bool:
    """A crash with the exception of the notebook's output; of a fixed notebook, that it ran through."""
    if notebook.stem.endswith("_fixed"):
        return told.outcome is RehearsalEnd.RAN_THROUGH
    return (
        told.outcome is RehearsalEnd.CRASH
        and told.exception == told_exception(notebook)
    )


def target_of(path: Path) -> int:
    """The target of the pair, which the crashing notebook's output tells."""
    crashing = notebook_of(path.parent.name)
    target = target_index(read_code_cells(crashing.read_bytes()))
    assert target is not None
    return target


def main(seconds: float) -> int:
    print(machine())
    paths = notebooks(case_ids(), sys.executable)
    n: Counter[str] = Counter()
    done = capture_many(
        paths,
        N_WORKERS,
        targets=[target_of(path) for path in paths],
        rehearse_s=seconds,
        probes=UNCHANGED,
    )
    for path, outcome in zip(paths, done, strict=True):
        if isinstance(outcome, CraneError):
            raise outcome
        told = outcome.result.rehearsal
        assert told is not None
        changed = [
            probe["expression"]
            for probe in outcome.result.probes
            if probe["before"] != probe["after"]
        ]
        half = "fixed" if path.stem.endswith("_fixed") else "crashing"
        n["kernels"] += 1
        n[half] += 1
        n[f"{half} right"] += is_right(path, told)
        n["open"] += told.outcome in (
            RehearsalEnd.UNKNOWN,
            RehearsalEnd.STILL_RUNNING,
        )
        n["unchanged"] += not changed
        if changed or not is_right(path, told):
            print(
                f"{path.stem}: {told.title} {dict(told.facts)} changed: "
                f"{changed}",
                flush=True,
            )
    print(f"crashes told: {n['crashing right']} of {n['crashing']}")
    print(
        f"fixed notebooks that ran through: {n['fixed right']} of {n['fixed']}"
    )
    print(
        f"without an answer (unknown, still running): {n['open']} of "
        f"{n['kernels']}"
    )
    print(f"kernels unchanged: {n['unchanged']} of {n['kernels']}")
    n_answered = n["crashing right"] + n["fixed right"] + n["open"]
    return int(n_answered < n["kernels"] or n["unchanged"] < n["kernels"])


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
