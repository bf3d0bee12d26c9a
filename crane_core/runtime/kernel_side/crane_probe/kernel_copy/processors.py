"""Threads and GPUs that a copy of the kernel lacks: pools do without threads, others are named; is a GPU in use?

Knows OpenMP, torch and threadpoolctl. A pool that waits for its threads all the same never uses the processor.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from pathlib import Path

from ..anatomy import module_dict

_OPENMP = ("libgomp", "libomp", "libiomp5")
# Their threads serve the front end; a cell does not wait for them (tqdm's only watches bars).
_OURS = (
    "ipykernel",
    "IPython",
    "zmq",
    "tornado",
    "debugpy",
    "pydevd",
    "_pydevd_bundle",
    "jupyter_client",
    "tqdm",
)
_OUR_NAMES = ("asyncio_", "IPythonHistorySaving", "pydevd.", "Thread-crane")
# NVIDIA, AMD, any card's render node, and the one of the Windows Subsystem for Linux.
_DEVICES = ("/dev/nvidia", "/dev/kfd", "/dev/dri/render", "/dev/dxg")
_DRIVERS = ("libcuda.so", "libamdhip64.so", "libhsa-runtime64.so")


def one_each() -> None:
    """Every pool that is there works in the one thread that the copy has."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    _one_in_openmp()
    try:
        importlib.import_module("threadpoolctl").threadpool_limits(1)
    except ImportError:
        # threadpoolctl comes with scikit-learn; it knows pools that have no function of their own
        # here.
        return  # BLAS libraries renew their threads in a copy by themselves.


def _one_in_openmp() -> None:
    import ctypes

    lines = (
        Path("/proc/self/maps")
        .read_text("utf-8", "surrogateescape")
        .splitlines()
    )
    paths = {
        parts[5]
        for parts in (line.split(None, 5) for line in lines)
        if len(parts) > 5
    }
    for path in paths:
        if Path(path).name.startswith(_OPENMP):
            # A pool of OpenMP waits for its threads at the next parallel loop: a copy has none of
            # them.
            ctypes.CDLL(path).omp_set_num_threads(1)


def of_the_notebook() -> list[str]:
    """Names of running threads that neither Jupyter nor its debugger started: what they do, the copy does not."""
    own = threading.current_thread()
    return [
        thread.name
        for thread in threading.enumerate()
        # The copy's own thread is the one that called fork, whatever its name.
        if thread not in (own, threading.main_thread()) and not _is_ours(thread)
    ]


def _is_ours(thread: threading.Thread) -> bool:
    started = getattr(thread, "_target", None)
    modules = (type(thread).__module__, getattr(started, "__module__", None))
    tops = [
        module.partition(".")[0] for module in modules if type(module) is str
    ]
    # By names, too: asyncio's pool runs a function of concurrent.futures, as the notebook's may.
    return thread.name.startswith(_OUR_NAMES) or any(
        top in _OURS or top == "crane_core" for top in tops
    )


# GPUs


def uses_gpu() -> bool:
    """Whether the process talks to a GPU: torch says so, or a GPU's device is open."""
    return torch_uses_gpu() or any(
        target.startswith(_DEVICES) for target in _open_files()
    )


def torch_uses_gpu() -> bool:
    """Whether torch has initialised CUDA in this process."""
    # Read from its dict: the attribute of a lazy module would load it.
    return bool(module_dict(sys.modules.get("torch.cuda")).get("_initialized"))


def has_gpu_driver() -> bool:
    """True once a GPU was requested: the driver's library is loaded."""
    # A name in the memory map needs no library of the GPU to be asked.
    maps = Path("/proc/self/maps").read_text("utf-8", "surrogateescape")
    return any(name in maps for name in _DRIVERS)


def _open_files() -> list[str]:
    names = os.listdir("/proc/self/fd")  # noqa: PTH208 - names alone are wanted
    return [
        target for name in names if (target := _target(f"/proc/self/fd/{name}"))
    ]


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""  # The handle with which the folder of handles was read.
