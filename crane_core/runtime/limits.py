"""What a notebook may use while it is brought to its target: time, memory, output, processes."""

from __future__ import annotations

import os
from typing import NamedTuple

from crane_core.runtime.isolation import Isolation

MIB = 2**20
_SHARE_OF_MEMORY = 0.8


def n_cores() -> int:
    """Cores that this process may use."""
    # Affinity, not the number of cores: a container may give one of many.
    return len(os.sched_getaffinity(0))


def most_memory() -> int:
    """Bytes of memory that a kernel may use by default: four fifths of the machine's."""
    # One fifth stays for us and the system, else it is the system that kills, without a word.
    return int(
        os.sysconf("SC_PAGE_SIZE")
        * os.sysconf("SC_PHYS_PAGES")
        * _SHARE_OF_MEMORY
    )


class KernelLimits(NamedTuple):
    """Beyond any of these a kernel is killed with all its processes, and the capture says why.

    `cell_s` and `look_s` are wall time of one cell and of the look; `start_s` is that of the kernel's start, in which
    an interpreter may have to read its libraries from a cold disk. `output_bytes` counts everything printed or shown
    since the start. `disk_bytes` is what it may add to the folders that it can write to; it is watched, as `isolation`
    and `network` hold, only where the kernel is kept apart. `installs`: lines that install packages run too.
    """

    cell_s: float = 600.0
    # A look keeps to far smaller budgets: this limit is for what they cannot stop.
    look_s: float = 30.0
    start_s: float = 120.0
    memory_bytes: int = most_memory()
    output_bytes: int = 100 * MIB
    processes: int = 500
    disk_bytes: int = 2048 * MIB
    isolation: Isolation = Isolation.OPEN
    network: bool = False
    installs: bool = False
