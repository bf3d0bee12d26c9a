"""Inspect AI as a peer: installed on demand in its own environment, and run from outside.

Knows how to get it and how _inspect_run.py is started in it. The environment of the checkout is not touched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks._peer import PeerMissingError

INSPECT = "inspect-ai==0.3.285"
OPENAI = "openai==3.52.0"
INSTALL_S = 600
RUN_S = 600


def inspect_python() -> Path:
    """The interpreter of an environment that holds Inspect AI, made first if there is none."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "crane-workbench" / INSPECT.replace("==", "-")
    python = folder / "bin" / "python"
    done = folder / "installed"
    if not done.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(folder)])
        _run(
            [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                INSPECT,
                OPENAI,
            ]
        )
        done.touch()
    return python


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_S, check=False
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        raise PeerMissingError(
            f"{INSPECT} cannot be installed: {type(error).__name__}"
        ) from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or [
            f"{command[1:3]} ended with {done.returncode}"
        ]
        raise PeerMissingError(f"{INSPECT} cannot be installed: {said[-1]}")


def run_inspect(python: Path, work: dict[str, Any]) -> dict[str, Any]:
    """What _inspect_run.py measured for this work."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(__file__).with_name("_inspect_run.py")
        done = subprocess.run(
            [str(python), str(script), json.dumps(work)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=False,
        )
    if done.returncode:
        raise PeerMissingError(f"{INSPECT} did not run: {done.stderr.strip()[-300:]}")
    measured: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return measured
