"""A kernel that holds gigabytes: what the guard's copy, an undo and a rehearsal cost in time and memory.

python -m benchmarks.guard_memory [--gb N]

NumPy arrays of 1 GB each, every page of them written. A row has the seconds of a step on the wall and of processors
(the kernel and what it started), and the memory of kernel, copies and helpers together (proportional set size): before
it, and the most while it ran. The cell that crashes first overwrites 512 MB, which the undo has to bring back.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil

from benchmarks import _kernel
from benchmarks._timing import machine, options

N_FLOATS = 2**30 // 8
"""Of one array of 1 GB."""
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


def processes(pid: int) -> Iterator[psutil.Process]:
    """A process and all that it started."""
    root = psutil.Process(pid)
    yield from (root, *root.children(recursive=True))


def memory_gb(pid: int) -> float:
    """Proportional set size of a process and all that it started."""
    total = 0
    for process in processes(pid):
        with suppress(psutil.NoSuchProcess):
            total += process.memory_full_info().pss
    return total / 2**30


def processor_s(pid: int) -> float:
    """Processor seconds of a process and all that it started, so far; those that ended are counted by their parents."""
    total = 0.0
    for process in processes(pid):
        with suppress(psutil.NoSuchProcess):
            total += sum(process.cpu_times()[:4])
    return total


def step(kernel: _kernel.Kernel, name: str, code: str) -> str:
    """One cell, with its cost and the end of its answer."""
    before, most = memory_gb(kernel.pid), [0.0]
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(LOOK_S):
            most.append(memory_gb(kernel.pid))

    watcher = threading.Thread(target=watch)
    began, used = time.perf_counter(), processor_s(kernel.pid)
    watcher.start()
    said = kernel.run(code).text
    wall_s = time.perf_counter() - began
    used_s = processor_s(kernel.pid) - used
    is_over.set()
    watcher.join()
    most.append(memory_gb(kernel.pid))
    return (
        f"{name}: {wall_s:.2f} s ({used_s:.2f} s), memory "
        f"{before:.2f} GiB, "
        f"at most {max(most):.2f} GiB\n"
        f"    {said[-SHOWN:]!r}"
    )


def main() -> None:
    n_arrays = options(__doc__, gb=8).gb
    with _kernel.fresh(sys.executable, **_kernel.WITH_US) as kernel:
        arrays = f"[np.ones({N_FLOATS}) for _ in range({n_arrays})]"
        kernel.run(f"import numpy as np\nbig = {arrays}")
        for name, code in STEPS:
            print(step(kernel, name, code.replace("{n}", str(N_FLOATS // 2))))
    print(machine())


if __name__ == "__main__":
    main()
