"""Which program a kernel is: an installed kernelspec, or ipykernel in any interpreter. Starts nothing."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

from crane_core.errors import KernelStartError

CONNECTION_FILE = "{connection_file}"
_IPYKERNEL = ("-m", "ipykernel_launcher", "-f", CONNECTION_FILE)
# Without it, a capture would write the notebook's cells into the user's history.
_NO_HISTORY = "--HistoryManager.hist_file=:memory:"
PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?(?:\.exe)?")
"""File names of interpreters."""
# Kernelspecs name `python` without a path: Jupyter means its own interpreter by it.
_GENERIC = {
    "python",
    f"python{sys.version_info.major}",
    f"python{sys.version_info.major}.{sys.version_info.minor}",
}


class Program(NamedTuple):
    """A kernel's command line, with a hole for the connection file.

    `env` is what it adds to the environment; ${PATH} is replaced by a variable of the environment that it gets.
    """

    name: str
    argv: tuple[str, ...]
    env: dict[str, str]

    def command(self, connection_file: Path) -> list[str]:
        """The command line with the path of the connection file put in."""
        return [
            part.replace(CONNECTION_FILE, str(connection_file))
            for part in self.argv
        ]


def program(
    *, kernel: str | None = None, python: str | Path | None = None
) -> Program:
    """The kernelspec `kernel`, or ipykernel in the interpreter `python`; this interpreter where neither is named.

    Raises KernelStartError for a name or path that does not exist.
    """
    if kernel is not None:
        return _of_kernelspec(kernel)
    if python is None:
        return _of_interpreter(sys.executable)
    found = shutil.which(Path(python).expanduser())
    if found is None:
        raise KernelStartError(
            f"The program {python} does not exist.",
            remedy="Use the path of a Python interpreter, or a command on PATH.",
        )
    # Absolute, as the kernel starts in another folder; not resolved, as a venv's python is a link to the system's.
    return _of_interpreter(os.path.abspath(found))  # noqa: PTH100


def _of_interpreter(path: str) -> Program:
    return Program(path, (path, *_IPYKERNEL, _NO_HISTORY), {})


def _of_kernelspec(name: str) -> Program:
    specs = KernelSpecManager()
    try:
        spec = specs.get_kernel_spec(name)
    except NoSuchKernel as error:
        installed = ", ".join(sorted(specs.find_kernel_specs())) or "none"
        raise KernelStartError(
            f"The kernelspec {name!r} is not installed. Installed: {installed}.",
            remedy="Choose one of these, or an interpreter with --python.",
        ) from error
    first = sys.executable if spec.argv[0] in _GENERIC else spec.argv[0]
    argv = [
        # `{prefix}` is what conda's kernelspecs use.
        part.replace("{resource_dir}", spec.resource_dir).replace(
            "{prefix}", sys.prefix
        )
        for part in spec.argv[1:]
    ]
    # Other kernels (R, Julia) do not know the option.
    if any("ipykernel" in part for part in argv):
        argv.append(_NO_HISTORY)
    return Program(name, (first, *argv), dict(spec.env))
