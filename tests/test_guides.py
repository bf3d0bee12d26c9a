"""The guides in docs/: every command that they show is run, in its order, in a shell."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from crane_core.llm.fake_server import FakePlan, fake_server

SHOWN_ADDRESS = "http://127.0.0.1:11434/v1"


def commands(guide: Path) -> str:
    return "".join(re.findall(r"^```sh\n(.*?)^```", guide.read_text("utf-8"), re.DOTALL | re.MULTILINE))


def followed(guide: Path, root: Path, folder: Path, address: str) -> str:
    """What the commands printed; the first that fails fails the test."""
    (folder / "bin").mkdir()
    crane = folder / "bin" / "crane"
    crane.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m crane_core "$@"\n', "utf-8")
    crane.chmod(0o755)
    path = f"{crane.parent}{os.pathsep}{os.environ['PATH']}"
    places = {"PATH": path, "PYTHONPATH": str(root), "CRANE_DATA": str(folder / "data"), "CRANE_CHECKOUT": str(root)}
    script = commands(guide).replace(SHOWN_ADDRESS, address)
    done = subprocess.run(
        ["bash", "-euxc", script],
        cwd=folder,
        env=os.environ | places,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4_000:]
    return done.stdout


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("own-model", [r"runtime\s+(crash|safe|tie)\s+\d+", "n_replies"]),
        (
            "own-notebooks",
            ["will certainly crash", '"predicted": "nothing certain"', r"trip_reproduced\s+crash\s+True"],
        ),
    ],
)
def test_every_command_of_a_guide_works(name: str, told: list[str], root: Path, tmp_path: Path) -> None:
    with fake_server(FakePlan()) as address:
        printed = followed(root / "docs" / "researcher" / f"{name}.md", root, tmp_path, address)
    assert [words for words in told if not re.search(words, printed)] == []
