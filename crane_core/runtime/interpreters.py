"""Interpreters whose libraries may answer: ours, those of installed kernelspecs, and those that a user named.

Knows where to look and how to read versions without importing a library. Asks nothing: see library_worker.py.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager

from crane_core import helper_process
from crane_core.errors import KernelStartError
from crane_core.runtime.kernel_side.crane_surrogates import versions as own
from crane_core.runtime.program import PYTHON, program

VARIABLE = "CRANE_INTERPRETERS"
"""Environment variable with paths of further interpreters, between os.pathsep."""
ASSUMED = "CRANE_ASSUMED_PYTHON"
"""Environment variable with the interpreter whose versions a kernel is taken to have where its state tells none."""
_WAIT_S = 20.0
_READ = Path(own.__file__)
# Insertion order is kept, so that answers come from the same interpreter each time.
_named: dict[str, None] = {}


def name(python: str) -> None:
    """From now on, ask this interpreter too: kernels run with it."""
    _named[python] = None


def assumed() -> str:
    """The interpreter of CRANE_ASSUMED_PYTHON; "" without one. Raises KernelStartError if it does not exist."""
    path = os.environ.get(ASSUMED, "").strip()
    return program(python=path).argv[0] if path else ""


def interpreters() -> tuple[str, ...]:
    """Absolute paths, ours first. Raises KernelStartError if one that is named does not exist."""
    listed = [
        program(python=path).argv[0]
        for path in os.environ.get(VARIABLE, "").split(os.pathsep)
        if path.strip()
    ]
    listed += filter(None, [assumed()])
    return tuple(
        dict.fromkeys([sys.executable, *_named, *listed, *_of_kernelspecs()])
    )


# Looked up once: reading all kernelspecs takes long on a network disk.
@cache
def _of_kernelspecs() -> tuple[str, ...]:
    """Interpreters of the kernelspecs that start Python themselves; what starts it in a container cannot be used."""
    found = []
    for each in sorted(KernelSpecManager().find_kernel_specs()):
        # A kernelspec that is broken must not hinder the others.
        with suppress(KernelStartError, OSError, ValueError):
            first = program(kernel=each).argv[0]
            if (
                # `docker run ...` or `conda run ...` cannot be asked as Python is.
                PYTHON.fullmatch(Path(first).name)
                and Path(first).is_absolute()
                and Path(first).exists()
            ):
                found.append(first)
    return tuple(found)


@cache
def versions(python: str, distributions: tuple[str, ...]) -> Mapping[str, str]:
    """Version of Python ("python") and of the distributions that are installed; empty where they cannot be read."""
    # Our own versions are read without starting a process.
    if python == sys.executable:
        return own.versions(list(distributions))
    try:
        # An interpreter that the user installed as a kernel, or named.
        asked = helper_process.python(
            str(_READ), *distributions, interpreter=python
        )
        read = json.loads(helper_process.answer(asked, seconds=_WAIT_S))
    # An interpreter that does not answer cannot be asked: the rules do without it.
    except (OSError, ValueError):
        return {}
    return (
        {str(key): str(version) for key, version in read.items()}
        if isinstance(read, dict)
        else {}
    )


__all__ = ["ASSUMED", "VARIABLE", "assumed", "interpreters", "name", "versions"]
