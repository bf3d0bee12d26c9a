"""A kernel that holds gigabytes: what the guard's copy, an undo and a rehearsal cost in time and memory.

python -m benchmarks.guard_memory [--gb N] [--written MB]

NumPy arrays of 1 GB each, every page of them written. A row has the seconds of a step on the wall and of processors
(the kernel and what it started), and the memory of kernel, copies and helpers together (proportional set size): before
it, and the most while it ran. The cell that crashes first overwrites `--written` MB, which the undo has to bring back.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress

import psutil

from benchmarks._timing import machine, options
from benchmarks.doors import Door, Seconds, kernel_of, processor_s

ARRAY_GB = 1
LOOK_S = 0.2
"""Between two looks at the memory, each of which reads the page tables of every process."""
STEPS = (
    ("load", "%load_ext crane_core\n%crane guard on"),
    ("guard, first cell", "small = [1]"),
    ("guard, cell that runs", "small.append(2)"),
    ("guard, cell that crashes", "big[0][:{n}] = 0; int('x')  # crane: run"),
    ("undo", "%crane undo"),
    ("is it back", "print(all((each == 1).all() for each in big), small)"),
    ("rehearse", "%%crane rehearse\nbig[1][:{n}] = 2; int('x')"),
    ("is it untouched", "print((big[1] == 1).all())"),
)
SHOWN = 400


def memory_gb(pid: int) -> float:
    """Proportional set size of a process and all that it started."""
    root = psutil.Process(pid)
    total = 0
    for process in (root, *root.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            total += process.memory_full_info().pss
    return total / 2**30


def step(door: Door, name: str, code: str) -> str:
    """One cell, with its cost and the end of its answer."""
    before, most = memory_gb(door.pid), [0.0]
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(LOOK_S):
            most.append(memory_gb(door.pid))

    watcher = threading.Thread(target=watch)
    began, used = time.perf_counter(), processor_s(door.pid)
    watcher.start()
    said = door.say(code)
    seconds = Seconds(time.perf_counter() - began, processor_s(door.pid) - used)
    is_over.set()
    watcher.join()
    most.append(memory_gb(door.pid))
    return (
        f"{name}: {seconds}, memory {before:.2f} GiB, at most {max(most):.2f}"
        f" GiB\n    {said[-SHOWN:]!r}"
    )


def main() -> None:
    chosen = options(__doc__, gb=8, written=512)
    n_arrays = chosen.gb // ARRAY_GB
    size = ARRAY_GB * 2**30 // 8
    with kernel_of(sys.executable) as (_, door):
        door.say(
            "import numpy as np\n"
            f"big = [np.ones({size}) for _ in range({n_arrays})]"
        )
        for name, code in STEPS:
            n_written = chosen.written * 2**20 // 8
            print(step(door, name, code.replace("{n}", str(n_written))))
    print(machine())


if __name__ == "__main__":
    main()
