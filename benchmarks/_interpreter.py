"""Another Python than this one: whether there is one at a path, and which packages it lacks."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from collections.abc import Iterable

_FIND = "import importlib.util, sys; print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name) is None))"


def interpreter(text: str) -> str:
    """The absolute path of a program, for argparse. Not resolved: a venv's python is a link to the system's."""
    found = shutil.which(os.path.expanduser(text))  # noqa: PTH111
    if found is None:
        raise argparse.ArgumentTypeError(f"there is no program {text}")
    return os.path.abspath(found)  # noqa: PTH100


def lacking(python: str, packages: Iterable[str]) -> set[str]:
    """Those of the packages that the interpreter does not have."""
    done = subprocess.run(
        [python, "-c", _FIND, *sorted(packages)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return set(done.stdout.split())
