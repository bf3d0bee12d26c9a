"""Which Python an interpreter is, and which packages it has: what else than the code decides how a cell ends."""

from __future__ import annotations

import hashlib
import json
import subprocess
from typing import NamedTuple

from crane_core.errors import KernelStartError
from crane_core.runtime.program import Program

_ASK_S = 60
_DIGITS = 12
_TOLD = (
    "import json, platform; from importlib.metadata import distributions; "
    "print(json.dumps([platform.python_version(), platform.machine(), "
    "sorted({f\"{d.metadata['Name']} {d.version}\" for d in distributions()})]))"
)


class Environment(NamedTuple):
    """The version of a Python, and a digest of it with all its packages."""

    python: str
    digest: str


def environment_of(program: Program) -> Environment:
    """Ask the interpreter of a kernel. Raises KernelStartError if it does not answer."""
    try:
        asked = [program.argv[0], "-c", _TOLD]
        said = subprocess.run(asked, capture_output=True, check=True, timeout=_ASK_S, cwd="/").stdout
        told = json.loads(said)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise KernelStartError(
            f"{program.argv[0]} does not say which packages it has: {error}.", remedy="Check the interpreter."
        ) from error
    return Environment(told[0], hashlib.sha256(json.dumps(told).encode()).hexdigest()[:_DIGITS])
