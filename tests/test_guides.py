"""The README and docs/: every command in a block of `sh` is run, in its order, in a shell.

What asks another machine or never ends stands in a block of `console`, which is read only.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crane_core.llm.fake_server import FakePlan, fake_server

ROOT = Path(__file__).resolve().parents[1]
SHOWN_ADDRESS = "http://127.0.0.1:11434/v1"
TOLD = {
    "README": ["will certainly crash", r"pilot"],
    "docs/admin/backup": ["elsewhere"],
    "docs/admin/isolation": ["nothing certain"],
    "docs/admin/server": ["https://crane.lab.example/"],
    "docs/engineer/attach": [],
    "docs/engineer/check": ["will certainly crash", '"predicted": "crash"'],
    "docs/engineer/ci": ["test 3 = 3"],
    "docs/engineer/fix": ["fix:", "fixed at 1: "],
    "docs/engineer/rehearse": [
        "rehearsed in a copy of the kernel: crashed: AttributeError"
    ],
    "docs/researcher/own-model": [
        r"runtime\s+(crash|safe|tie)\s+\d+",
        "n_replies",
    ],
    "docs/researcher/own-notebooks": [
        "will certainly crash",
        '"predicted": "nothing certain"',
        r"trip_reproduced\s+crash\s+True",
    ],
    "docs/lead/campaign": [
        r"ana: 0 of \d+",
        "eva joined; ben left",
        "labels.schema.json",
    ],
    "docs/researcher/plan": [r"before its first answer", "not answered yet"],
    "docs/researcher/statistics/power": [r"111 +222 +222 +57%"],
    "docs/researcher/study": ["every recomputable cell matches", "146 claims"],
    "docs/start/first-minutes": ["every recomputable cell matches"],
}
"""Each guide, and what its commands print, as patterns."""
QUICK = "docs/researcher/statistics/power"
"""The one that `make test` follows."""


def commands(guide: Path) -> str:
    return "".join(
        re.findall(
            r"^```sh\n(.*?)^```",
            guide.read_text("utf-8"),
            re.DOTALL | re.MULTILINE,
        )
    )


def followed(guide: Path, root: Path, folder: Path, address: str) -> str:
    """What the commands printed; the first that fails fails the test."""
    (folder / "bin").mkdir()
    crane = folder / "bin" / "crane"
    crane.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m crane_core "$@"\n',
        "utf-8",
    )
    crane.chmod(0o755)
    path = f"{crane.parent}{os.pathsep}{os.environ['PATH']}"
    places = {
        "PATH": path,
        "PYTHONPATH": str(root),
        "CRANE_DATA": str(folder / "data"),
    }
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


def prepared(folder: Path, root: Path) -> None:
    """The notebooks that stand for the reader's own: `trip.ipynb` crashes, and `trip_ok.ipynb` is its fix."""
    pair = root / "data" / "minibench" / "benchmark" / "numpy_3"
    shutil.copy(pair / "numpy_3_reproduced.ipynb", folder / "trip.ipynb")
    shutil.copy(pair / "numpy_3_fixed.ipynb", folder / "trip_ok.ipynb")


def guides() -> list[Path]:
    """Every document with commands to run, relative to the checkout."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path.relative_to(ROOT) for path in found if commands(path)]


def test_no_guide_is_forgotten() -> None:
    """The list below has every guide, and no block of commands has a mark of another form."""
    assert [
        str(path)
        for path in guides()
        if path.with_suffix("").as_posix() not in TOLD
    ] == []
    assert [name for name in TOLD if Path(f"{name}.md") not in guides()] == []
    other = re.compile(r"^```(?:bash|shell|zsh)\b", re.MULTILINE)
    assert [
        str(path)
        for path in (ROOT / "docs").rglob("*.md")
        if other.search(path.read_text("utf-8"))
    ] == []


@pytest.mark.parametrize(
    "name",
    [
        name if name == QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in TOLD
    ],
)
def test_every_command_of_a_guide_works(name: str, tmp_path: Path) -> None:
    prepared(tmp_path, ROOT)
    with fake_server(FakePlan()) as address:
        printed = followed(ROOT / f"{name}.md", ROOT, tmp_path, address)
    assert [
        words for words in TOLD[name] if not re.search(words, printed)
    ] == []
