"""What is sent into a kernel runs on Python 3.8 and every later one: read by vermin, and run by the Pythons here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crane_core.runtime import probe_source

KERNEL_SIDE = Path(probe_source.__file__).with_name("kernel_side")
OLDEST = "3.8"
OTHERS = [
    f"3.{minor}" for minor in range(8, 16) if minor != sys.version_info.minor
]
BESIDE_US = Path(sys.executable).parent
NOT_ON_THE_OLDEST = {"docs.py"}
"""Files that ask for something newer where it is there: the text of annotations in Python 3.14."""

LOOKING = """
import json, sys
sent = json.load(sys.stdin)
exec(sent["code"])
magic = json.loads(eval(sent["greet"]))["magic"]
print(eval(sent["look"]))
"""
CODE = """
rows = [{"a": 1, "b": [1.5, None]}, {"a": 2}]
def rise(x, by=1): return x + by
class Net:
    sizes = (3, 4)
    def __init__(self): self.depth = 2
net = Net()
"""
TARGET = "rise(rows[0]['c'], by=net.width)\nmissing(list, Net.sizes)"


def test_nothing_newer_than_the_oldest_python_is_used() -> None:
    files = [
        str(path)
        for path in sorted(KERNEL_SIDE.rglob("*.py"))
        if path.name not in NOT_ON_THE_OLDEST
    ]
    command = [
        BESIDE_US / "vermin",
        f"-t={OLDEST}-",
        "--no-tips",
        "--violations",
        *files,
    ]
    read = subprocess.run(command, capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stdout


def seen_by(python: str, **more: str) -> dict[str, object]:
    """What the probe tells in this interpreter, without a kernel."""
    cells = [{"code": CODE, "notebook_index": 0, "executed": True, "order": 0}]
    sent = {
        "code": CODE,
        "greet": probe_source.greet(),
        "look": probe_source.look(
            {"target": TARGET, "cells": cells}, "the number of another Python"
        ),
    }
    command = [python, "-c", LOOKING]
    ran = subprocess.run(
        command,
        input=json.dumps(sent),
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    state: dict[str, object] = json.loads(ran.stdout)["state"]
    assert state.pop("captured")  # which Python, and the seconds
    return state


@pytest.mark.parametrize(
    "version",
    [
        OTHERS[0],
        *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS[1:]),
    ],
)
def test_every_python_tells_the_same(version: str) -> None:
    named = {"PYENV_VERSION": version}  # pyenv starts none that is not chosen
    python = shutil.which(f"python{version}")
    asked = [python or "", "--version"]
    if (
        not python
        or subprocess.run(
            asked, env=os.environ | named, capture_output=True, check=False
        ).returncode
    ):
        pytest.skip(f"no Python {version} is installed")
    assert seen_by(python, **named) == seen_by(sys.executable)
