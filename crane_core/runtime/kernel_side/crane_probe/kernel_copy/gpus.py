"""Whether the process talks to a GPU, which a copy of it cannot."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..anatomy import module_dict

# NVIDIA, AMD, any card's render node, and the one of the Windows Subsystem for Linux.
_DEVICES = ("/dev/nvidia", "/dev/kfd", "/dev/dri/render", "/dev/dxg")
_DRIVERS = ("libcuda.so", "libamdhip64.so", "libhsa-runtime64.so")


def is_initialised() -> bool:
    """True when torch says so, or when a GPU's device is open."""
    return torch_uses_one() or any(target.startswith(_DEVICES) for target in _open())


def torch_uses_one() -> bool:
    """Whether torch has initialised CUDA in this process."""
    # Read from its dict: the attribute of a lazy module would load it.
    return bool(module_dict(sys.modules.get("torch.cuda")).get("_initialized"))


def has_driver() -> bool:
    """True once a GPU was requested: the driver's library is loaded."""
    # A name in the memory map needs no library of the GPU to be asked.
    maps = Path("/proc/self/maps").read_text("utf-8", "surrogateescape")
    return any(name in maps for name in _DRIVERS)


def _open() -> list[str]:
    names = os.listdir("/proc/self/fd")  # noqa: PTH208 - names alone are wanted
    return [target for name in names if (target := _target(f"/proc/self/fd/{name}"))]


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""  # The handle with which the folder of handles was read.
