"""Which Python an interpreter is, and which packages it has: what else than the code decides how a cell ends."""

from __future__ import annotations

import hashlib
import json
import os
from typing import NamedTuple

from crane_core import helper_process
from crane_core.errors import KernelStartError
from crane_core.runtime.program import Program

_ASK_S = 60
_DIGITS = 12
_TOLD = """
import json, platform, site, sys
from importlib.metadata import distributions
# An isolated Python leaves out what its kernel has of its user and of PYTHONPATH: their names are read.
folders = [*sys.path, *sys.argv[1:], *([site.getusersitepackages()] if sys.prefix == sys.base_prefix else [])]
packages = {f"{d.metadata['Name']} {d.version}" for d in distributions(path=folders)}
print(json.dumps([platform.python_version(), platform.machine(), sorted(packages)]))
"""


class Environment(NamedTuple):
    """The version of a Python, and a digest of it with all its packages."""

    python: str
    digest: str


def environment_of(program: Program) -> Environment:
    """Ask the interpreter of a kernel. Raises KernelStartError if it does not answer."""
    try:
        # Names that PYTHONPATH gives relative to a folder would mean another one there.
        named = filter(
            os.path.isabs, os.environ.get("PYTHONPATH", "").split(os.pathsep)
        )
        asked = helper_process.python(
            "-c", _TOLD, *named, interpreter=program.argv[0]
        )
        told = json.loads(helper_process.answer(asked, seconds=_ASK_S))
    except (OSError, ValueError) as error:
        raise KernelStartError(
            f"{program.argv[0]} does not say which packages it has: {error}.",
            remedy="Check the interpreter.",
        ) from error
    # Shortened: it only has to differ where the packages do.
    return Environment(
        told[0], hashlib.sha256(json.dumps(told).encode()).hexdigest()[:_DIGITS]
    )
